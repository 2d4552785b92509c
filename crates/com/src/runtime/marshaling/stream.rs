//! A stream in memory for marshalers.

use super::interfaces::{ISequentialStream_Impl, IStream, IStream_Impl};
use crate::types::error::code;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};
use windows_core::HRESULT;

/// The error of a seek to before the beginning (STG_E_INVALIDFUNCTION).
const INVALID_FUNCTION: HRESULT = HRESULT(0x8003_0001_u32.cast_signed());
/// The error of a write beyond the greatest length (STG_E_MEDIUMFULL).
const MEDIUM_FULL: HRESULT = HRESULT(0x8003_0070_u32.cast_signed());

#[derive(Default)]
struct Content {
    bytes: Vec<u8>,
    // The position. Invariant: `at` is not greater than the length.
    at: usize,
}

/// A stream in memory with a greatest length.
#[obvia::object(IStream)]
pub(super) struct Memory {
    content: Mutex<Content>,
    max: usize,
}

impl Memory {
    /// Makes a stream over these bytes, for reading.
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        Self { max: bytes.len(), content: Mutex::new(Content { bytes, at: 0 }) }
    }

    /// Makes an empty stream with a greatest length.
    pub(super) fn with_room(max: usize) -> Self {
        Self { max, content: Mutex::default() }
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the written bytes out of the stream.
    pub(super) fn take_bytes(&self) -> Vec<u8> {
        std::mem::take(&mut *self.content()).bytes
    }
}

/// Stores an optional result.
///
/// # Safety
///
/// `to` must be null or writable.
unsafe fn tell<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: the pointer is not null, so the caller promises that it is writable.
        unsafe { to.write(value) };
    }
}

impl ISequentialStream_Impl for Memory_Impl {
    unsafe fn Read(&self, to: *mut c_void, count: u32, read: *mut u32) -> HRESULT {
        let mut content = self.content();
        let Content { bytes, at } = &mut *content;
        let part = &bytes[*at..];
        let part = &part[..part.len().min(count as usize)];
        if to.is_null() && !part.is_empty() {
            return code::E_POINTER;
        }
        if !part.is_empty() {
            // SAFETY: by the contract of Read there is room for `count` bytes, and the part is no
            // longer than that.
            unsafe { to.cast::<u8>().copy_from_nonoverlapping(part.as_ptr(), part.len()) };
        }
        let length = part.len() as u32;
        *at += part.len();
        // SAFETY: by the contract of Read, `read` is null or writable.
        unsafe { tell(read, length) };
        if length == count { code::S_OK } else { code::S_FALSE }
    }

    unsafe fn Write(&self, from: *const c_void, count: u32, written: *mut u32) -> HRESULT {
        if from.is_null() && count > 0 {
            return code::E_POINTER;
        }
        // SAFETY: by the contract of Write there are `count` bytes.
        let bytes = unsafe { crate::types::memory::slice(from.cast::<u8>(), count as usize) };
        let mut content = self.content();
        let end = content.at + bytes.len();
        if end > self.max {
            return MEDIUM_FULL;
        }
        let (at, length) = (content.at, content.bytes.len());
        content.bytes.resize(length.max(end), 0);
        content.bytes[at..end].copy_from_slice(bytes);
        content.at = end;
        // SAFETY: by the contract of Write, `written` is null or writable.
        unsafe { tell(written, count) };
        code::S_OK
    }
}

impl IStream_Impl for Memory_Impl {
    unsafe fn Seek(&self, by: i64, from: u32, place: *mut u64) -> HRESULT {
        let mut content = self.content();
        let from = match from {
            0 => 0,
            1 => content.at,
            2 => content.bytes.len(),
            _ => return INVALID_FUNCTION,
        };
        let to = i64::try_from(from).ok().and_then(|from| from.checked_add(by)).and_then(|to| usize::try_from(to).ok());
        // Positions after the end are not supported.
        let Some(to) = to.filter(|&to| to <= content.bytes.len()) else { return INVALID_FUNCTION };
        content.at = to;
        // SAFETY: by the contract of Seek, `place` is null or writable.
        unsafe { tell(place, to as u64) };
        code::S_OK
    }

    unsafe fn SetSize(&self, size: u64) -> HRESULT {
        let Some(size) = usize::try_from(size).ok().filter(|&size| size <= self.max) else { return MEDIUM_FULL };
        let mut content = self.content();
        content.bytes.resize(size, 0);
        content.at = content.at.min(size);
        code::S_OK
    }

    unsafe fn CopyTo(&self, _: *mut c_void, _: u64, _: *mut u64, _: *mut u64) -> HRESULT {
        code::E_NOTIMPL
    }

    unsafe fn Commit(&self, _: u32) -> HRESULT {
        code::S_OK
    }

    unsafe fn Revert(&self) -> HRESULT {
        code::S_OK
    }

    unsafe fn LockRegion(&self, _: u64, _: u64, _: u32) -> HRESULT {
        INVALID_FUNCTION
    }

    unsafe fn UnlockRegion(&self, _: u64, _: u64, _: u32) -> HRESULT {
        INVALID_FUNCTION
    }

    unsafe fn Stat(&self, _: *mut c_void, _: u32) -> HRESULT {
        code::E_NOTIMPL
    }

    unsafe fn Clone(&self, _: *mut *mut c_void) -> HRESULT {
        code::E_NOTIMPL
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::marshaling::ISequentialStream;
    use windows_core::{ComObject, Interface as _};

    #[test]
    #[cfg_attr(miri, ignore = "windows-core derives interface pointers from `&self`")]
    fn memory_streams_return_the_written_bytes() {
        let memory = ComObject::new(Memory::with_room(8));
        let stream: IStream = memory.to_interface();
        let stream: ISequentialStream = stream.cast().unwrap();
        let mut count = 0;
        // SAFETY: the bytes and their number are valid, and there is room for the count.
        let result = unsafe { stream.Write(b"abcdef".as_ptr().cast(), 6, &mut count) };
        assert_eq!((result, count), (code::S_OK, 6));
        // SAFETY: the bytes and their number are valid, and there is room for the count.
        assert_eq!(unsafe { stream.Write(b"ghi".as_ptr().cast(), 3, &mut count) }, MEDIUM_FULL);
        let whole: IStream = stream.cast().unwrap();
        let mut place = 0;
        // SAFETY: there is room for the new position.
        assert_eq!(unsafe { whole.Seek(-2, 2, &mut place) }, code::S_OK);
        assert_eq!(place, 4);
        for (by, from) in [(-1, 0), (7, 0), (i64::MAX, 1), (3, 2), (0, 3)] {
            // SAFETY: there is room for the new position.
            assert_eq!(unsafe { whole.Seek(by, from, &mut place) }, INVALID_FUNCTION, "{by} from {from}");
        }
        let mut bytes = [0_u8; 4];
        // SAFETY: there is room for four bytes.
        let result = unsafe { stream.Read(bytes.as_mut_ptr().cast(), 4, &mut count) };
        assert_eq!((result, count, &bytes), (code::S_FALSE, 2, b"ef\0\0"));
        assert_eq!(memory.take_bytes(), b"abcdef");
    }
}
