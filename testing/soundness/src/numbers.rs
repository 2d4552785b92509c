//! The numbers of [`Values`](crate::Values): an object with `[local]` methods beside methods that
//! other processes call.

use super::values::Values_Impl;
use super::{INamedNumbers_Impl, INumbers_Impl};
use obvia::{Result, U16CString};
use std::ffi::c_void;

impl INumbers_Impl for Values_Impl {
    fn Skip(&self, _count: u32) -> Result<()> {
        Ok(())
    }

    unsafe fn Next(&self, count: u32, numbers: *mut i32, fetched: *mut u32) -> Result<()> {
        // SAFETY: by the interface's declaration, `numbers` has room for `count` numbers.
        unsafe { std::slice::from_raw_parts_mut(numbers, count as usize) }.fill(7);
        // SAFETY: by the interface's declaration, `fetched` has room for one number.
        unsafe { fetched.write(count) };
        Ok(())
    }

    unsafe fn Peek(&self, _key: *const c_void, _named: *mut c_void) -> Result<()> {
        Ok(())
    }

    fn Reset(&self, to: i32) -> Result<i32> {
        Ok(to + 1)
    }
}

impl INamedNumbers_Impl for Values_Impl {
    fn Name(&self) -> Result<U16CString> {
        Ok(U16CString::from_str_truncate("numbers"))
    }
}
