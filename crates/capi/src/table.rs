//! Methods and structures that tables describe: obvia_table.h.
//!
//! The tables are made into what the runtime walks by when they are used first, and that is kept, as C's tables are constants.

use crate::errors::guarded;
use com::abi::{self, Answer, Element, ElementType, Invoke, Method, ServerCall, words};
use com::rt::Status;
use com::{Error, HRESULT, Result, code};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

/// `obvia_types` in obvia_table.h.
#[repr(C)]
pub struct Types {
    words: *const i64,
    count: usize,
    made: AtomicPtr<&'static [ElementType]>,
}

/// `obvia_method` in obvia_table.h.
#[repr(C)]
pub struct Table {
    types: *const Types,
    words: *const i64,
    count: usize,
    made: AtomicPtr<Method>,
}

/// Held while a table is made, so that it is made once.
static MAKING: Mutex<()> = Mutex::new(());

/// What was made of a table, or is made now.
fn made<T>(kept: &AtomicPtr<T>, make: impl FnOnce() -> Option<T>) -> Result<&'static T> {
    let mut found = kept.load(Ordering::Acquire);
    if found.is_null() {
        let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        found = kept.load(Ordering::Acquire);
        if found.is_null() {
            let wrong = || Error::new(code::E_INVALIDARG, "the stubs were compiled for another version of libobvia");
            found = ptr::from_mut(Box::leak(Box::new(make().ok_or_else(wrong)?)));
            kept.store(found, Ordering::Release);
        }
    }
    // SAFETY: a box that was leaked above.
    Ok(unsafe { &*found })
}

impl Types {
    /// # Safety
    ///
    /// The words must be there.
    unsafe fn made(&self) -> Result<&'static [ElementType]> {
        // SAFETY: the caller's promise.
        let words = unsafe { std::slice::from_raw_parts(self.words, self.count) };
        made(&self.made, || words::types(words)).copied()
    }
}

impl Table {
    /// # Safety
    ///
    /// The words must be there, and the types.
    unsafe fn made(&self) -> Result<&'static Method> {
        let known = self.made.load(Ordering::Acquire);
        if !known.is_null() {
            // SAFETY: what `made` below kept.
            return Ok(unsafe { &*known });
        }
        // SAFETY: the caller's promise.
        let types = unsafe { &*self.types };
        // SAFETY: the caller's promise.
        let types = unsafe { types.made() }?;
        // SAFETY: the caller's promise.
        let words = unsafe { std::slice::from_raw_parts(self.words, self.count) };
        made(&self.made, || Method::new(words::method(words)?, types))
    }
}

/// `obvia_call_by_table` in obvia_table.h.
///
/// # Safety
///
/// `proxy` must be a proxy, `method` a table that the compiler wrote, and `arguments` what it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_call_by_table(
    proxy: *mut c_void,
    method: *const Table,
    arguments: *const *mut c_void,
) -> HRESULT {
    let call = || {
        // SAFETY: the caller's promise.
        let table = unsafe { &*method };
        // SAFETY: the caller's promise.
        let method = match unsafe { table.made() } {
            Ok(method) => method,
            Err(error) => return abi::fail(error),
        };
        // SAFETY: the caller's promise.
        unsafe { method.call(proxy, arguments) }
    };
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(code::E_UNEXPECTED)
}

/// `obvia_serve_by_table` in obvia_table.h.
///
/// # Safety
///
/// `call` must be the call that the stub was called with, `method` a table that the compiler wrote, and `object` what `invoke`
/// takes.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn obvia_serve_by_table(
    object: *mut c_void,
    call: *mut ServerCall<'_>,
    method: *const Table,
    invoke: Invoke,
) -> Answer {
    // SAFETY: the caller's promise.
    let table = unsafe { &*method };
    // SAFETY: the caller's promise.
    let Ok(method) = (unsafe { table.made() }) else {
        return Answer::fault(Status::REMOTE_NO_MEMORY);
    };
    // SAFETY: the caller's promise.
    let call = unsafe { &mut *call };
    // SAFETY: the caller's promise.
    unsafe { method.serve(object, call, invoke) }
}

/// Types, and the one of them that has a number.
///
/// # Safety
///
/// `types` must be a table that the compiler wrote.
unsafe fn one_of(types: *const Types, kind: u32) -> Result<(&'static [ElementType], Element)> {
    // SAFETY: the caller's promise.
    let table = unsafe { &*types };
    // SAFETY: the caller's promise.
    let types = unsafe { table.made() }?;
    Ok((types, words::element(kind).ok_or(code::E_INVALIDARG)?))
}

/// `obvia_free_elements` in obvia_table.h.
///
/// # Safety
///
/// `types` must be a table that the compiler wrote, and `first` be null or lead to `count` elements of type `kind`, owned by the
/// caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_free_elements(types: *const Types, kind: u32, first: *mut c_void, count: usize) {
    // There is nobody to tell.
    let _ = guarded(|| {
        // SAFETY: the caller's promise.
        let (types, element) = unsafe { one_of(types, kind) }?;
        if !first.is_null() {
            // SAFETY: the caller's promise.
            unsafe { abi::free_elements(first.cast(), element, count, types) };
        }
        Ok(())
    });
}

/// `obvia_clear_elements` in obvia_table.h.
///
/// # Safety
///
/// As for [`obvia_free_elements`], wherever the elements are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_clear_elements(
    types: *const Types,
    kind: u32,
    first: *mut c_void,
    count: usize,
    bytes: usize,
) {
    let _ = guarded(|| {
        // SAFETY: the caller's promise.
        let (types, element) = unsafe { one_of(types, kind) }?;
        if !first.is_null() {
            // SAFETY: the caller's promise.
            unsafe { abi::clear_elements(first.cast(), element, count, types) };
            // SAFETY: the caller's promise.
            unsafe { first.cast::<u8>().write_bytes(0, bytes) };
        }
        Ok(())
    });
}

/// `obvia_copy_elements` in obvia_table.h.
///
/// # Safety
///
/// `types` must be a table that the compiler wrote, `first` lead to `count` elements of type `kind`, and `copy` be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_copy_elements(
    types: *const Types,
    kind: u32,
    first: *const c_void,
    count: usize,
    copy: *mut *mut c_void,
) -> HRESULT {
    guarded(|| {
        if copy.is_null() {
            return Err(code::E_POINTER.into());
        }
        // SAFETY: the caller's promise.
        unsafe { copy.write(ptr::null_mut()) };
        if first.is_null() {
            return if count == 0 { Ok(()) } else { Err(code::E_POINTER.into()) };
        }
        // SAFETY: the caller's promise.
        let (types, element) = unsafe { one_of(types, kind) }?;
        // SAFETY: the caller's promise.
        let made = unsafe { abi::copy_elements(first.cast(), element, count, types) }?;
        // SAFETY: the caller's promise.
        unsafe { copy.write(made.cast()) };
        Ok(())
    })
}
