//! Objects that a function has found, in the form in which Java receives them.

use crate::handles::{Handle, keep};
use crate::objects::number;
use com::{IUnknown, Interface as _, Result};
use std::ffi::c_void;

/// The result of a function that finds an object: an interface pointer, and the object's identity.
#[derive(Debug)]
#[repr(C)]
pub struct Found {
    /// The interface pointer.
    handle: Handle,
    /// The identity of the object: equal for two interface pointers of one object, as long as at
    /// least one of them is held.
    identity: u64,
    /// Java's number of the object if it is an object of Java; 0 for other objects. An object of
    /// Java exists as long as the interface pointer is held.
    number: u64,
}

impl Found {
    pub(crate) fn of(pointer: &IUnknown) -> Result<Self> {
        let identity: *mut c_void = pointer.cast::<IUnknown>()?.as_raw();
        let number = number(pointer);
        Ok(Self { handle: keep(pointer)?, identity: identity.addr() as u64, number })
    }
}
