//! The results of one connection, and the sum of all.

use super::pace::Due;
use crate::Histogram;
use obvia::code;
use std::time::Instant;

/// The greatest number of errors that are counted separately.
const KINDS_MAX: usize = 32;
/// The longest text of an error, in characters: texts come from the server.
const TEXT_MAX: usize = 200;

/// An error, and the number of calls that failed with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The HRESULT of the error.
    pub code: i32,
    /// The text of the error.
    pub message: String,
    /// The number of calls that failed with the error.
    pub count: u64,
}

/// The measured calls of a connection.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The latencies of the calls that succeeded.
    pub(super) latency: Histogram,
    pub(super) failures: Vec<Failure>,
    /// The number of calls that were due while all connections were busy.
    pub(super) late: u64,
    /// The end of the last measured call.
    pub(super) last: Option<Instant>,
    /// The time of the server's last answer, whether in the warm-up or later.
    pub(super) answered: Option<Instant>,
}

impl Tally {
    /// Counts a call that ended at `now`.
    pub(super) fn note(&mut self, due: &Due, now: Instant, outcome: &obvia::Result<()>) {
        if outcome.as_ref().err().is_none_or(is_answer) {
            self.answered = Some(now);
        }
        if !due.is_measured {
            return;
        }
        self.last = Some(now);
        self.late += u64::from(due.is_late);
        match outcome {
            Ok(()) => self.latency.record(now.saturating_duration_since(due.at)),
            Err(error) => self.fail(error.code().0, &error.to_string(), 1),
        }
    }

    fn fail(&mut self, code: i32, message: &str, count: u64) {
        let short = shortened(message);
        let is_known = |known: &Failure| known.code == code && known.message == short;
        match self.failures.iter().position(is_known) {
            Some(at) => self.failures[at].count = self.failures[at].count.saturating_add(count),
            None if self.failures.len() < KINDS_MAX => self.failures.push(Failure { code, message: short, count }),
            None => {
                let rest = &mut self.failures[KINDS_MAX - 1];
                let count = rest.count.saturating_add(count);
                let message = format!("other errors (more than {} kinds)", KINDS_MAX - 1);
                *rest = Failure { code: code::E_FAIL.0, message, count };
            }
        }
    }

    /// Adds the results of another connection.
    pub(super) fn add(&mut self, other: &Self) {
        self.latency.add(&other.latency);
        other.failures.iter().for_each(|failure| self.fail(failure.code, &failure.message, failure.count));
        self.late += other.late;
        self.last = self.last.max(other.last);
        self.answered = self.answered.max(other.answered);
    }

    /// Returns the number of calls that failed.
    pub(super) fn failed(&self) -> u64 {
        self.failures.iter().map(|failure| failure.count).sum()
    }
}

/// Cuts a text that is too long. A cut text ends with `…`.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        None => text.to_owned(),
        Some(_) => text.chars().take(TEXT_MAX - 1).chain(['…']).collect(),
    }
}

/// Whether an error shows that the server answers.
pub(super) fn is_answer(error: &obvia::Error) -> bool {
    !is_lost_connection(error) && error.code() != code::RPC_E_TIMEOUT
}

/// Whether an error says that a connection ended, or that there is no server.
pub(super) fn is_lost_connection(error: &obvia::Error) -> bool {
    [code::RPC_S_SERVER_UNAVAILABLE, code::RPC_E_DISCONNECTED].contains(&error.code())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn due(at: Instant, is_measured: bool) -> Due {
        Due { at, began: at, is_measured, is_late: true }
    }

    fn failed(text: &str) -> obvia::Result<()> {
        Err(obvia::Error::new(code::E_INVALIDARG, text))
    }

    #[test]
    fn latencies_count_from_the_time_when_the_call_was_due() {
        let (mut tally, at) = (Tally::default(), Instant::now());
        tally.note(&due(at, false), at + Duration::from_secs(9), &Ok(()));
        tally.note(&due(at, true), at + Duration::from_millis(70), &Ok(()));
        assert_eq!((tally.latency.total(), tally.late), (1, 1), "calls of the warm-up do not count");
        assert!((tally.latency.quantile(1.0).unwrap() / 70e6 - 1.0).abs() < 0.001);
        assert_eq!(tally.last, Some(at + Duration::from_millis(70)));
    }

    #[test]
    fn failures_are_counted_by_code_and_text_and_their_kinds_are_limited() {
        let (mut tally, at) = (Tally::default(), Instant::now());
        for text in ["a", "b", "a"] {
            tally.note(&due(at, true), at, &failed(text));
        }
        let mut sum = Tally::default();
        sum.add(&tally);
        sum.add(&tally);
        let kinds: Vec<_> = sum.failures.iter().map(|failure| (failure.message.as_str(), failure.count)).collect();
        assert_eq!(kinds, [("a (E_INVALIDARG)", 4), ("b (E_INVALIDARG)", 2)]);
        (0..1000).for_each(|number| sum.note(&due(at, true), at, &failed(&format!("{number} {}", "x".repeat(9999)))));
        assert_eq!((sum.failures.len(), sum.failed()), (KINDS_MAX, 1006));
        assert!(sum.failures.iter().all(|failure| failure.message.chars().count() <= TEXT_MAX));
        assert_eq!(sum.failures[KINDS_MAX - 1].message, "other errors (more than 31 kinds)");
        let cut = &sum.failures[2].message;
        assert!(cut.starts_with("0 xx") && cut.ends_with("x…") && cut.chars().count() == TEXT_MAX, "{cut}");
        assert_eq!(shortened(&"é".repeat(TEXT_MAX)), "é".repeat(TEXT_MAX), "a text of just this length stays");
    }

    #[test]
    fn errors_of_the_method_are_answers_and_lost_connections_are_none() {
        let at = Instant::now();
        let answered = |code: obvia::HRESULT| {
            let mut tally = Tally::default();
            tally.note(&due(at, true), at, &Err(code.into()));
            tally.answered.is_some()
        };
        assert!(answered(code::E_INVALIDARG));
        assert!(!answered(code::RPC_E_TIMEOUT) && !answered(code::RPC_E_DISCONNECTED));
    }
}
