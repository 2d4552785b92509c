//! The file systems of this process, from the kernel's list of mounts. Reading the list calls none
//! of the file systems.

use rustix::fd::{AsRawFd, OwnedFd};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// The types of local file systems that the kernel itself implements. They answer at once, unless
/// their device does not: a loop device, or a disk of another host. The file systems below an
/// overlay can be of any type, so overlays are not in the list.
const LOCAL: [&[u8]; 11] =
    [b"bcachefs", b"btrfs", b"erofs", b"ext2", b"ext3", b"ext4", b"f2fs", b"ramfs", b"tmpfs", b"xfs", b"zfs"];
/// The index of the mount point among the fields of a line of `mountinfo`.
const POINT: usize = 4;

/// A mount of this process's namespace.
struct Mount<'a> {
    number: &'a [u8],
    point: PathBuf,
    kind: &'a [u8],
}

impl<'a> Mount<'a> {
    /// Reads a line of `mountinfo`: number, parent, device, root, mount point, options, any number
    /// of optional fields, a hyphen, type, and more. `None` for a line of another form.
    fn of(line: &'a [u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ');
        let number = fields.next()?;
        let point = unescaped(fields.nth(POINT - 1)?);
        fields.find(|field| *field == b"-")?;
        Some(Self { number, point, kind: fields.next()? })
    }

    /// Whether the mount is the root of this process. The process gets its program and its
    /// libraries from the root, so it trusts that file system and waits for it anyway. In
    /// containers without privileges, the root is a fuse-overlayfs.
    fn is_root(&self) -> bool {
        self.point == Path::new("/")
    }

    fn is_in_user_space(&self) -> bool {
        matches!(self.kind, b"fuse" | b"fuseblk") || self.kind.starts_with(b"fuse.")
    }
}

/// Returns the mounts in a list of the form of `mountinfo`.
fn mounts(list: &[u8]) -> impl Iterator<Item = Mount<'_>> {
    list.split(|byte| *byte == b'\n').filter_map(Mount::of)
}

/// Decodes a path in `mountinfo`. The kernel writes spaces, line breaks and backslashes as `\ooo`.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut rest = field;
    let mut path = Vec::with_capacity(field.len());
    while let Some((byte, after)) = rest.split_first() {
        let (byte, after) = match rest {
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..] => {
                ((a & 3) << 6 | (b & 7) << 3 | c & 7, after)
            }
            _ => (*byte, after),
        };
        path.push(byte);
        rest = after;
    }
    OsString::from_vec(path).into()
}

/// Returns a file of `/proc` about this thread, which may have a namespace of mounts of its own;
/// nothing when `/proc` is missing.
fn read(what: &str) -> Vec<u8> {
    std::fs::read(format!("/proc/thread-self/{what}")).unwrap_or_default()
}

/// Whether a file lies on a file system in user space (FUSE) other than this process's root.
/// Returns false when `/proc` is missing.
pub(super) fn is_in_user_space(file: &OwnedFd) -> bool {
    let about = read(&format!("fdinfo/{}", file.as_raw_fd()));
    let number = about.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"mnt_id:"));
    number.is_some_and(|number| is_mount_in_user_space(&read("mountinfo"), number.trim_ascii()))
}

fn is_mount_in_user_space(list: &[u8], number: &[u8]) -> bool {
    mounts(list).any(|mount| mount.number == number && mount.is_in_user_space() && !mount.is_root())
}

/// Whether all file systems on a path, including the one at its end, answer at once. The result
/// holds only if no part of the path is a symbolic link. The function reads the list of mounts and
/// touches no other file.
pub(super) fn is_reached_at_once(path: &Path) -> bool {
    answer_at_once(&read("mountinfo"), path)
}

/// Whether all file systems on a path answer at once, according to a list of mounts. If several
/// mounts have the same mount point, all of them must answer at once, including the hidden ones.
fn answer_at_once(list: &[u8], path: &Path) -> bool {
    let is_plain = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    let mut on_the_way = mounts(list).filter(|mount| path.starts_with(&mount.point)).peekable();
    // For some root directories, such as one set by chroot(2), the list has no mount of the root.
    let is_known = on_the_way.peek().is_some_and(Mount::is_root);
    is_plain && is_known && on_the_way.all(|mount| mount.is_root() || LOCAL.contains(&mount.kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    const LIST: &[u8] = b"\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
28 27 0:38 / /tmp rw,nosuid shared:5 master:1 - tmpfs tmpfs rw
30 28 0:40 / /tmp/a\\040b rw,relatime shared:7 - fuse.sshfs host: rw,user_id=0
31 27 0:41 / /far rw,relatime - nfs4 server:/far rw
32 31 0:42 / /far/own rw,relatime - ext4 /dev/vdb rw
33 27 0:43 / /run rw - tmpfs tmpfs rw
34 33 0:44 / /run/user/0/doc rw - fuse.portal portal rw
35 27 0:45 / /auto rw,relatime - autofs map rw
36 27 0:46 / /disk rw,relatime - fuseblk /dev/sdb1 rw
37 36 0:47 / /disk rw,relatime - tmpfs tmpfs rw
39 27 0:49 / /layers rw,relatime - overlay overlay rw,lowerdir=/far,upperdir=/up,workdir=/work
38 28 0:48 / /tmp/\xff rw,relatime - fuse program rw
";
    /// A container without privileges.
    const CONTAINER: &[u8] = b"\
690 612 0:55 / / rw,nodev,relatime - fuse.fuse-overlayfs fuse-overlayfs rw,user_id=0,group_id=0
691 690 0:58 / /proc rw,nosuid - proc proc rw
692 690 0:59 / /mnt rw,relatime - fuse.sshfs host: rw,user_id=0
";

    fn at_once(path: &str) -> bool {
        answer_at_once(LIST, Path::new(path))
    }

    /// A test of the Java runtime compares its list of local file systems with the same file.
    #[test]
    fn rust_and_java_have_the_same_local_file_systems() {
        let listed = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testing/vectors/mounts/local.txt"));
        assert!(listed.split_whitespace().map(str::as_bytes).eq(LOCAL));
    }

    #[test]
    fn mounts_in_user_space_are_found_by_number() {
        assert!(is_mount_in_user_space(LIST, b"30") && is_mount_in_user_space(LIST, b"36"));
        assert!(is_mount_in_user_space(LIST, b"38"), "whatever bytes its path has");
        for other in ["3", "27", "28", "31", "35", "37", ""] {
            assert!(!is_mount_in_user_space(LIST, other.as_bytes()), "{other}");
        }
        assert!(!is_mount_in_user_space(b"", b"30") && !is_mount_in_user_space(b"30 28 - fuse", b"30"));
    }

    #[test]
    fn container_roots_count_as_local_file_systems() {
        assert!(!is_mount_in_user_space(CONTAINER, b"690") && is_mount_in_user_space(CONTAINER, b"692"));
        assert!(answer_at_once(CONTAINER, Path::new("/tmp/names")));
        assert!(!answer_at_once(CONTAINER, Path::new("/mnt/names")));
    }

    #[test]
    fn every_mount_of_a_path_must_be_local() {
        assert!(at_once("/") && at_once("/names") && at_once("/tmp/names") && at_once("/run/user/0/obvia"));
        assert!(!at_once("/run/user/0/doc") && !at_once("/run/user/0/doc/names"));
        assert!(!at_once("/tmp/a b") && !at_once("/tmp/a b/names"));
        assert!(at_once("/tmp/a") && at_once("/tmp/a bc"), "other folders");
        assert!(!at_once("/far/own/names"), "beyond another host's file system");
        assert!(!at_once("/auto/names") && !at_once("/disk/names") && !at_once("/layers/names"));
        assert!(!answer_at_once(LIST, Path::new(std::ffi::OsStr::from_bytes(b"/tmp/\xff/names"))));
    }

    #[test]
    fn ambiguous_paths_are_not_trusted() {
        assert!(!at_once("names") && !at_once("/run/../tmp/a b"));
        assert!(!answer_at_once(b"", Path::new("/names")));
        assert!(!answer_at_once(b"28 27 0:38 / /tmp rw - tmpfs tmpfs rw\n", Path::new("/tmp/names")));
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn kernel_file_systems_are_not_in_user_space() {
        assert!(!is_in_user_space(&std::fs::File::open("/proc/self").unwrap().into()));
    }
}
