//! The segments of libfabric's `shm`: files in `/dev/shm`, by which endpoints are named.
//!
//! An introduction over TCP may come from any host and name any segment, and libfabric trusts the
//! content of the segment that it opens. Another user's segment is memory that the other user can
//! write at any time. So only segments of this process's user are opened.

use crate::{Error, Violation};
use rustix::fs::{AtFlags, CWD, FileType, statat};
use std::path::Path;

/// The prefix of the names of `shm`'s endpoints.
const PREFIX: &[u8] = b"fi_shm://";
const FOLDER: &str = "/dev/shm";

/// The identity of a segment's file: device and inode.
pub(super) type Identity = (u64, u64);

/// Returns the segment of an endpoint of this user, by the endpoint's name.
///
/// # Errors
///
/// [`Error::AccessDenied`] for another user's segment, [`Violation::BadGreeting`] when there is no
/// such segment.
pub(super) fn own(name: &[u8]) -> Result<Identity, Error> {
    let nonsense = || Error::Violation(Violation::BadGreeting);
    let text = name.split(|byte| *byte == 0).next().unwrap_or_default();
    // The name has only digits and colons (a process id and two numbers), so the path stays in the
    // folder.
    let is_plain = |file: &&[u8]| !file.is_empty() && file.iter().all(|byte| byte.is_ascii_digit() || *byte == b':');
    let file = text.strip_prefix(PREFIX).filter(is_plain).ok_or_else(nonsense)?;
    let path = Path::new(FOLDER).join(std::str::from_utf8(file).map_err(|_| nonsense())?);
    let found = statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW).map_err(|_| nonsense())?;
    if found.st_uid != rustix::process::geteuid().as_raw() {
        return Err(Error::AccessDenied { uid: found.st_uid });
    }
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(nonsense());
    }
    Ok((found.st_dev, found.st_ino))
}

#[cfg(test)]
mod tests {
    use super::own;
    use crate::{Error, Violation};
    use std::fs;

    /// A segment that is removed at the end of the test.
    struct Segment(String);

    impl Segment {
        fn new(number: u32) -> Self {
            let file = format!("{}:{number}:0", std::process::id());
            fs::write(format!("/dev/shm/{file}"), [0; 64]).unwrap();
            Self(file)
        }

        fn path(&self) -> String {
            format!("/dev/shm/{}", self.0)
        }
    }

    impl Drop for Segment {
        fn drop(&mut self) {
            let _ = fs::remove_file(self.path());
        }
    }

    fn is_nonsense(name: &str) -> bool {
        matches!(own(name.as_bytes()), Err(Error::Violation(Violation::BadGreeting)))
    }

    #[test]
    fn fabric_segments_are_found_by_name() {
        let segment = Segment::new(4_000_001);
        assert!(own(format!("fi_shm://{}\0", segment.0).as_bytes()).is_ok());
        let elsewhere = Segment::new(4_000_002);
        fs::remove_file(elsewhere.path()).unwrap();
        assert!(is_nonsense(&format!("fi_shm://{}", elsewhere.0)));
        std::os::unix::fs::symlink(segment.path(), elsewhere.path()).unwrap();
        assert!(is_nonsense(&format!("fi_shm://{}", elsewhere.0)));
        for name in ["", "fi_shm://", "fi_shm://../shm/1:0:0", "1:0:0", "fi_shm:///etc/passwd", "fi_shm://."] {
            assert!(is_nonsense(name), "{name}");
        }
    }

    #[test]
    fn fabric_segments_of_other_users_are_refused() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: only the superuser makes files of others");
            return;
        }
        let segment = Segment::new(4_000_003);
        std::os::unix::fs::chown(segment.path(), Some(65_534), None).unwrap();
        let name = format!("fi_shm://{}", segment.0);
        assert!(matches!(own(name.as_bytes()), Err(Error::AccessDenied { uid: 65_534 })));
    }
}
