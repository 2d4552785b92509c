//! Fuzzes the reader of type libraries: an accepted library can be shown, and survives a round
//! trip.

use obvia_idl::typelib::{idl, read, write};

pub fn run(bytes: &[u8]) {
    let Ok(library) = read(bytes) else { return };
    idl(&library);
    // The comparison is of the second and third files: the first output merges names that differ in
    // case only, and may be refused as too large.
    if let Ok(written) = write(&library)
        && let Ok(again) = read(&written)
    {
        assert_eq!(write(&again), Ok(written));
    }
}
