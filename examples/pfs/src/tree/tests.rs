//! Tests that no name leads out of the tree.

use super::*;
use crate::{PFS_CREATE, PFS_READ, PFS_WRITE};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// A test's own directory, with a tree and a secret file beside it.
struct Place(ground::Folder);

impl Place {
    fn new() -> Self {
        let place = ground::Folder::new("pfs");
        fs::create_dir_all(place.join("tree/inner")).unwrap();
        fs::write(place.join("secret"), "outside").unwrap();
        fs::write(place.join("tree/plain"), "inside").unwrap();
        fs::write(place.join("tree/inner/deep"), "deep inside").unwrap();
        Self(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn tree(&self) -> (Tree, i32) {
        let tree = Tree::new(&self.path("tree"), true).unwrap();
        let client = tree.attach().unwrap();
        (tree, client)
    }
}

fn read(tree: &Tree, client: i32, path: &[&str]) -> Result<String> {
    let mut fobj = 0;
    for name in path {
        fobj = tree.lookup(client, fobj, name.as_bytes())?;
    }
    let handle = tree.open(client, fobj, PFS_READ, 0)?;
    let mut bytes = [0; 64];
    let got = tree.read(handle, 0, &mut bytes);
    tree.close(handle)?;
    Ok(String::from_utf8_lossy(&bytes[..got?]).into_owned())
}

#[test]
fn files_inside_are_read() {
    let place = Place::new();
    let (tree, client) = place.tree();
    assert_eq!(read(&tree, client, &["plain"]).unwrap(), "inside");
    assert_eq!(read(&tree, client, &["inner", "deep"]).unwrap(), "deep inside");
    assert_eq!(read(&tree, client, &["inner", "..", "plain"]).unwrap(), "inside");
    assert_eq!(read(&tree, client, &["absent"]), Err(Errno::NOENT));
}

#[test]
fn no_name_leads_out_of_the_tree() {
    let place = Place::new();
    let (tree, client) = place.tree();
    let secret = place.path("secret");
    for name in ["../secret", "/etc/passwd", "inner/../../secret", "", "a\0b", secret.to_str().unwrap()] {
        assert_eq!(tree.lookup(client, 0, name.as_bytes()), Err(Errno::INVAL), "{name}");
    }
    // The parent of the root is the root.
    assert_eq!(tree.lookup(client, 0, b".."), Ok(0));
    assert_eq!(read(&tree, client, &["..", "secret"]), Err(Errno::NOENT));
}

#[test]
fn links_are_followed_inside_only() {
    let place = Place::new();
    symlink("plain", place.path("tree/good")).unwrap();
    symlink("../secret", place.path("tree/up")).unwrap();
    symlink(place.path("secret"), place.path("tree/absolute")).unwrap();
    symlink("..", place.path("tree/inner/out")).unwrap();
    symlink("../..", place.path("tree/inner/far")).unwrap();
    symlink("/proc/self/root", place.path("tree/magic")).unwrap();
    let (tree, client) = place.tree();
    assert_eq!(read(&tree, client, &["good"]).unwrap(), "inside");
    for path in [&["up"][..], &["absolute"], &["inner", "far", "secret"], &["magic", "etc", "passwd"]] {
        assert_eq!(read(&tree, client, path), Err(Errno::XDEV), "{path:?}");
    }
    // The link leads up, but not out of the tree.
    assert_eq!(read(&tree, client, &["inner", "out", "plain"]).unwrap(), "inside");
    let up = tree.lookup(client, 0, b"up").unwrap();
    assert_eq!(tree.readlink(client, up).unwrap().as_c_str(), c"../secret");
}

#[test]
fn a_directory_replaced_by_a_link_does_not_lead_outside() {
    let place = Place::new();
    fs::create_dir(place.path("outer")).unwrap();
    fs::write(place.path("outer/deep"), "outside").unwrap();
    let (tree, client) = place.tree();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                fs::rename(place.path("tree/inner"), place.path("tree/aside")).unwrap();
                symlink(place.path("outer"), place.path("tree/inner")).unwrap();
                fs::remove_file(place.path("tree/inner")).unwrap();
                fs::rename(place.path("tree/aside"), place.path("tree/inner")).unwrap();
            }
        });
        let mut inside = 0;
        for _ in 0..20_000 {
            if let Ok(text) = read(&tree, client, &["inner", "deep"]) {
                assert_eq!(text, "deep inside");
                inside += 1;
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(inside > 0, "the race was never won by the reader");
    });
}

#[test]
fn file_handles_are_checked_per_client() {
    let place = Place::new();
    let (tree, client) = place.tree();
    let fobj = tree.lookup(client, 0, b"plain").unwrap();
    let handle = tree.open(client, fobj, PFS_READ, 0).unwrap();
    tree.close(handle).unwrap();
    assert_eq!(tree.close(handle), Err(Errno::BADF));
    assert_eq!(tree.read(handle, 0, &mut [0; 4]), Err(Errno::BADF));
    assert_eq!(tree.stat(client, 99).err(), Some(Errno::BADF));
    assert_eq!(tree.stat(client, -1).err(), Some(Errno::BADF));
    let other = tree.attach().unwrap();
    assert_eq!(tree.stat(other, fobj).err(), Some(Errno::BADF), "numbers are each client's own");
    let open = tree.open(client, fobj, PFS_READ, 0).unwrap();
    tree.detach(client).unwrap();
    assert_eq!(tree.read(open, 0, &mut [0; 4]), Err(Errno::BADF));
    assert_eq!(tree.lookup(client, 0, b"plain"), Err(Errno::BADF));
}

#[test]
fn a_tree_for_reading_is_not_written() {
    let place = Place::new();
    let tree = Tree::new(&place.path("tree"), false).unwrap();
    let client = tree.attach().unwrap();
    let fobj = tree.lookup(client, 0, b"plain").unwrap();
    assert_eq!(tree.open(client, fobj, PFS_WRITE, 0), Err(Errno::ROFS));
    assert_eq!(tree.create(client, 0, b"new", false, 0o600), Err(Errno::ROFS));
    assert_eq!(tree.unlink(client, 0, b"plain"), Err(Errno::ROFS));
    assert_eq!(tree.rename(client, (0, b"plain"), (0, b"other")), Err(Errno::ROFS));
}

#[test]
fn files_are_created_written_renamed_and_removed() {
    let place = Place::new();
    let (tree, client) = place.tree();
    let directory = tree.create(client, 0, b"made", true, 0o700).unwrap();
    let fobj = tree.create(client, directory, b"file", false, 0o600).unwrap();
    let handle = tree.open(client, fobj, PFS_READ | PFS_WRITE | PFS_CREATE, 0o600).unwrap();
    tree.write(handle, 3, b"hole").unwrap();
    let mut bytes = [9; 16];
    assert_eq!(tree.read(handle, 0, &mut bytes), Ok(7));
    assert_eq!(&bytes[..7], b"\0\0\0hole");
    tree.rename(client, (directory, b"file"), (0, b"moved")).unwrap();
    assert_eq!(fs::read(place.path("tree/moved")).unwrap(), b"\0\0\0hole");
    tree.unlink(client, 0, b"moved").unwrap();
    tree.unlink(client, 0, b"made").unwrap();
    assert!(!place.path("tree/made").exists());
    assert_eq!(fs::read_to_string(place.path("secret")).unwrap(), "outside");
}

#[test]
fn odd_names_and_long_listings_are_served() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    fs::write(place.path("tree").join(OsStr::from_bytes(b"\xff\xfe odd \n")), "odd").unwrap();
    for number in 0..300 {
        fs::write(place.path(&format!("tree/inner/file-{number:03}")), "").unwrap();
    }
    let (tree, client) = place.tree();
    let odd = tree.lookup(client, 0, b"\xff\xfe odd \n").unwrap();
    let handle = tree.open(client, odd, PFS_READ, 0).unwrap();
    assert_eq!(tree.read(handle, 0, &mut [0; 8]), Ok(3));
    let inner = tree.lookup(client, 0, b"inner").unwrap();
    let handle = tree.open(client, inner, PFS_READ, 0).unwrap();
    let mut names = Vec::new();
    loop {
        let part = tree.entries(handle, names.len() as u64, 64).unwrap();
        if part.is_empty() {
            break;
        }
        names.extend(part.into_iter().map(|entry| entry.1));
    }
    assert_eq!(names.len(), 301);
    assert!(names.is_sorted());
}
