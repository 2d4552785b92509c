//! Removes the files that killed test runs have left behind in temporary folders and in shared
//! memory.
//!
//! The names of tests' files contain the process identifier, such as `obvia-417-cli-0` and
//! `obvia-xtask-417-0`. libfabric's files have names like `417:0:1`. A file is a leftover if its
//! process no longer exists.

use std::fs;
use std::path::Path;

/// Removes all leftovers.
pub(crate) fn sweep() {
    for folder in [std::env::temp_dir().as_path(), Path::new("/dev/shm")] {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries {
            let is_left = entry.file_name().to_str().and_then(maker).is_some_and(|process| !is_running(process));
            if !is_left {
                continue;
            }
            let path = entry.path();
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            if let Err(error) = removed {
                println!("    {} is left of an earlier run and cannot be removed: {error}", path.display());
            }
        }
    }
}

/// Returns the identifier of the process that created the file `name`: the first number in the
/// name. The name `obvia-1000` has none, because it is the directory of a user's exported names.
fn maker(name: &str) -> Option<u32> {
    // Segments of the Java runtime have names that begin with a dot.
    let name = name.strip_prefix('.').unwrap_or(name);
    let Some(rest) = name.strip_prefix("obvia-") else {
        let numbers: Vec<u32> = name.split(':').map_while(|part| part.parse().ok()).collect();
        return (numbers.len() == 3 && name.split(':').count() == 3).then(|| numbers[0]);
    };
    let parts: Vec<&str> = rest.split('-').collect();
    let named = parts.iter().find_map(|part| part.parse().ok());
    named.filter(|_| parts.len() > 1)
}

fn is_running(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use super::maker;

    #[test]
    fn names_of_leftover_files_identify_their_process() {
        assert_eq!(maker("obvia-xtask-417-0"), Some(417));
        assert_eq!(maker("obvia-417-cli-3"), Some(417));
        assert_eq!(maker(".obvia-417-15547f58"), Some(417));
        assert_eq!(maker("417:0:1"), Some(417));
        assert_eq!(maker("417:0"), None);
        assert_eq!(maker("obvia-417"), None, "a user's directory of names");
        assert_eq!(maker("obvia-names"), None);
        assert_eq!(maker("other-417"), None);
        assert_eq!(maker("obvia-shm-99999999999"), None);
    }
}
