//! stub
/// Choices.
#[derive(Clone, Debug)]
pub struct Choices {
    pub(crate) merge_preempted: bool,
    pub(crate) preempts_by_requeue: bool,
    pub(crate) requested_size: bool,
    pub(crate) arrive_at_submit: bool,
}
