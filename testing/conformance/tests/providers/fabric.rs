//! libfabric's `tcp` and `shm` fulfil the statements of the conformance suite. `docs/fabric.md`
//! lists the features that they lack.

use obvia_conformance::{Fixture, MissingFeature, Side, conformance};
use obvia_via::provider::fabric::{Options, open};
use obvia_via::{Nic, Reliability};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The maximum silence of a peer. A live peer must not count as dead, so the time is longer than
/// any wait of a thread on a busy machine.
const SILENCE: Duration = Duration::from_secs(10);
const UNRELIABLE: MissingFeature = MissingFeature::Level(Reliability::Unreliable);
const RECEPTION: MissingFeature = MissingFeature::Level(Reliability::ReliableReception);

fn nic(options: Options) -> Nic {
    open(&Options { silence: SILENCE, max_transfer: 1 << 20, ..options }).expect("the NIC is opened")
}

/// The provider `tcp` of libfabric, which has connected endpoints. Both ends are on this host.
struct Tcp;

impl Fixture for Tcp {
    const MISSING: &'static [MissingFeature] = &[UNRELIABLE, RECEPTION, MissingFeature::Reasons];
    const SILENCE: Duration = SILENCE;
    const CROSSES_PROCESSES: bool = true;

    fn new() -> Self {
        Self
    }

    fn nic(&self, _: Side) -> Nic {
        nic(Options::new("tcp"))
    }

    fn discriminator(&self) -> String {
        "127.0.0.1:0".to_owned()
    }
}

/// The provider `shm` of libfabric, which has connectionless endpoints. Their names are in a
/// directory. The fixture that [`Fixture::new`] made removes the directory.
struct Shm {
    directory: PathBuf,
    is_owner: bool,
    next: AtomicU32,
}

impl Fixture for Shm {
    const MISSING: &'static [MissingFeature] = &[UNRELIABLE, RECEPTION];
    const SILENCE: Duration = SILENCE;
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
        nic(Options { directory: Some(self.directory.clone()), ..Options::new("shm") })
    }

    fn discriminator(&self) -> String {
        format!("listener-{}", self.next.fetch_add(1, Ordering::Relaxed))
    }
}

impl Drop for Shm {
    fn drop(&mut self) {
        if self.is_owner {
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

conformance!(tcp, Tcp);
conformance!(shm, Shm);
