//! How a thread waits for a message: a policy of each side of a connection.

use std::hint;
use std::sync::OnceLock;
use std::time::Duration;

/// How a thread waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// Look at the slot again and again: the shortest latency, and a whole processor.
    Poll,
    /// Sleep in the kernel at once: no processor time, and the latency of a wake-up.
    Block,
    /// Poll for a while, then sleep. How long is learned from how long messages take.
    #[default]
    Adaptive,
}

/// Polls before an adaptive wait first sleeps: some 60 to 120 microseconds, about what the two wake-ups take that it may save.
const SPIN_MAX: u32 = 1 << 13;
/// Polls that an adaptive wait always makes: what a ready message needs.
const SPIN_MIN: u32 = 1 << 4;
/// Sleeps between two long polls that find out whether polling pays by now: as many after it last paid, and at most.
const PROBE_INTERVAL: (u32, u32) = (4, 256);
/// A wait that took longer says that the peer had nothing to send, and nothing about whether polling pays when it has.
const IDLE: Duration = Duration::from_millis(1);

/// How many polls to make before sleeping, learned from what polling brought.
///
/// Two threads that poll on one processor never see each other's message while they poll; there every poll is
/// wasted, and the budget falls to almost nothing after a few waits. Now and then, and ever more seldom, one wait polls long
/// all the same; when a message comes meanwhile, the budget is back at once.
#[derive(Debug)]
pub(crate) struct SpinBudget {
    policy: Waiting,
    polls: u32,
    until_probe: u32,
    interval: u32,
}

impl SpinBudget {
    pub(crate) fn new(policy: Waiting) -> Self {
        // On a single processor the peer cannot run while this thread polls. Asked once: the answer takes some twenty system calls.
        static ALONE: OnceLock<bool> = OnceLock::new();
        let alone = *ALONE.get_or_init(|| std::thread::available_parallelism().is_ok_and(|cores| cores.get() == 1));
        let (interval, _) = PROBE_INTERVAL;
        Self { policy, polls: if alone { SPIN_MIN } else { SPIN_MAX }, until_probe: interval, interval }
    }

    /// Polls to make before sleeping; `None` is for ever.
    pub(crate) fn polls(&self) -> Option<u32> {
        match self.policy {
            Waiting::Poll => None,
            Waiting::Block => Some(0),
            Waiting::Adaptive if self.until_probe == 0 => Some(SPIN_MAX),
            Waiting::Adaptive => Some(self.polls),
        }
    }

    /// Whether the thread polls at all.
    #[inline]
    pub(crate) fn is_patient(&self) -> bool {
        self.polls > SPIN_MIN && self.policy != Waiting::Block
    }

    /// The polls of a wait that begins.
    pub(crate) fn begin(&self) -> Polls {
        Polls { left: self.polls() }
    }

    /// What a wait was for came: polling paid, unless the wait has slept.
    pub(crate) fn came(&mut self, polls: Polls) {
        if polls.left != Some(0) {
            self.polling_paid();
        }
    }

    /// A message came while polling.
    pub(crate) fn polling_paid(&mut self) {
        let (interval, _) = PROBE_INTERVAL;
        *self = Self { policy: self.policy, polls: SPIN_MAX, until_probe: interval, interval };
    }

    /// The thread had to sleep, for so long.
    pub(crate) fn slept(&mut self, took: Duration) {
        if took >= IDLE {
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
    // `None` is for ever.
    left: Option<u32>,
}

impl Polls {
    /// Nothing was there: takes a breath before the next look. `false`: all polls were made, and it is time to sleep.
    #[inline]
    pub(crate) fn go_on(&mut self) -> bool {
        match &mut self.left {
            Some(0) => return false,
            Some(left) => *left -= 1,
            None => {}
        }
        breathe();
        true
    }
}

/// One breath between two looks at a slot.
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

    /// The numbers of the waits that poll long, of so many that all end in sleep.
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
    fn polling_that_never_pays_gets_rare() {
        let long = long_polls(&mut adaptive(), 2000);
        assert_eq!(long[..4], [0, 4, 13, 30]);
        assert!(long.windows(2).all(|pair| pair[1] - pair[0] <= 257), "it is tried again for ever: {long:?}");
        assert!(long.len() < 16, "{long:?}");
    }

    #[test]
    fn polling_that_paid_once_is_taken_up_at_once() {
        let mut budget = adaptive();
        long_polls(&mut budget, 500);
        budget.polling_paid();
        assert_eq!(budget.polls(), Some(SPIN_MAX));
        assert!(budget.is_patient());
    }

    #[test]
    fn idle_peers_teach_nothing() {
        let mut budget = adaptive();
        for _ in 0..100 {
            budget.slept(IDLE);
        }
        assert_eq!(budget.polls(), Some(SPIN_MAX));
    }

    #[test]
    fn a_wait_learns_whether_it_ended_before_it_slept() {
        let mut budget = adaptive();
        let mut polls = budget.begin();
        assert!((0..SPIN_MAX).all(|_| polls.go_on()) && !polls.go_on() && !polls.go_on());
        budget.slept(SHORT);
        budget.came(polls);
        assert_eq!(budget.polls(), Some(SPIN_MAX / 4), "it came after a sleep");
        let mut polls = budget.begin();
        assert!(polls.go_on());
        budget.came(polls);
        assert_eq!(budget.polls(), Some(SPIN_MAX), "it came while polling");
        assert!(!SpinBudget::new(Waiting::Block).begin().go_on());
        let mut patient = SpinBudget::new(Waiting::Poll).begin();
        assert!((0..SPIN_MAX * 2).all(|_| patient.go_on()));
    }

    #[test]
    fn the_other_policies_do_not_learn() {
        for (policy, polls) in [(Waiting::Poll, None), (Waiting::Block, Some(0))] {
            let mut budget = SpinBudget::new(policy);
            budget.slept(SHORT);
            budget.polling_paid();
            assert_eq!(budget.polls(), polls);
        }
    }
}
