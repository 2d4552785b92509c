//! Methods and structures described by tables: obvia_table.h.
//!
//! A table is converted to the runtime's form at its first use. The result is kept for later uses,
//! since tables are constants.

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

/// The lock that is held during the conversion of a table, so that each table is converted once.
static MAKING: Mutex<()> = Mutex::new(());

/// Returns the converted form of a table, converting the table at first use.
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
    // SAFETY: the pointer is from a box that was leaked above.
    Ok(unsafe { &*found })
}

impl Types {
    /// # Safety
    ///
    /// `words` must lead to `count` words.
    unsafe fn made(&self) -> Result<&'static [ElementType]> {
        // SAFETY: the caller's promise.
        let words = unsafe { std::slice::from_raw_parts(self.words, self.count) };
        made(&self.made, || words::types(words)).copied()
    }
}

impl Table {
    /// # Safety
    ///
    /// `words` must lead to `count` words, and `types` to a table of types.
    unsafe fn made(&self) -> Result<&'static Method> {
        let known = self.made.load(Ordering::Acquire);
        if !known.is_null() {
            // SAFETY: the pointer is one that `made` stored below.
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
/// `proxy` must be a proxy, `method` must be a table that the compiler generated, and `arguments`
/// must be as the table describes them.
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
/// `call` must be the call that the stub received, `method` must be a table that the compiler
/// generated, and `object` must be an object that `invoke` accepts.
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

/// Returns the types of a table, and the type with the number `kind`.
///
/// # Safety
///
/// `types` must be a table that the compiler generated.
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
/// `types` must be a table that the compiler generated, and `first` must be null or lead to `count`
/// elements of type `kind`, which the caller owns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn obvia_free_elements(types: *const Types, kind: u32, first: *mut c_void, count: usize) {
    // The function has no result for errors.
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
/// As for [`obvia_free_elements`], but the elements themselves may be in any memory.
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
/// `types` must be a table that the compiler generated, `first` must lead to `count` elements of
/// type `kind`, and `copy` must be null or writable.
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
