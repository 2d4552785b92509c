//! The enumerators of connection points and of connections.
//!
//! `Next` of an enumerator returns S_FALSE with the remaining elements if fewer remain than the
//! caller wants. Implementations in Rust cannot return a success code, so the interfaces are
//! declared by their vtables here.

#![allow(non_snake_case, reason = "names are COM's")]

use super::idl::{IConnectionPoint, IEnumConnectionPoints, IEnumConnections};
use crate::types::agile::Agile;
use crate::types::error::{Result, code};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use windows_core::{HRESULT, IUnknown, Interface, interface};

/// Returns an enumerator of these connection points.
pub(super) fn connection_points(all: Vec<IConnectionPoint>) -> Result<IEnumConnectionPoints> {
    let all = all.iter().map(Agile::new).collect::<Result<_>>()?;
    Ok(IUnknown::from(Points(Cursor { all, at: AtomicUsize::new(0) })).cast()?)
}

/// Returns an enumerator of these connections.
pub(super) fn connections(all: Vec<(Agile<IUnknown>, u32)>) -> Result<IEnumConnections> {
    Ok(IUnknown::from(Connections(Cursor { all: all.into(), at: AtomicUsize::new(0) })).cast()?)
}

#[interface("b196b285-bab4-101a-b69c-00aa00341d07")]
unsafe trait IPoints: IUnknown {
    unsafe fn Next(&self, count: u32, to: *mut *mut c_void, fetched: *mut u32) -> HRESULT;
    unsafe fn Skip(&self, count: u32) -> HRESULT;
    unsafe fn Reset(&self) -> HRESULT;
    unsafe fn Clone(&self, to: *mut *mut c_void) -> HRESULT;
}

#[interface("b196b287-bab4-101a-b69c-00aa00341d07")]
unsafe trait IConnections: IUnknown {
    unsafe fn Next(&self, count: u32, to: *mut Data, fetched: *mut u32) -> HRESULT;
    unsafe fn Skip(&self, count: u32) -> HRESULT;
    unsafe fn Reset(&self) -> HRESULT;
    unsafe fn Clone(&self, to: *mut *mut c_void) -> HRESULT;
}

/// COM's structure CONNECTDATA.
#[repr(C)]
struct Data {
    sink: *mut c_void,
    cookie: u32,
}

#[obvia::object(IPoints)]
struct Points(Cursor<Agile<IConnectionPoint>>);

#[obvia::object(IConnections)]
struct Connections(Cursor<(Agile<IUnknown>, u32)>);

impl IPoints_Impl for Points_Impl {
    unsafe fn Next(&self, count: u32, to: *mut *mut c_void, fetched: *mut u32) -> HRESULT {
        // SAFETY: by the contract of `Next`, `to` is null or has room for `count` elements, and
        // `fetched` is null or writable.
        unsafe { self.0.next(count, to, fetched, |point| point.get().clone().into_raw()) }
    }

    unsafe fn Skip(&self, count: u32) -> HRESULT {
        self.0.skip(count)
    }

    unsafe fn Reset(&self) -> HRESULT {
        self.0.reset()
    }

    unsafe fn Clone(&self, to: *mut *mut c_void) -> HRESULT {
        // SAFETY: by the contract of `Clone`, `to` is null or leads to room for a pointer.
        unsafe { put(to, IPoints::from(Points(self.0.copy()))) }
    }
}

impl IConnections_Impl for Connections_Impl {
    unsafe fn Next(&self, count: u32, to: *mut Data, fetched: *mut u32) -> HRESULT {
        let data =
            |(sink, cookie): &(Agile<IUnknown>, u32)| Data { sink: sink.get().clone().into_raw(), cookie: *cookie };
        // SAFETY: by the contract of `Next`, `to` is null or has room for `count` elements, and
        // `fetched` is null or writable.
        unsafe { self.0.next(count, to, fetched, data) }
    }

    unsafe fn Skip(&self, count: u32) -> HRESULT {
        self.0.skip(count)
    }

    unsafe fn Reset(&self) -> HRESULT {
        self.0.reset()
    }

    unsafe fn Clone(&self, to: *mut *mut c_void) -> HRESULT {
        // SAFETY: by the contract of `Clone`, `to` is null or leads to room for a pointer.
        unsafe { put(to, IConnections::from(Connections(self.0.copy()))) }
    }
}

/// Stores an enumerator in an out parameter.
///
/// # Safety
///
/// `to` must be null or writable.
unsafe fn put(to: *mut *mut c_void, made: impl Interface) -> HRESULT {
    if to.is_null() {
        return code::E_POINTER;
    }
    // SAFETY: `to` is not null, so the caller promises that it is writable.
    unsafe { to.write(made.into_raw()) };
    code::S_OK
}

/// The elements at the time when the enumerator was made, and the index of the next element.
struct Cursor<T> {
    all: Arc<[T]>,
    at: AtomicUsize,
}

impl<T> Cursor<T> {
    /// Advances by `count` elements, or to the end. Returns the range of the passed elements.
    fn advance(&self, count: u32) -> Range<usize> {
        let next = |at: usize| at.saturating_add(count as usize).min(self.all.len());
        let from = self.at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |at| Some(next(at)));
        let from = from.unwrap_or_else(|at| at);
        from..next(from)
    }

    /// Stores the next `count` elements, or all remaining elements, at `to`, and their number at
    /// `fetched`.
    ///
    /// # Safety
    ///
    /// `to` must be null or have room for `count` elements; `fetched` must be null or writable.
    unsafe fn next<Raw>(&self, count: u32, to: *mut Raw, fetched: *mut u32, raw: impl Fn(&T) -> Raw) -> HRESULT {
        if to.is_null() || fetched.is_null() && count != 1 {
            return code::E_POINTER;
        }
        let taken = self.advance(count);
        let length = taken.len() as u32;
        for (at, one) in self.all[taken].iter().enumerate() {
            // SAFETY: `at` is less than `count`, and `to` has room for `count` elements.
            let place = unsafe { to.add(at) };
            // SAFETY: `place` is in the room for `count` elements.
            unsafe { place.write(raw(one)) };
        }
        if !fetched.is_null() {
            // SAFETY: `fetched` is not null, so the caller promises that it is writable.
            unsafe { fetched.write(length) };
        }
        if length == count { code::S_OK } else { code::S_FALSE }
    }

    fn skip(&self, count: u32) -> HRESULT {
        if self.advance(count).len() == count as usize { code::S_OK } else { code::S_FALSE }
    }

    fn reset(&self) -> HRESULT {
        self.at.store(0, Ordering::Relaxed);
        code::S_OK
    }

    fn copy(&self) -> Self {
        Self { all: Arc::clone(&self.all), at: AtomicUsize::new(self.at.load(Ordering::Relaxed)) }
    }
}
