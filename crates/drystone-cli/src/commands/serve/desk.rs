//! Answers that take a while: each is worked at in a thread of its own, once, and kept.

use drystone_live::web::MadePage;
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

/// State of the answer to a question.
pub(super) enum AnswerState {
    Made(MadePage),
    AtWork,
    /// Others are worked at.
    Full,
}

/// Questions in the order in which they came, each with its answer where there is one.
#[derive(Default)]
pub(super) struct AnswerDesk {
    answers: Mutex<VecDeque<(String, Option<MadePage>)>>,
    done: Condvar,
}

impl AnswerDesk {
    /// Returns the answer, which `work` begins to make where it is not there. A panic of it becomes
    /// the page `fault`, which is not kept.
    pub(super) fn answer(
        self: &Arc<Self>,
        question: &str,
        work: impl FnOnce() -> MadePage + Send + 'static,
        fault: impl FnOnce() -> MadePage + Send + 'static,
    ) -> AnswerState {
        let mut answers = self.answers();
        if !answers.iter().any(|(asked, _)| asked == question) {
            if answers.iter().filter(|(_, made)| made.is_none()).count() >= AT_WORK {
                return AnswerState::Full;
            }
            while answers.len() >= KEPT
                && let Some(oldest) = answers.iter().position(|(_, made)| made.is_some())
            {
                answers.remove(oldest);
            }
            let (desk, key) = (Arc::clone(self), question.to_string());
            let worker = move || desk.put(&key, catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| fault()));
            if std::thread::Builder::new().name("answer".to_string()).spawn(worker).is_err() {
                return AnswerState::Full;
            }
            answers.push_back((question.to_string(), None));
        }
        let made = |answers: &VecDeque<(String, Option<MadePage>)>| {
            answers.iter().find(|(asked, _)| asked == question).and_then(|(_, made)| made.clone())
        };
        let waited = self.done.wait_timeout_while(answers, PATIENCE, |answers| made(answers).is_none());
        let (mut answers, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let Some(page) = made(&answers) else { return AnswerState::AtWork };
        if page.status >= 500 {
            answers.retain(|(asked, _)| asked != question);
        }
        AnswerState::Made(page)
    }

    fn put(&self, question: &str, page: MadePage) {
        for (asked, made) in self.answers().iter_mut() {
            if asked == question {
                *made = Some(page.clone());
            }
        }
        self.done.notify_all();
    }

    fn answers(&self) -> MutexGuard<'_, VecDeque<(String, Option<MadePage>)>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    fn page(status: u16) -> MadePage {
        MadePage { status, html: "".into() }
    }

    /// Waits until the desk has an answer: whatever the machine does meanwhile.
    fn ask(desk: &Arc<AnswerDesk>, question: &str, status: u16) -> u16 {
        loop {
            match desk.answer(question, move || page(status), || page(500)) {
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
        assert_eq!(ask(&desk, "b", 400), 400);
        // A fault is shown once; the next request tries again.
        let fail = || -> MadePage { panic!("as the test wants it") };
        while !matches!(desk.answer("c", fail, || page(500)), AnswerState::Made(MadePage { status: 500, .. })) {}
        assert_eq!(ask(&desk, "c", 200), 200);
        (0..2 * KEPT).for_each(|n| assert_eq!(ask(&desk, &n.to_string(), 200), 200));
        assert!(desk.answers().len() <= KEPT);
        assert_eq!(ask(&desk, "a", 400), 400, "the oldest answers are given up");
    }

    #[test]
    fn work_does_not_keep_others_from_their_answers() {
        let desk = Arc::new(AnswerDesk::default());
        let mut ends = Vec::new();
        for n in 0..AT_WORK {
            assert_eq!(ask(&desk, &format!("before {n}"), 200), 200);
            let (end, ended) = channel::<()>();
            let work = move || {
                let _ = ended.recv();
                page(200)
            };
            assert!(matches!(desk.answer(&n.to_string(), work, || page(500)), AnswerState::AtWork));
            ends.push(end);
        }
        assert_eq!(ask(&desk, "before 0", 400), 200, "an answer that is made is returned");
        assert!(matches!(desk.answer("more", || page(200), || page(500)), AnswerState::Full));
        drop(ends);
        assert_eq!(ask(&desk, "0", 400), 200);
    }
}
