//! The file that is read again and again, and the reading part of the file server.

use crate::Error;
use crate::payload::pattern;
use obvia::{Elements, ElementsMut};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// The handle of the only file.
pub(super) const HANDLE: i32 = 1;
/// The seed of the file's pattern. Other measurements have other seeds.
const SEED: u32 = 0x7265_6164;

/// A file with a pattern, in the folder for temporary files. The drop of the value removes the
/// file, but processes that have opened it can continue to read.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    length: usize,
}

impl Source {
    /// Writes the file. The write also brings the contents into the page cache.
    pub(super) fn create(length: usize) -> Result<Self, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("obvia-{}-bench-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        let contents: Vec<u8> = (0..length.div_ceil(4)).flat_map(|index| pattern(SEED, index).to_le_bytes()).collect();
        let created = File::create_new(&path).map_err(Error::system("making a file to read"))?;
        let source = Self { path, length };
        io::Write::write_all(&mut &created, &contents[..length]).map_err(Error::system("writing a file to read"))?;
        Ok(source)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        // If the removal fails, the file is left over in a folder for temporary files.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The open file of a server.
#[derive(Debug)]
pub(super) struct Files {
    opened: File,
    length: u64,
}

impl Files {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let opened = File::open(path).map_err(Error::system("opening the file to read"))?;
        let length = opened.metadata().map_err(Error::system("asking for the length of the file"))?.len();
        Ok(Self { opened, length })
    }

    /// Returns the number of bytes that a read of `bytes` at the position `pos` yields.
    pub(super) fn left(&self, pos: i64, bytes: usize) -> usize {
        let left = u64::try_from(pos).map_or(0, |pos| self.length.saturating_sub(pos));
        usize::try_from(left).map_or(bytes, |left| left.min(bytes))
    }

    /// Reads at the position `pos`. Returns the number of bytes read, which is less than requested
    /// at the end of the file.
    pub(super) fn read(&self, handle: i32, pos: i64, into: ElementsMut<'_, u8>) -> io::Result<usize> {
        if handle != HANDLE {
            return Err(io::Error::from_raw_os_error(libc::EBADF));
        }
        // SAFETY: the kernel writes at most `into.len()` bytes. No reference to the bytes is made,
        // because other processes may write them, too.
        let done = unsafe { libc::pread(self.opened.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), pos) };
        usize::try_from(done).map_err(|_| io::Error::last_os_error())
    }
}

/// Returns the file's byte at a position.
fn byte_at(pos: usize) -> u8 {
    pattern(SEED, pos / 4).to_le_bytes()[pos % 4]
}

fn expect(pos: usize, found: Option<u8>) -> Result<(), Error> {
    let expected = byte_at(pos);
    match found {
        Some(found) if found == expected => Ok(()),
        Some(found) => {
            Err(Error::Corrupt { what: "a byte of the file", expected: expected.into(), found: found.into() })
        }
        None => Err(Error::Corrupt { what: "the end of a block", expected: pos as u64, found: 0 }),
    }
}

/// The number of bytes at either end of a block that are checked with each read.
const ENDS: usize = 4;

/// Checks the length and both ends of a block.
#[inline]
pub(super) fn check_ends(data: &Elements<'_, u8>, pos: usize, bytes: usize) -> Result<(), Error> {
    if data.len() != bytes {
        return Err(Error::Corrupt { what: "bytes read", expected: bytes as u64, found: data.len() as u64 });
    }
    let ends = (0..ENDS.min(bytes)).chain(bytes.saturating_sub(ENDS)..bytes);
    ends.into_iter().try_for_each(|at| expect(pos + at, data.get(at)))
}

/// Checks every byte of a block.
pub(super) fn check_all(data: &Elements<'_, u8>, pos: usize, bytes: usize) -> Result<(), Error> {
    check_ends(data, pos, bytes)?;
    data.to_vec().into_iter().enumerate().try_for_each(|(at, found)| expect(pos + at, Some(found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_reads_return_the_bytes_of_the_file() {
        let source = Source::create(10_000).unwrap();
        let files = Files::open(source.path()).unwrap();
        let mut block = vec![0; 4096];
        let read = |pos, block: &mut [u8]| files.read(HANDLE, pos, block.into());
        assert_eq!(read(4096, &mut block).unwrap(), 4096);
        check_all(&(&block).into(), 4096, 4096).unwrap();
        assert!(check_ends(&(&block).into(), 0, 4096).is_err(), "another block");
        assert!(check_ends(&block[..4000].into(), 4096, 4096).is_err(), "too short");
        block[2000] ^= 1;
        check_ends(&(&block).into(), 4096, 4096).unwrap();
        assert!(check_all(&(&block).into(), 4096, 4096).is_err(), "a byte in the middle");
        assert_eq!(read(8192, &mut block).unwrap(), 10_000 - 8192);
        assert!(files.read(HANDLE + 1, 0, (&mut block).into()).is_err());
        assert!(read(-1, &mut block).is_err());
    }

    #[test]
    fn the_file_of_the_reread_benchmark_is_removed() {
        let source = Source::create(4).unwrap();
        let path = source.path().to_owned();
        assert!(path.exists());
        drop(source);
        assert!(!path.exists());
    }
}
