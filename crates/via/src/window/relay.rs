//! Relayed windows: a layer above carries the messages, over protocols that have no memory in
//! common.
//!
//! Both segments are private memory. Each published message is passed to the [`Relay`] at once, and
//! then counts as taken by the peer. A message from the relay is written into the image of the
//! peer's segment, the first word of its slot last. The halves of the window, and all layers above,
//! are the same as over shared memory.

use super::area::area_max;
use super::{Carrier, Ends, Mapping, Options, Peer, Window, Wire};
use crate::layout::{self, AREA, AREA_ALIGN, CONSUMED, INLINE_MAX, SLOT_FRAME, slot_offset};
use crate::sync::lock;
use crate::{Error, Header, Kind, Violation};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The transport of a window's messages in both directions.
///
/// One thread may send while another receives. At most one thread at a time sends, and at most one
/// receives.
pub trait Relay: Send + Sync + fmt::Debug {
    /// Sends a message to the peer. May wait until the peer reads, but must give up in limited
    /// time, because the caller passes no deadline.
    ///
    /// # Errors
    ///
    /// When the message cannot be sent. The connection is over then.
    fn send(&self, message: Outgoing<'_>) -> Result<(), Error>;
    /// Puts the next message of the peer into the inbox, if the message arrives within `span`. With
    /// a `span` of zero, does not wait.
    ///
    /// May return early without a message: the caller calls again.
    ///
    /// # Errors
    ///
    /// When no message can arrive any more, or the peer broke the rules.
    fn receive(&self, inbox: &mut Inbox<'_>, span: Duration) -> Result<(), Error>;
    /// Ends the current or the next [`Self::receive`] that waits. Any thread may call this
    /// function.
    fn wake(&self);
    /// Fails when the relay knows that the connection has ended. Called often.
    ///
    /// # Errors
    ///
    /// The reason why the connection has ended.
    fn check(&self) -> Result<(), Error>;
    /// Whether the connection has ended, even if no thread receives. Called seldom.
    fn has_ended(&self) -> bool {
        self.check().is_err()
    }
    /// Returns the peer.
    fn peer(&self) -> Peer;
    /// Returns the local host, by the address at which the peer reaches it over a network. `None`
    /// if no network is involved.
    fn local(&self) -> Option<&str> {
        None
    }
    /// Ends the connection from this side.
    fn end(&self);
}

/// A message for the relay to send.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// The sequence number. The answer to a request has this number as its call id.
    pub sequence: u32,
    /// The header's words.
    pub header: Header,
    /// The frame.
    pub frame: &'a [u8],
}

/// The room for the peer's next message in the image of its segment.
#[derive(Debug)]
pub struct Inbox<'a> {
    place: &'a mut ReceivePlace,
    wire: &'a Wire,
    limit: usize,
    is_full: bool,
}

impl Inbox<'_> {
    /// Returns the sequence number of the next message. The answer to a request has this number as
    /// its call id.
    pub fn sequence(&self) -> u32 {
        self.place.next
    }

    /// Returns the maximum length of a frame, in bytes.
    pub fn frame_max(&self) -> usize {
        self.limit
    }

    /// Gives memory of earlier messages back to the system. No code may use these messages any
    /// more. After this call, a peer that is silent after a long message occupies little memory.
    pub fn discard(&mut self) {
        if std::mem::take(&mut self.place.used) > KEPT {
            self.place.area.discard(KEPT);
        }
    }

    /// Puts a message into the inbox.
    ///
    /// # Errors
    ///
    /// [`Error::TooLong`] for a frame over the window's limit; [`Error::BadState`] when the inbox
    /// is full.
    pub fn put(&mut self, header: Header, frame: &[u8]) -> Result<(), Error> {
        if self.is_full {
            return Err(Error::BadState { what: "the relay's inbox already holds a message" });
        }
        if frame.len() > self.limit {
            return Err(Error::TooLong { length: frame.len() as u64, limit: self.limit as u64 });
        }
        let sequence = self.place.next;
        let slot = slot_offset(sequence);
        let length = if frame.len() <= INLINE_MAX {
            store(&self.wire.peer, slot + SLOT_FRAME, frame);
            frame.len() as u8
        } else {
            let number = self.place.put(frame, self.limit)?;
            for (at, word) in [number, 0, frame.len() as u32].into_iter().enumerate() {
                self.wire.peer.word(slot + SLOT_FRAME + at * 4).store(word, Ordering::Relaxed);
            }
            layout::IN_AREA
        };
        let first = header.leading_word(sequence, length);
        self.wire.peer.word64(slot + 8).store(header.target_word(), Ordering::Relaxed);
        // The first word is stored last, because it publishes the message.
        self.wire.peer.word64(slot).store(first, Ordering::Release);
        self.place.next = sequence.wrapping_add(1);
        self.is_full = true;
        Ok(())
    }
}

/// The number of bytes of an area that stay in memory after a message, for the next message: a
/// mebibyte of elements, and 64 KiB for the other data of their frame.
const KEPT: usize = (1 << 20) + (64 << 10);

/// Writes bytes of a message that is not published yet. The memory is private to this process.
fn store(into: &Mapping, at: usize, bytes: &[u8]) {
    let written = into.store(at, bytes);
    debug_assert!(written.is_some(), "messages lie inside");
}

/// The area for the peer's frames that do not fit a slot. Each frame begins at the area's start,
/// because the area holds only one message at a time.
#[derive(Debug)]
struct ReceivePlace {
    // The sequence number of the next message.
    next: u32,
    number: u32,
    area: Mapping,
    /// The length, in bytes, of the longest frame in the area since memory of the area was last
    /// given back to the system.
    used: usize,
}

impl ReceivePlace {
    /// Writes a frame, into a larger area where necessary. Returns the area's number.
    fn put(&mut self, frame: &[u8], limit: usize) -> Result<u32, Error> {
        if frame.len() > self.area.length() {
            let size = frame.len().next_power_of_two().clamp(AREA, area_max(limit));
            self.area = Mapping::zeroed(size)?;
            self.number = self.number.wrapping_add(1);
        }
        store(&self.area, 0, frame);
        self.used = self.used.max(frame.len());
        Ok(self.number)
    }
}

/// The carrier of a relayed window.
#[derive(Debug)]
struct Relayed {
    relay: Box<dyn Relay>,
    limit: usize,
    received: Mutex<ReceivePlace>,
    // The area for frames to send; `None` for area 0. The sending half uses the area through a
    // second mapping.
    sent: Mutex<Option<Mapping>>,
}

impl Relayed {
    fn receive(&self, wire: &Wire, span: Duration) -> Result<(), Error> {
        let mut place = lock(&self.received);
        let mut inbox = Inbox { place: &mut place, wire, limit: self.limit, is_full: false };
        self.relay.receive(&mut inbox, span)
    }

    /// Sends the message in a slot of the own segment.
    fn send(&self, wire: &Wire, slot: usize) -> Result<(), Error> {
        let word = |at: usize| wire.own.word(slot + at).load(Ordering::Relaxed);
        let (sequence, second) = (word(0), word(4));
        let (kind, length) = ((second >> 16) as u8, second >> 24);
        let kind = Kind::from_wire(kind).ok_or(Violation::BadKind(kind))?;
        let header = Header { kind, opnum: second as u16, first: word(8), second: word(12) };
        let sent = lock(&self.sent);
        let (memory, at, length) = if length == u32::from(layout::IN_AREA) {
            let [number, offset, length] = [0, 4, 8].map(|at| word(SLOT_FRAME + at));
            match &*sent {
                Some(area) if number > 0 => (area, offset as usize, length as usize),
                _ => (&wire.own, AREA + offset as usize, length as usize),
            }
        } else {
            (&wire.own, slot + SLOT_FRAME, length as usize)
        };
        // SAFETY: the bytes are own memory. Only the sending half writes them, and that half waits
        // for this function.
        let frame = unsafe { memory.bytes(at, length) };
        self.relay.send(Outgoing { sequence, header, frame: frame.ok_or(Violation::ShortSegment)? })?;
        if let Some(area) = sent.as_ref().filter(|_| at + length > KEPT) {
            area.discard(KEPT);
        }
        // The relay has taken the message, so its slot is free.
        wire.peer.word(CONSUMED).store(sequence, Ordering::Release);
        Ok(())
    }
}

impl Carrier for Relayed {
    fn is_relayed(&self) -> bool {
        true
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn carry(&self, wire: &Wire, slot: usize) {
        if self.send(wire, slot).is_err() {
            wire.close();
        }
    }

    fn carry_credit(&self, _: &Wire) {}

    fn fetch(&self, wire: &Wire) -> Result<(), Error> {
        self.receive(wire, Duration::ZERO)
    }

    fn fetch_credit(&self, _: &Wire) -> Result<(), Error> {
        Ok(())
    }

    fn prepare_sleep(&self, _: &Wire) -> u32 {
        0
    }

    fn sleep(&self, wire: &Wire, _: u32, span: Duration) -> Result<(), Error> {
        self.receive(wire, span)
    }

    fn end_sleep(&self, _: &Wire) {}

    fn wake(&self, _: &Wire) {
        self.relay.wake();
    }

    fn make_area(&self, _: &Wire, _: u32, length: usize) -> Result<Mapping, Error> {
        let area = Mapping::zeroed(length)?;
        // SAFETY: `sent` keeps the area until the next area replaces it. From that time on,
        // `SendArea` does not use this mapping, but the mapping of the next area.
        let mapping = unsafe { area.behind(0) };
        *lock(&self.sent) = Some(area);
        Ok(mapping)
    }

    fn take_area(&self, number: u32, _: usize) -> Result<Mapping, Error> {
        let place = lock(&self.received);
        // For the number of an earlier area, this function returns the current area: no message
        // lies in an earlier area any more.
        if number.wrapping_sub(place.number).cast_signed() > 0 {
            return Err(Violation::UnknownArea(number).into());
        }
        // SAFETY: `received` keeps the area until a longer frame needs a larger area. From that
        // time on, `ReceiveArea` does not use this mapping: the message of that frame names the new
        // area, and `ReceiveArea` replaces this mapping before it reads the frame.
        Ok(unsafe { place.area.behind(0) })
    }

    fn check(&self) -> Result<(), Error> {
        self.relay.check()
    }

    fn has_ended(&self) -> bool {
        self.relay.has_ended()
    }

    fn peer(&self) -> Peer {
        self.relay.peer()
    }

    fn local(&self) -> Option<&str> {
        self.relay.local()
    }

    fn end(&self, _: &Wire) {
        self.relay.end();
    }
}

/// Makes a window whose messages the relay carries.
///
/// # Errors
///
/// An error of the system if there is no memory left.
pub fn relayed(relay: Box<dyn Relay>, options: &Options) -> Result<Window, Error> {
    const { assert!(AREA.is_multiple_of(AREA_ALIGN)) };
    let own = Mapping::zeroed(AREA + options.area)?;
    let peer = Mapping::zeroed(AREA)?;
    // A sender calls `carry` only if this flag says that the peer sleeps. Every message here needs
    // `carry`, so the flag is always set.
    peer.word(layout::SLEEP).store(1, Ordering::Relaxed);
    let area = Mapping::zeroed(options.area)?;
    // SAFETY: the carrier keeps the area, as `take_area` says.
    let first = unsafe { area.behind(0) };
    let place = ReceivePlace { next: 1, number: 0, area, used: 0 };
    let limit = options.max_frame.min(i32::MAX as usize);
    let carrier = Box::new(Relayed { relay, limit, received: Mutex::new(place), sent: Mutex::default() });
    Ok(Window::new(Ends { own, peer, area: Some(first), carrier }, true, options))
}
