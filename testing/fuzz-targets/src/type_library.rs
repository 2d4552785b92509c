//! Fuzzes the reader of type libraries: an accepted library can be shown, and survives a round
//! trip.

use obvia_idl::typelib::{idl, read, write};

pub fn run(bytes: &[u8]) {
    let Ok(library) = read(bytes) else { return };
    idl(&library);
    // The second output is compared with the first one, not with the input, because writing merges
    // names that differ in case only. The reader may refuse the first output as too large.
    if let Ok(written) = write(&library)
        && let Ok(again) = read(&written)
    {
        assert_eq!(write(&again), Ok(written));
    }
}
