//! Answers that take a while: each is worked at in a thread of its own, once, and kept.

use drystone_live::web::PageResponse;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Answers that are kept.
const KEPT: usize = 32;
/// Answers that are worked at side by side.
const AT_WORK: usize = 4;
/// A request waits for its answer for so long before the browser is to ask again.
const PATIENCE: Duration = Duration::from_secs(3);

pub(super) enum AnswerState {
    Made(PageResponse),
    AtWork,
    /// Others are worked at.
    Full,
}

struct KeptAnswer {
    question: String,
    /// `None` while it is worked at.
    page: Option<PageResponse>,
    /// True if a browser has the page of work under way and will ask for this one.
    is_awaited: bool,
}

/// Questions in the order in which they came.
#[derive(Default)]
pub(super) struct AnswerDesk {
    answers: Mutex<VecDeque<KeptAnswer>>,
    done: Condvar,
}

impl AnswerDesk {
    /// Returns the answer, which `work` begins to make where it is not there. A panic of it becomes
    /// the page `fault`. Failures are not kept, as a file may be there again, but for the browser
    /// that waits for one: it asks whether the page is there, and then for the page.
    pub(super) fn find_answer(
        self: &Arc<Self>,
        question: &str,
        work: impl FnOnce() -> PageResponse + Send + 'static,
        fault: impl FnOnce() -> PageResponse + Send + 'static,
    ) -> AnswerState {
        let mut answers = self.lock_answers();
        if !answers.iter().any(|entry| entry.question == question) {
            if answers.iter().filter(|entry| entry.page.is_none()).count() >= AT_WORK {
                return AnswerState::Full;
            }
            while answers.len() >= KEPT
                && let Some(oldest) = answers.iter().position(|entry| entry.page.is_some())
            {
                answers.remove(oldest);
            }
            let (desk, key) = (Arc::clone(self), question.to_string());
            let worker =
                move || desk.keep_answer(&key, catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| fault()));
            if std::thread::Builder::new().name("answer".to_string()).spawn(worker).is_err() {
                return AnswerState::Full;
            }
            answers.push_back(KeptAnswer { question: question.to_string(), page: None, is_awaited: false });
        }
        let is_missing = |answers: &mut VecDeque<KeptAnswer>| {
            answers.iter().any(|entry| entry.question == question && entry.page.is_none())
        };
        let wait_result = self.done.wait_timeout_while(answers, PATIENCE, is_missing);
        let (mut answers, _) = wait_result.unwrap_or_else(PoisonError::into_inner);
        // Where another request took a failure away meanwhile, the browser asks again.
        let Some(at) = answers.iter().position(|entry| entry.question == question) else { return AnswerState::AtWork };
        let entry = &mut answers[at];
        let was_awaited = std::mem::replace(&mut entry.is_awaited, entry.page.is_none());
        let Some(page) = entry.page.clone() else { return AnswerState::AtWork };
        if page.status >= 400 && !was_awaited {
            answers.remove(at);
        }
        AnswerState::Made(page)
    }

    fn keep_answer(&self, question: &str, page: PageResponse) {
        for entry in self.lock_answers().iter_mut().filter(|entry| entry.question == question) {
            entry.page = Some(page.clone());
        }
        self.done.notify_all();
    }

    fn lock_answers(&self) -> MutexGuard<'_, VecDeque<KeptAnswer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    fn page(status: u16) -> PageResponse {
        PageResponse { status, html: "".into() }
    }

    /// Waits until the desk has an answer: whatever the machine does meanwhile.
    fn ask(desk: &Arc<AnswerDesk>, question: &str, status: u16) -> u16 {
        loop {
            match desk.find_answer(question, move || page(status), || page(500)) {
                AnswerState::Made(page) => return page.status,
                AnswerState::AtWork => {}
                AnswerState::Full => panic!("full"),
            }
        }
    }

    #[test]
    fn a_question_is_worked_at_once() {
        let desk = Arc::new(AnswerDesk::default());
        assert_eq!(ask(&desk, "a", 200), 200);
        assert_eq!(ask(&desk, "a", 400), 200, "the answer is kept");
        // A failure is shown, to a browser that waits for it twice; then the next request tries
        // again.
        assert_eq!(ask(&desk, "b", 400), 400);
        while ask(&desk, "b", 200) != 200 {}
        let fail = || -> PageResponse { panic!("as the test wants it") };
        while !matches!(desk.find_answer("c", fail, || page(500)), AnswerState::Made(PageResponse { status: 500, .. }))
        {
        }
        while ask(&desk, "c", 200) != 200 {}
        (0..2 * KEPT).for_each(|n| assert_eq!(ask(&desk, &n.to_string(), 200), 200));
        assert!(desk.lock_answers().len() <= KEPT);
        assert_eq!(ask(&desk, "a", 400), 400, "the oldest answers are given up");
    }

    #[test]
    fn a_browser_that_waits_for_a_failure_sees_it() {
        let desk = Arc::new(AnswerDesk::default());
        let (end, receiver) = channel::<()>();
        let work = move || {
            let _ = receiver.recv();
            page(400)
        };
        assert!(matches!(desk.find_answer("a", work, || page(500)), AnswerState::AtWork));
        drop(end);
        // It asks whether the page is there, and then for the page; after that the work begins
        // again.
        assert_eq!((ask(&desk, "a", 200), ask(&desk, "a", 200)), (400, 400));
        while ask(&desk, "a", 200) != 200 {}
    }

    #[test]
    fn work_does_not_keep_others_from_their_answers() {
        let desk = Arc::new(AnswerDesk::default());
        let mut ends = Vec::new();
        for n in 0..AT_WORK {
            assert_eq!(ask(&desk, &format!("before {n}"), 200), 200);
            let (end, receiver) = channel::<()>();
            let work = move || {
                let _ = receiver.recv();
                page(200)
            };
            assert!(matches!(desk.find_answer(&n.to_string(), work, || page(500)), AnswerState::AtWork));
            ends.push(end);
        }
        assert_eq!(ask(&desk, "before 0", 400), 200, "an answer that is made is returned");
        assert!(matches!(desk.find_answer("more", || page(200), || page(500)), AnswerState::Full));
        drop(ends);
        assert_eq!(ask(&desk, "0", 400), 200);
    }
}
