//! Builds that the processes of several tests share, repeated after changes of their sources.

use ground::Turn;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Runs `make` to fill the folder `place`, unless `make` has run since the last change of `inputs`,
/// which are files or whole folders. Other processes wait while one runs `make` for the same
/// folder.
///
/// # Panics
///
/// Panics if `make` does, or if the folder cannot be written to.
pub(crate) fn keep_fresh<R>(place: &Path, inputs: &[&Path], make: impl FnOnce() -> R) {
    let folder = place.parent().expect("it lies in a folder");
    fs::create_dir_all(folder).expect("the folder for builds can be written to");
    let name = place.file_name().and_then(OsStr::to_str);
    let _turn = Turn::take(folder, name.expect("the folder has a plain name"));
    fs::create_dir_all(place).expect("the folder for builds can be written to");
    let stamp = place.with_extension("stamp");
    let changed = inputs.iter().copied().map(newest).max();
    if fs::metadata(&stamp).and_then(|stamp| stamp.modified()).is_ok_and(|made| Some(made) > changed) {
        return;
    }
    // If `make` fails, it leaves no stamp. The stamp has the time at which `make` began, so that
    // changes during `make` count.
    let _ = fs::remove_file(&stamp);
    let began = SystemTime::now();
    make();
    let stamp = File::create(stamp).expect("the folder for builds can be written to");
    stamp.set_modified(began).expect("the time of a file can be set");
}

/// Returns the path of the running test program. The program is an input of builds whose code the
/// test generates.
pub(crate) fn test() -> PathBuf {
    std::env::current_exe().expect("a test has a path")
}

/// Returns the time of the last change of a file, or of the files in a folder.
fn newest(path: &Path) -> SystemTime {
    let metadata = fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let own = metadata.modified().expect("files have times");
    if !metadata.is_dir() {
        return own;
    }
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    entries.map(|entry| newest(&entry.expect("readable").path())).max().map_or(own, |newest| newest.max(own))
}
