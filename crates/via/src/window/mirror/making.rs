//! Setup of a window: the greetings that the two sides exchange.
//!
//! Private data of the connection, both ways:
//!
//! ```text
//!      0  u32  "OBVW"
//!      4  u32  version, 1
//!      8  u32  slots in a segment
//!     12  u32  flags: 1, the sender will be quiet, so the other side should sleep
//!     16  u64  bytes of area 0
//!     24  16 bytes  memory handle of the image: its first AREA bytes for slots and words, then area 0
//! ```

use super::{AREA_MESSAGE, Mirror, RECEIVES, SendPlace, register_for_peer, unposted};
use crate::connection::Request;
use crate::descriptor::Descriptor;
use crate::layout::{self, AREA, SLOT_COUNT};
use crate::window::{Ends, Mapping, Options, Window};
use crate::{
    Access, Deadline, Error, MemoryHandle, MemoryRegion, Nic, ProtectionTag, Reliability, Vi, ViAttributes, Violation,
    Waiting,
};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

/// "OBVW", little endian.
const MAGIC: u32 = 0x5756_424f;
const VERSION: u32 = 1;
const GREETING: usize = 40;
const QUIET: u32 = 1;

/// Connects to a listener whose owner calls [`accept`].
///
/// # Errors
///
/// As [`Vi::request`]; [`Error::Unsupported`] for a provider without RDMA write;
/// [`Error::Violation`] when the peer's greeting does not belong to a window.
pub fn connect(nic: &Nic, address: &str, options: &Options, deadline: Deadline) -> Result<Window, Error> {
    let mut half = Half::new(nic, options)?;
    let theirs = half.vi.request(address, &half.greeting(options), deadline)?;
    half.finish(&theirs, options)
}

/// Accepts a request that [`connect`] made.
///
/// # Errors
///
/// As [`Request::accept`] and [`connect`].
pub fn accept(nic: &Nic, request: Request, options: &Options, deadline: Deadline) -> Result<Window, Error> {
    let theirs = request.private().to_vec();
    if let Err(error) = Greeting::from_wire(&theirs) {
        request.reject(&error.to_string());
        return Err(error);
    }
    let mut half = Half::new(nic, options)?;
    let greeting = half.greeting(options);
    request.accept(&mut half.vi, &greeting, deadline)?;
    half.finish(&theirs, options)
}

/// The peer's greeting.
struct Greeting {
    quiet: bool,
    area: usize,
    image: MemoryHandle,
}

impl Greeting {
    fn from_wire(bytes: &[u8]) -> Result<Self, Error> {
        let Ok(bytes): Result<&[u8; GREETING], _> = bytes.try_into() else {
            return Err(Violation::BadGreeting.into());
        };
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let area = usize::try_from(u64::from(word(16)) | u64::from(word(20)) << 32).unwrap_or(0);
        let right = word(0) == MAGIC && word(4) == VERSION && word(8) == SLOT_COUNT && word(12) & !QUIET == 0;
        if !right || area == 0 || !area.is_multiple_of(4096) {
            return Err(Violation::BadGreeting.into());
        }
        let mut handle = [0; 16];
        handle.copy_from_slice(&bytes[24..]);
        Ok(Self { quiet: word(12) & QUIET != 0, area, image: MemoryHandle::from_bytes(handle) })
    }
}

/// A window before it is connected.
struct Half {
    nic: Nic,
    vi: Vi,
    tag: ProtectionTag,
    image: MemoryRegion,
    area_messages: MemoryRegion,
}

impl Half {
    fn new(nic: &Nic, options: &Options) -> Result<Self, Error> {
        let tag = nic.protection_tag();
        let reliability = Reliability::ReliableDelivery;
        let attributes = ViAttributes { reliability, waiting: options.waiting, ..ViAttributes::default() };
        let mut vi = nic.vi(attributes, &tag, None, None)?;
        let image = register_for_peer(nic, &tag, nic.memory(AREA + options.area)?)?;
        let area_messages = nic.register(nic.memory((RECEIVES as usize + 3) * AREA_MESSAGE)?, &tag, Access::LOCAL)?;
        for number in 0..RECEIVES {
            let place = u64::from(number) * AREA_MESSAGE as u64;
            let mut receive =
                Descriptor::receive().with_segment(&area_messages, place, AREA_MESSAGE as u32).with_context(place);
            receive.keep_claim();
            vi.receive.post(receive).map_err(|refused| unposted(refused.fault))?;
        }
        Ok(Self { nic: nic.clone(), vi, tag, image, area_messages })
    }

    fn greeting(&self, options: &Options) -> [u8; GREETING] {
        let mut bytes = [0; GREETING];
        let flags = if options.quiet { QUIET } else { 0 };
        for (at, word) in [MAGIC, VERSION, SLOT_COUNT, flags].into_iter().enumerate() {
            bytes[at * 4..at * 4 + 4].copy_from_slice(&word.to_le_bytes());
        }
        bytes[16..24].copy_from_slice(&(options.area as u64).to_le_bytes());
        bytes[24..].copy_from_slice(&self.image.handle().to_bytes());
        bytes
    }

    fn finish(self, theirs: &[u8], options: &Options) -> Result<Window, Error> {
        let theirs = Greeting::from_wire(theirs)?;
        let waiting = if theirs.quiet { Waiting::Block } else { options.waiting };
        let Self { nic, vi, tag, image, area_messages } = self;
        let own_area = options.area.min(theirs.area);
        let segment = nic.register(nic.memory(AREA + own_area)?, &tag, Access::LOCAL)?;
        let Vi { core, ending, .. } = vi;
        // SAFETY: the carrier keeps the region, and is dropped after the mapping.
        let own = unsafe { Mapping::of(segment.memory()) };
        let peer = Mapping::zeroed(AREA)?;
        // Only `carry` transfers messages here, and senders call `carry` only if the flag says that
        // the peer sleeps. So the flag is always set.
        peer.word(layout::SLEEP).store(1, Ordering::Relaxed);
        // SAFETY: the carrier keeps the region, and so the area in it, for as long as the window
        // lives.
        let all = unsafe { Mapping::of(image.memory()) };
        // SAFETY: as above; the image is longer than AREA, which is a multiple of 8.
        let area = unsafe { all.behind(AREA) };
        let (peer_address, local) = (core.peer(), core.local());
        let carrier = Mirror {
            nic,
            tag,
            peer: host_of(&peer_address).to_owned(),
            local: local.map(|address| host_of(&address).to_owned()),
            grant: OnceLock::new(),
            max_transfer: core.max_transfer(),
            rings: AtomicU32::new(0),
            is_abandoned: AtomicBool::new(false),
            segment,
            their_image: theirs.image,
            image,
            next: AtomicU32::new(1),
            area_messages,
            send_place: Mutex::new(SendPlace { number: 0, region: None, handle: theirs.image }),
            areas: Mutex::default(),
            core,
            _ending: ending,
        };
        let ends = Ends { own, peer, area: Some(area), carrier: Box::new(carrier) };
        Ok(Window::new(ends, true, &Options { waiting, ..options.clone() }))
    }
}

/// Returns the host of an address, without the brackets of IPv6.
fn host_of(address: &str) -> &str {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}
