//! Wait policies: how each side of a connection waits for a message.

use std::hint;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A wait policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// Poll the slot without a pause: the shortest latency, at the price of a whole processor.
    /// Where messages come over sockets, a wait sleeps after two milliseconds without a message.
    Poll,
    /// Sleep in the kernel at once: no processor time, and the latency of a wake-up.
    Block,
    /// Poll for a while, then sleep. The policy learns how long to poll from earlier waits.
    #[default]
    Adaptive,
}

/// The number of polls before an adaptive wait first sleeps. They take 60 to 120 microseconds,
/// which is about the time of the two wake-ups that polling can save.
const SPIN_MAX: u32 = 1 << 13;
/// The maximum time for which an adaptive wait polls. The number of polls alone does not limit the
/// time: a poll of a virtual interface calls the VI's port, and takes as long as tens of polls of
/// memory.
const SPIN_TIME: Duration = Duration::from_micros(120);
/// The number of polls that an adaptive wait always makes: enough to find a message that has
/// arrived already.
const SPIN_MIN: u32 = 1 << 4;
/// The maximum number of polls of a wait right after a wait for an idle peer. A server with many
/// clients that rarely call would otherwise spend most of its time on polls for their next calls.
const SPIN_AFTER_IDLE: u32 = SPIN_MAX / 8;
/// The number of sleeps between two probes: a probe is a long poll that shows whether polling pays
/// again. The first value holds after a wait in which polling paid. The number then grows up to the
/// second value.
const PROBE_INTERVAL: (u32, u32) = (4, 256);
/// The length of a wait after which the peer counts as idle. Such a wait does not show whether
/// polling pays while the peer is busy and sends one message after another.
pub(crate) const IDLE: Duration = Duration::from_millis(1);

/// The number of polls before a sleep, learned from earlier waits.
///
/// Two threads that poll on one processor never see each other's messages while they poll. Every
/// poll is wasted, so the budget falls to almost nothing after a few waits. Nevertheless, at
/// growing intervals, one wait polls for long. If a message arrives during these polls, the budget
/// returns to its maximum at once.
#[derive(Debug)]
pub(crate) struct SpinBudget {
    policy: Waiting,
    polls: u32,
    until_probe: u32,
    interval: u32,
}

impl SpinBudget {
    pub(crate) fn new(policy: Waiting) -> Self {
        // On a single processor the peer cannot run while this thread polls. The number of
        // processors is read once, because reading it takes some twenty system calls.
        static ALONE: OnceLock<bool> = OnceLock::new();
        let alone = *ALONE.get_or_init(|| std::thread::available_parallelism().is_ok_and(|cores| cores.get() == 1));
        let (interval, _) = PROBE_INTERVAL;
        Self { policy, polls: if alone { SPIN_MIN } else { SPIN_MAX }, until_probe: interval, interval }
    }

    /// Returns the number of polls before a sleep; `None` if their number is unlimited.
    pub(crate) fn polls(&self) -> Option<u32> {
        match self.policy {
            Waiting::Poll => None,
            Waiting::Block => Some(0),
            Waiting::Adaptive if self.until_probe == 0 => Some(SPIN_MAX),
            Waiting::Adaptive => Some(self.polls),
        }
    }

    /// Whether the policy permits polls, and the number of polls is above its minimum.
    #[inline]
    pub(crate) fn is_patient(&self) -> bool {
        self.polls > SPIN_MIN && self.policy != Waiting::Block
    }

    /// Begins a wait, with the polls that the policy allows.
    pub(crate) fn begin(&self) -> Polls {
        Polls { left: self.polls(), until: None }
    }

    /// Ends a successful wait. If the wait did not sleep, polling has paid.
    pub(crate) fn succeeded(&mut self, polls: Polls) {
        if polls.left != Some(0) {
            self.polling_paid();
        }
    }

    /// Notes that a message arrived while the thread polled.
    pub(crate) fn polling_paid(&mut self) {
        let (interval, _) = PROBE_INTERVAL;
        *self = Self { policy: self.policy, polls: SPIN_MAX, until_probe: interval, interval };
    }

    /// Notes that the thread had to sleep, and for how long.
    pub(crate) fn slept(&mut self, took: Duration) {
        if took >= IDLE {
            self.polls = self.polls.min(SPIN_AFTER_IDLE);
            return;
        }
        self.polls = (self.polls / 4).max(SPIN_MIN);
        if self.until_probe > 0 {
            self.until_probe -= 1;
        } else {
            let (_, most) = PROBE_INTERVAL;
            self.interval = (self.interval * 2).min(most);
            self.until_probe = self.interval;
        }
    }
}

/// The polls that a wait has left.
#[derive(Debug)]
pub(crate) struct Polls {
    // The number of polls that are left; `None` if their number is unlimited.
    left: Option<u32>,
    // The latest time of the polls, which the first poll sets.
    until: Option<Instant>,
}

impl Polls {
    /// Pauses briefly before the next look. Returns `false` when it is time to sleep: when all
    /// polls were made, or have taken [`SPIN_TIME`]. If the polls are unlimited, does not call
    /// `now`.
    #[inline]
    pub(crate) fn go_on(&mut self, now: impl FnOnce() -> Instant) -> bool {
        if let Some(left) = &mut self.left {
            let is_late = || {
                let now = now();
                now >= *self.until.get_or_insert(now + SPIN_TIME)
            };
            if *left == 0 || is_late() {
                *left = 0;
                return false;
            }
            *left -= 1;
        }
        breathe();
        true
    }
}

/// Pauses briefly between two looks at a slot.
#[inline(always)]
pub(crate) fn breathe() {
    hint::spin_loop();
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_micros(50);

    fn adaptive() -> SpinBudget {
        let mut budget = SpinBudget::new(Waiting::Adaptive);
        budget.polling_paid();
        budget
    }

    /// Makes `waits` waits, all of which end in sleep. Returns the indices of the waits that may
    /// poll [`SPIN_MAX`] times.
    fn long_polls(budget: &mut SpinBudget, waits: u32) -> Vec<u32> {
        let mut long = Vec::new();
        for wait in 0..waits {
            if budget.polls() == Some(SPIN_MAX) {
                long.push(wait);
            }
            budget.slept(SHORT);
        }
        long
    }

    #[test]
    fn fruitless_polling_becomes_rare() {
        let long = long_polls(&mut adaptive(), 2000);
        assert_eq!(long[..4], [0, 4, 13, 30]);
        assert!(long.windows(2).all(|pair| pair[1] - pair[0] <= 257), "it is tried again for ever: {long:?}");
        assert!(long.len() < 16, "{long:?}");
    }

    #[test]
    fn polling_resumes_after_one_success() {
        let mut budget = adaptive();
        long_polls(&mut budget, 500);
        budget.polling_paid();
        assert_eq!(budget.polls(), Some(SPIN_MAX));
        assert!(budget.is_patient());
    }

    #[test]
    fn waits_after_idle_ones_poll_briefly_until_polling_pays() {
        let mut budget = adaptive();
        for _ in 0..100 {
            budget.slept(IDLE);
            assert_eq!(budget.polls(), Some(SPIN_AFTER_IDLE));
        }
        budget.polling_paid();
        assert_eq!(budget.polls(), Some(SPIN_MAX));
        long_polls(&mut budget, 500);
        budget.slept(IDLE);
        assert_eq!(budget.polls(), Some(SPIN_MIN), "it is not raised");
    }

    #[test]
    fn the_spin_budget_learns_whether_a_wait_slept() {
        let (mut budget, now) = (adaptive(), Instant::now());
        let mut polls = budget.begin();
        assert!((0..SPIN_MAX).all(|_| polls.go_on(|| now)) && !polls.go_on(|| now) && !polls.go_on(|| now));
        budget.slept(SHORT);
        budget.succeeded(polls);
        assert_eq!(budget.polls(), Some(SPIN_MAX / 4), "it came after a sleep");
        let mut polls = budget.begin();
        assert!(polls.go_on(|| now));
        budget.succeeded(polls);
        assert_eq!(budget.polls(), Some(SPIN_MAX), "it came while polling");
        assert!(!SpinBudget::new(Waiting::Block).begin().go_on(|| now));
        let mut patient = SpinBudget::new(Waiting::Poll).begin();
        assert!((0..SPIN_MAX * 2).all(|_| patient.go_on(|| now)));
    }

    #[test]
    fn slow_polls_end_by_their_time() {
        let (mut budget, now) = (adaptive(), Instant::now());
        let mut polls = budget.begin();
        assert!(polls.go_on(|| now) && polls.go_on(|| now + SPIN_TIME / 2));
        assert!(!polls.go_on(|| now + SPIN_TIME) && !polls.go_on(|| now));
        budget.slept(SHORT);
        budget.succeeded(polls);
        assert_eq!(budget.polls(), Some(SPIN_MAX / 4), "it came after a sleep");
        let mut patient = SpinBudget::new(Waiting::Poll).begin();
        assert!(patient.go_on(|| now) && patient.go_on(|| now + SPIN_TIME));
    }

    #[test]
    fn fixed_wait_policies_do_not_learn() {
        for (policy, polls) in [(Waiting::Poll, None), (Waiting::Block, Some(0))] {
            let mut budget = SpinBudget::new(policy);
            budget.slept(SHORT);
            budget.polling_paid();
            assert_eq!(budget.polls(), polls);
        }
    }
}
