//! VIs over shared memory fulfil the statements of the conformance suite, with rings of the default
//! size and with the smallest rings.

use obvia_conformance::{Fixture, MissingFeature, Side, conformance};
use obvia_via::Nic;
use obvia_via::provider::shm::{Directory, NicOptions, open};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A directory for names. The fixture that [`Fixture::new`] made removes the directory.
struct Shm<const TINY: bool> {
    directory: PathBuf,
    is_owner: bool,
    next: AtomicU32,
}

impl<const TINY: bool> Fixture for Shm<TINY> {
    const MISSING: &'static [MissingFeature] = &[];
    // A peer notices at once when the connection's socket is closed.
    const SILENCE: Duration = Duration::from_millis(200);
    const CROSSES_PROCESSES: bool = true;

    fn new() -> Self {
        let directory = std::env::temp_dir().join(ground::fresh_name("conformance"));
        Self { directory, is_owner: true, next: AtomicU32::new(0) }
    }

    fn place(&self) -> String {
        self.directory.to_str().expect("the directory has a plain name").to_owned()
    }

    fn at(place: &str) -> Self {
        Self { directory: place.into(), is_owner: false, next: AtomicU32::new(0) }
    }

    fn nic(&self, _: Side) -> Nic {
        let directory = Some(Directory::at(&self.directory).expect("the directory is ours"));
        let usual = NicOptions { directory, ..NicOptions::default() };
        let options = if TINY { NicOptions { slots: 2, area: 1, max_transfer: 1 << 20, ..usual } } else { usual };
        open(&options).expect("the NIC is opened")
    }

    fn discriminator(&self) -> String {
        format!("listener-{}", self.next.fetch_add(1, Ordering::Relaxed))
    }
}

impl<const TINY: bool> Drop for Shm<TINY> {
    fn drop(&mut self) {
        if self.is_owner {
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

conformance!(usual, Shm<false>);
conformance!(tiny, Shm<true>);
