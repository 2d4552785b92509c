//! An object that implements `Specialised`, and is therefore called over virtual interfaces on
//! every transport.

use crate::{IPoint, IPoint_Impl, ITill, ITill_Impl};
use obvia::Result;
use obvia::marshaling::{IMarshal, Specialised};
use std::sync::atomic::{AtomicI32, Ordering};

static TILLS: AtomicI32 = AtomicI32::new(0);

/// The place where customers pay.
#[obvia::object(ITill, IPoint, IMarshal)]
pub struct Till(AtomicI32);

/// The marshaler for calls over virtual interfaces.
impl Specialised for Till_Impl {}

impl Till {
    /// Creates an empty till.
    #[expect(clippy::new_without_default, reason = "a till is opened")]
    pub fn new() -> Self {
        TILLS.fetch_add(1, Ordering::SeqCst);
        Self(AtomicI32::new(0))
    }
}

impl Drop for Till {
    fn drop(&mut self) {
        TILLS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns the number of tills in this process.
pub fn tills() -> i32 {
    TILLS.load(Ordering::SeqCst)
}

impl ITill_Impl for Till_Impl {
    fn Pay(&self, amount: i32) -> Result<i32> {
        Ok(self.0.fetch_add(amount, Ordering::SeqCst) + amount)
    }
}

impl IPoint_Impl for Till_Impl {
    fn Where(&self) -> Result<(f64, f64)> {
        Ok((3.0, 4.0))
    }

    fn Process(&self) -> Result<u32> {
        Ok(std::process::id())
    }
}
