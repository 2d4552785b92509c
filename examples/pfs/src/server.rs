//! The object that serves a tree.

use crate::tree::Tree;
use crate::{IPfs, IPfs_Impl, PFS_ENTRY, PFS_KIND, PFS_NAME_MAX, PFS_STAT, PFS_TRANSFER_MAX};
use obvia::HRESULT;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::ffi::CString;

/// The facility of HRESULTs that carry an error number of the operating system.
const FACILITY_ERRNO: u32 = 0x0a5;

/// The maximum number of entries of a directory that one call returns.
const ENTRIES_MAX: usize = 4096;

/// Converts an error number to an HRESULT.
pub fn hresult(errno: Errno) -> HRESULT {
    HRESULT((0xa000_0000 | FACILITY_ERRNO << 16 | errno.raw_os_error().cast_unsigned() & 0xffff).cast_signed())
}

/// Returns the error number in an HRESULT, if there is one.
pub fn errno(result: HRESULT) -> Option<Errno> {
    let bits = result.0.cast_unsigned();
    (bits >> 16 == 0xa000 | FACILITY_ERRNO).then(|| Errno::from_raw_os_error((bits & 0xffff).cast_signed()))
}

fn failed(errno: Errno) -> obvia::Error {
    obvia::Error::from(hresult(errno))
}

/// Returns the kind of a file.
fn kind(kind: FileType) -> PFS_KIND {
    match kind {
        FileType::RegularFile => PFS_KIND::PFS_FILE,
        FileType::Directory => PFS_KIND::PFS_DIRECTORY,
        FileType::Symlink => PFS_KIND::PFS_LINK,
        _ => PFS_KIND::PFS_OTHER,
    }
}

/// A tree as an object.
#[obvia::object(IPfs)]
pub struct Pfs(pub Tree);

impl IPfs_Impl for Pfs_Impl {
    fn pfs_attach(&self) -> obvia::Result<i32> {
        self.0.attach().map_err(failed)
    }

    fn pfs_detach(&self, client: i32) -> obvia::Result<()> {
        self.0.detach(client).map_err(failed)
    }

    fn pfs_lookup(&self, client: i32, directory: i32, name: &[u8]) -> obvia::Result<i32> {
        self.0.lookup(client, directory, name).map_err(failed)
    }

    fn pfs_open(&self, client: i32, fobj: i32, flags: i32, mode: i32) -> obvia::Result<i32> {
        self.0.open(client, fobj, flags, mode).map_err(failed)
    }

    fn pfs_close(&self, handle: i32) -> obvia::Result<()> {
        self.0.close(handle).map_err(failed)
    }

    fn pfs_read(&self, handle: i32, pos: &mut i64, data: &mut [u8]) -> obvia::Result<u32> {
        let at = u64::try_from(*pos).map_err(|_| failed(Errno::INVAL))?;
        if data.len() > PFS_TRANSFER_MAX as usize {
            return Err(failed(Errno::INVAL));
        }
        let got = self.0.read(handle, at, data).map_err(failed)?;
        *pos += got as i64;
        Ok(got as u32)
    }

    fn pfs_write(&self, handle: i32, pos: &mut i64, data: &[u8]) -> obvia::Result<()> {
        let at = u64::try_from(*pos).map_err(|_| failed(Errno::INVAL))?;
        self.0.write(handle, at, data).map_err(failed)?;
        *pos += data.len() as i64;
        Ok(())
    }

    fn pfs_get_direntries(&self, handle: i32, pos: &mut i64, data: &mut [PFS_ENTRY]) -> obvia::Result<u32> {
        let from = u64::try_from(*pos).map_err(|_| failed(Errno::INVAL))?;
        let entries = self.0.entries(handle, from, data.len().min(ENTRIES_MAX)).map_err(failed)?;
        for (entry, (found, name)) in data.iter_mut().zip(&entries) {
            let mut bytes = [0; PFS_NAME_MAX as usize];
            let length = name.as_bytes().len().min(bytes.len());
            bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
            *entry = PFS_ENTRY { kind: kind(*found), length: length as u32, name: bytes };
        }
        *pos += entries.len() as i64;
        Ok(entries.len() as u32)
    }

    fn pfs_stat(&self, client: i32, fobj: i32) -> obvia::Result<PFS_STAT> {
        let stat = self.0.stat(client, fobj).map_err(failed)?;
        Ok(PFS_STAT {
            kind: kind(FileType::from_raw_mode(stat.st_mode)),
            mode: stat.st_mode & 0o7777,
            size: stat.st_size.cast_unsigned(),
            modified: stat.st_mtime,
        })
    }

    fn pfs_readlink(&self, client: i32, fobj: i32) -> obvia::Result<CString> {
        self.0.readlink(client, fobj).map_err(failed)
    }

    fn pfs_create(&self, client: i32, directory: i32, name: &[u8], kind: PFS_KIND, mode: u32) -> obvia::Result<i32> {
        let is_directory = match kind {
            PFS_KIND::PFS_DIRECTORY => true,
            PFS_KIND::PFS_FILE => false,
            _ => return Err(failed(Errno::INVAL)),
        };
        self.0.create(client, directory, name, is_directory, mode).map_err(failed)
    }

    fn pfs_unlink(&self, client: i32, directory: i32, name: &[u8]) -> obvia::Result<()> {
        self.0.unlink(client, directory, name).map_err(failed)
    }

    fn pfs_rename(&self, client: i32, from: i32, from_name: &[u8], to: i32, to_name: &[u8]) -> obvia::Result<()> {
        self.0.rename(client, (from, from_name), (to, to_name)).map_err(failed)
    }
}
