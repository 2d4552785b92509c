//! The folder of a run's sockets, and the removal of the files of ended runs.

use obvia_bench::Error;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

/// The beginning of the names of all files and folders that a run makes. The number of the run's
/// process follows. Names of iceoryx2's files in shared memory continue with an underscore.
const NAME: &str = "obvia-peers-";
const SHARED_MEMORY: &str = "/dev/shm";

/// The folder of a run's sockets. The drop of the value removes all that the run has made.
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Makes the folder of this run. Removes the files of runs that were killed.
    pub(crate) fn new() -> Result<Self, Error> {
        clear();
        let folder = env::temp_dir().join(format!("{NAME}{}", process::id()));
        fs::create_dir(&folder).map_err(Error::system("making a folder for sockets"))?;
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        clear();
    }
}

/// Removes the folders and files of this run, and those of runs whose process has ended.
fn clear() {
    let folders = [env::temp_dir(), PathBuf::from(SHARED_MEMORY)];
    for file in folders.iter().flat_map(fs::read_dir).flatten().flatten() {
        let Some(run) = file.file_name().to_str().and_then(run) else { continue };
        if run == process::id() || !Path::new("/proc").join(run.to_string()).exists() {
            // Files of other users stay.
            let _ = fs::remove_dir_all(file.path()).or_else(|_| fs::remove_file(file.path()));
        }
    }
}

/// Returns the number of the process in the name of a file.
fn run(name: &str) -> Option<u32> {
    name.strip_prefix(NAME)?.split('_').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::run;

    #[test]
    fn names_of_files_have_the_number_of_their_run() {
        assert_eq!(run("obvia-peers-52"), Some(52));
        assert_eq!(run("obvia-peers-52_5503.data"), Some(52));
        for other in ["obvia-peers-", "obvia-peers-52x", "obvia-52", "iox2_52"] {
            assert_eq!(run(other), None, "{other}");
        }
    }
}
