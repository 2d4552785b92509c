//! The atomics in use: the standard library's, or loom's when its model checker explores the
//! protocol.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, fence};
