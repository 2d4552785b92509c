//! Where something is.

use crate::{IPoint, IPoint_Impl};
use windows_core::implement;

/// A place.
#[implement(IPoint)]
pub struct Point {
    /// To the east.
    pub x: f64,
    /// To the north.
    pub y: f64,
}

impl IPoint_Impl for Point_Impl {
    fn Where(&self) -> obvia::Result<(f64, f64)> {
        Ok((self.x, self.y))
    }

    fn Process(&self) -> obvia::Result<u32> {
        Ok(std::process::id())
    }
}
