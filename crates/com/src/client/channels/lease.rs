//! Leases on replies, which lie in the memory of the thread's channels.

use super::owned::Others;
use super::{Calls, OwnedChannel};
use std::cell::RefCell;
use std::marker::PhantomData;

thread_local! {
    static LEASED: Leased = const { Leased(RefCell::new(Vec::new())) };
}

/// The channels that have leased replies and are no longer at hand, each with the number of its
/// lease.
struct Leased(RefCell<Vec<(u64, Box<OwnedChannel>)>>);

impl Drop for Leased {
    fn drop(&mut self) {
        // The channels are leaked, because values that outlive the thread may still read leased
        // replies in the channels' memory.
        self.0.take().into_iter().for_each(std::mem::forget);
    }
}

/// Keeps a leased channel that is no longer at hand.
pub(super) fn keep(lease: u64, owned: Box<OwnedChannel>) {
    let mut leased = Some((lease, owned));
    if LEASED.try_with(|others| others.0.borrow_mut().extend(leased.take())).is_err() {
        // The thread is ending. The channel is leaked, because the leased reply in its memory may
        // still be read.
        std::mem::forget(leased);
    }
}

/// A lease on the last reply of this thread. The reply lies in its channel's memory, so further
/// calls use another channel. A lease belongs to its thread, since its drop puts the channel back.
pub(crate) struct Lease {
    number: u64,
    /// The value of [`Calls::link`] before the lease.
    link: usize,
    // Makes the type `!Send` and `!Sync`, because leased memory belongs to one thread.
    thread: PhantomData<*const ()>,
}

impl Lease {
    /// Leases the reply of the last call, which used the channel at hand.
    #[inline(always)]
    pub(crate) fn take() -> Self {
        Calls::with(|calls| {
            let number = calls.leases.get() + 1;
            calls.leases.set(number);
            calls.lease.set(number);
            Self { number, link: calls.link.take(), thread: PhantomData }
        })
    }
}

impl Drop for Lease {
    #[inline(always)]
    fn drop(&mut self) {
        Calls::with(|calls| {
            if calls.lease.get() == self.number {
                calls.lease.set(0);
                calls.link.set(self.link);
            } else {
                end_elsewhere(self.number);
            }
        });
    }
}

/// Ends a lease whose channel is no longer at hand.
#[cold]
#[inline(never)]
fn end_elsewhere(number: u64) {
    let find = |leased: &Leased| {
        let mut leased = leased.0.borrow_mut();
        let at = leased.iter().position(|(lease, _)| *lease == number)?;
        Some(leased.swap_remove(at).1)
    };
    // On a thread that is ending, `LEASED` may be destroyed, and its channels were leaked.
    let owned = LEASED.try_with(find).ok().flatten();
    // A channel that the thread's cancellers may still interrupt is not used again.
    let owned = owned.filter(|owned| !owned.alarmed.get());
    Others::with(|others| others.borrow_mut().extend(owned));
}
