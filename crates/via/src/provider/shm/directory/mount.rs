//! The file system of an open file, as the kernel knows it without calling that file system.

use rustix::fd::{AsRawFd, OwnedFd};

/// Whether a file lies on a file system in user space (FUSE). Returns false when `/proc` is
/// missing.
pub(super) fn is_in_user_space(file: &OwnedFd) -> bool {
    // Each thread may have a namespace of mounts of its own.
    let read = |what: &str| std::fs::read_to_string(format!("/proc/thread-self/{what}")).unwrap_or_default();
    let about = read(&format!("fdinfo/{}", file.as_raw_fd()));
    let Some(number) = about.lines().find_map(|line| line.strip_prefix("mnt_id:")) else { return false };
    let mounts = read("mountinfo");
    let kind = mounts.lines().find_map(|line| kind_of(line, number.trim()));
    kind.is_some_and(|kind| kind == "fuse" || kind == "fuseblk" || kind.starts_with("fuse."))
}

/// Returns the type of the file system from a line of `mountinfo`, if the line describes the mount
/// `number`.
fn kind_of<'a>(line: &'a str, number: &str) -> Option<&'a str> {
    let (mount, system) = line.split_once(" - ")?;
    let is_it = mount.split(' ').next() == Some(number);
    is_it.then(|| system.split(' ').next()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{is_in_user_space, kind_of};

    #[test]
    fn a_mount_is_found_by_its_number() {
        let line = "43 27 0:39 / /tmp/names rw,relatime shared:7 - fuse.sshfs host: rw,user_id=0,group_id=0";
        assert_eq!(kind_of(line, "43"), Some("fuse.sshfs"));
        assert_eq!(kind_of(line, "4"), None);
        assert_eq!(kind_of("", "43"), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn what_the_kernel_keeps_is_not_in_user_space() {
        assert!(!is_in_user_space(&std::fs::File::open("/proc/self").unwrap().into()));
    }
}
