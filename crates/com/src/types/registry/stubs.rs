//! The stubs of an interface, which the compiler writes.

use obvia_rpc::status::Status;
use obvia_rpc::vi_call::{Answer, ServerCall};
use std::ffi::c_void;

/// The stub of one method: unmarshals the arguments, calls the method of `object`, and returns the
/// answer for the caller.
///
/// Stubs have C's calling convention and may be in any language. A panic of a Rust stub unwinds
/// through the connection's thread and ends that thread.
///
/// # Safety
///
/// `object` must be a live interface pointer of the stub's interface.
pub type StubFn = unsafe extern "C-unwind" fn(object: *mut c_void, call: &mut ServerCall<'_>) -> Answer;

/// The stubs of an interface, by opnum. Their number is a power of two, so that a mask keeps every
/// opnum in bounds. Stubs of opnums without a method refuse the call.
#[derive(Clone, Copy, Debug)]
pub struct Stubs(&'static [StubFn]);

impl Stubs {
    /// The stubs of an interface with IUnknown's methods only, which are not called across
    /// processes.
    pub const NONE: Self = Self(&[refuse]);

    /// Makes the stubs from a table that [`pad`] has made.
    ///
    /// # Panics
    ///
    /// If the number of stubs is not a power of two.
    pub const fn new(padded: &'static [StubFn]) -> Self {
        assert!(padded.len().is_power_of_two(), "a mask must keep opnums within the table");
        Self(padded)
    }

    /// Returns the table, whose length is a power of two.
    pub(crate) const fn padded(self) -> &'static [StubFn] {
        self.0
    }
}

/// Makes a table of `N` stubs: the stubs of the methods from opnum 3 on, and at every other opnum a
/// stub that refuses the call.
///
/// # Panics
///
/// If there are too many methods.
pub const fn pad<const N: usize>(methods: &[StubFn]) -> [StubFn; N] {
    let mut all: [StubFn; N] = [refuse; N];
    let mut at = 0;
    while at < methods.len() {
        all[at + FIRST_OPNUM] = methods[at];
        at += 1;
    }
    all
}

/// The opnum of the first method after those of IUnknown.
const FIRST_OPNUM: usize = 3;

/// Refuses the call: the stub of opnums without a method, and of `[local]` methods.
///
/// # Safety
///
/// Callers have no obligation, because the arguments are not used. The function is unsafe because
/// all stubs have one type.
pub unsafe extern "C-unwind" fn refuse(_: *mut c_void, _: &mut ServerCall<'_>) -> Answer {
    Answer::fault(Status::OP_RNG_ERROR)
}
