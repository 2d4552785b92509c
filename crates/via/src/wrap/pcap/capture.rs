//! A file of packets.

use super::packet::{Ends, Layer, PACKET_MAX, PAYLOAD_MAX, headers};
use crate::Error;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const VERSION: [u16; 2] = [2, 4];
const LINKTYPE_RAW: u32 = 101;
/// What stands before each packet: the time in two words, what is here of it, and what it was.
const RECORD: usize = 16;

/// A file that packets are written to. Clones write to the same.
///
/// A capture never holds up a link: when writing fails or the limit is reached it stops, and [`Self::finish`] tells.
#[derive(Clone)]
pub struct Capture {
    file: Arc<Mutex<Open>>,
}

struct Open {
    writer: Box<dyn Write + Send>,
    record: Vec<u8>,
    left: u64,
    captured: u64,
    left_out: u64,
    failed: Option<io::Error>,
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.open();
        f.debug_struct("Capture").field("captured", &open.captured).field("left_out", &open.left_out).finish()
    }
}

/// How a file begins.
pub(super) fn file_header() -> [u8; 24] {
    let mut header = [0; 24];
    header[..4].copy_from_slice(&MAGIC_NANOSECONDS.to_le_bytes());
    header[4..8].copy_from_slice(VERSION.map(u16::to_le_bytes).as_flattened());
    // The longest packet that a reader has to expect.
    header[16..20].copy_from_slice(&(PACKET_MAX as u32).to_le_bytes());
    header[20..].copy_from_slice(&LINKTYPE_RAW.to_le_bytes());
    header
}

impl Capture {
    /// Bytes that a capture has at most if nothing else is said: 1 GiB.
    pub const LIMIT: u64 = 1 << 30;

    /// Captures to a file, which is made anew; where there was none, this user alone can read it.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(path);
        let file = file.map_err(Error::io("making a capture file"))?;
        Self::to(Box::new(BufWriter::new(file)), Self::LIMIT)
    }

    /// Captures to a writer, up to so many bytes.
    ///
    /// # Errors
    ///
    /// When the file's header cannot be written.
    pub fn to(mut writer: Box<dyn Write + Send>, limit: u64) -> Result<Self, Error> {
        let header = file_header();
        writer.write_all(&header).map_err(Error::io("writing a capture"))?;
        Ok(Self::go_on(writer, limit.saturating_sub(header.len() as u64)))
    }

    /// Captures to a writer that has its header, so many bytes more. Each packet is written at once.
    pub(super) fn go_on(writer: Box<dyn Write + Send>, left: u64) -> Self {
        let open = Open { writer, record: Vec::new(), left, captured: 0, left_out: 0, failed: None };
        Self { file: Arc::new(Mutex::new(open)) }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Captures a datagram that this side sent, so long after 1970.
    pub fn sent(&self, at: Duration, ends: &Ends, datagram: &[u8]) {
        self.packet(at, *ends, Layer::Udp, datagram);
    }

    /// Captures a datagram that this side received.
    pub fn received(&self, at: Duration, ends: &Ends, datagram: &[u8]) {
        self.packet(at, ends.reversed(), Layer::Udp, datagram);
    }

    /// Captures a packet from the own end to the peer.
    pub(super) fn packet(&self, at: Duration, ends: Ends, layer: Layer, payload: &[u8]) {
        self.open().packet(at, ends, layer, payload);
    }

    /// Writes out what is buffered. Returns the packets captured.
    ///
    /// # Errors
    ///
    /// What went wrong since the capture began, or [`Error::CaptureFull`] with the packets that found no room.
    pub fn finish(&self) -> Result<u64, Error> {
        let mut open = self.open();
        if let Some(error) = open.failed.take() {
            return Err(Error::io("writing a capture")(error));
        }
        open.writer.flush().map_err(Error::io("writing a capture"))?;
        match open.left_out {
            0 => Ok(open.captured),
            missed => Err(Error::CaptureFull { missed }),
        }
    }
}

impl Open {
    fn packet(&mut self, at: Duration, ends: Ends, layer: Layer, payload: &[u8]) {
        let kept = &payload[..payload.len().min(PAYLOAD_MAX)];
        self.record.clear();
        self.record.resize(RECORD, 0);
        headers(&mut self.record, ends, layer, kept, self.captured as u16);
        let length = self.record.len() - RECORD;
        self.record.extend_from_slice(kept);
        let words = [
            // The format counts seconds in 32 bits.
            at.as_secs() as u32,
            at.subsec_nanos(),
            (length + kept.len()) as u32,
            u32::try_from(length + payload.len()).unwrap_or(u32::MAX),
        ];
        self.record[..RECORD].copy_from_slice(words.map(u32::to_le_bytes).as_flattened());
        let size = self.record.len() as u64;
        if self.failed.is_some() || size > self.left {
            self.left_out += 1;
            // Once full it stays full: a capture with holes misleads.
            self.left = 0;
            return;
        }
        match self.writer.write_all(&self.record) {
            Ok(()) => {
                self.left -= size;
                self.captured += 1;
            }
            Err(error) => self.failed = Some(error),
        }
    }
}
