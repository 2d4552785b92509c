//! How a thread waits for a message: a policy of each side of a connection.

use std::hint;

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

/// Polls before an adaptive wait first sleeps: some 20 to 50 microseconds.
const SPIN_MAX: u32 = 1 << 12;
/// Polls that an adaptive wait always makes: what a ready message needs.
const SPIN_MIN: u32 = 1 << 4;
/// Every so many sleeps in a row, poll long again to find out whether the peer got fast.
const PROBE_INTERVAL: u32 = 64;

/// How many polls to make before sleeping, learned from what polling brought.
///
/// Two threads that poll on one processor never see each other's message while they poll; there every poll is
/// wasted, and the budget falls to almost nothing after a few waits. When messages come while polling it grows
/// back at once.
#[derive(Debug)]
pub(crate) struct SpinBudget {
    policy: Waiting,
    polls: u32,
    sleeps: u32,
}

impl SpinBudget {
    pub(crate) fn new(policy: Waiting) -> Self {
        // On a single processor the peer cannot run while this thread polls.
        let alone = std::thread::available_parallelism().is_ok_and(|cores| cores.get() == 1);
        Self { policy, polls: if alone { SPIN_MIN } else { SPIN_MAX }, sleeps: 0 }
    }

    /// Polls to make before sleeping; `None` is for ever.
    pub(crate) fn polls(&self) -> Option<u32> {
        match self.policy {
            Waiting::Poll => None,
            Waiting::Block => Some(0),
            Waiting::Adaptive if self.sleeps % PROBE_INTERVAL == PROBE_INTERVAL - 1 => Some(SPIN_MAX),
            Waiting::Adaptive => Some(self.polls),
        }
    }

    /// Whether the thread polls at all.
    #[inline]
    pub(crate) fn is_patient(&self) -> bool {
        self.polls > SPIN_MIN && self.policy != Waiting::Block
    }

    /// A message came while polling.
    pub(crate) fn polling_paid(&mut self) {
        self.polls = SPIN_MAX;
        self.sleeps = 0;
    }

    /// The thread had to sleep.
    pub(crate) fn slept(&mut self) {
        self.polls = (self.polls / 4).max(SPIN_MIN);
        self.sleeps = self.sleeps.wrapping_add(1);
    }
}

/// One breath between two looks at a slot.
#[inline(always)]
pub(crate) fn breathe() {
    hint::spin_loop();
}
