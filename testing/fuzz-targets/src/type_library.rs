//! Feeds bytes to the reader of type libraries: what it takes can be shown, and what can be written of it is written the same again.

use obvia_idl::typelib::{idl, read, write};

pub fn run(bytes: &[u8]) {
    let Ok(library) = read(bytes) else { return };
    idl(&library);
    // Names that differ in case only have become one, and what was said too often for a smaller file is refused.
    if let Ok(written) = write(&library)
        && let Ok(again) = read(&written)
    {
        assert_eq!(write(&again), Ok(written));
    }
}
