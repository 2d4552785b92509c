//! Builds something once for the processes of several tests, and again when its sources have changed.

use ground::Turn;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::time::SystemTime;

/// Has `make` fill the folder `place`, unless that was done since the last change of `inputs` (files, or folders with all that is in them)
/// or of the test itself. Processes that want the same wait for the one that makes it.
///
/// # Panics
///
/// Where `make` does, and where the folder cannot be written to.
pub(crate) fn keep_fresh<R>(place: &Path, inputs: &[&Path], make: impl FnOnce() -> R) {
    fs::create_dir_all(place).expect("the folder for builds can be written to");
    let (folder, name) = (place.parent(), place.file_name().and_then(OsStr::to_str));
    let _turn = Turn::take(folder.expect("it lies in a folder"), name.expect("the folder has a plain name"));
    let stamp = place.with_extension("stamp");
    let test = std::env::current_exe().expect("a test has a path");
    let changed = inputs.iter().copied().chain([test.as_path()]).map(newest).max();
    if fs::metadata(&stamp).and_then(|stamp| stamp.modified()).is_ok_and(|made| Some(made) > changed) {
        return;
    }
    // A failure leaves no stamp. A change while `make` works is later than the stamp.
    let _ = fs::remove_file(&stamp);
    let began = SystemTime::now();
    make();
    let stamp = File::create(stamp).expect("the folder for builds can be written to");
    stamp.set_modified(began).expect("the time of a file can be set");
}

/// When a file, or the last of a folder's, was changed.
fn newest(path: &Path) -> SystemTime {
    let metadata = fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let own = metadata.modified().expect("files have times");
    if !metadata.is_dir() {
        return own;
    }
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    entries.map(|entry| newest(&entry.expect("readable").path())).max().map_or(own, |newest| newest.max(own))
}
