//! Capture files.

use super::packet::{Ends, Layer, PACKET_MAX, PAYLOAD_MAX, headers};
use crate::Error;
use crate::sync::lock;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const VERSION: [u16; 2] = [2, 4];
const LINKTYPE_RAW: u32 = 101;
/// The length of the record before each packet, in bytes: the time in two words, the captured
/// length, and the original length.
const RECORD: usize = 16;

/// A file of packets. Clones write to the same file.
///
/// A capture never holds up a link: it stops when a write fails or the limit is reached, and
/// [`Self::finish`] reports the reason.
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

/// Returns the header of a file.
pub(super) fn file_header() -> [u8; 24] {
    let mut header = [0; 24];
    header[..4].copy_from_slice(&MAGIC_NANOSECONDS.to_le_bytes());
    header[4..8].copy_from_slice(VERSION.map(u16::to_le_bytes).as_flattened());
    // Bytes 16 to 19 are the maximum length of a packet.
    header[16..20].copy_from_slice(&(PACKET_MAX as u32).to_le_bytes());
    header[20..].copy_from_slice(&LINKTYPE_RAW.to_le_bytes());
    header
}

impl Capture {
    /// The default limit of a capture's size, in bytes: 1 GiB.
    pub const LIMIT: u64 = 1 << 30;

    /// Captures to a file, which is truncated. A new file is readable only by this user.
    ///
    /// # Errors
    ///
    /// An error of the system, when the file cannot be made.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(path);
        let file = file.map_err(Error::io("creating a capture file"))?;
        Self::to(Box::new(BufWriter::new(file)), Self::LIMIT)
    }

    /// Captures to a writer, up to `limit` bytes.
    ///
    /// # Errors
    ///
    /// An error of the writer, when the file's header cannot be written.
    pub fn to(mut writer: Box<dyn Write + Send>, limit: u64) -> Result<Self, Error> {
        let header = file_header();
        writer.write_all(&header).map_err(Error::io("writing a capture"))?;
        Ok(Self::go_on(writer, limit.saturating_sub(header.len() as u64)))
    }

    /// Captures at most `left` further bytes to a writer that has the file's header already. Each
    /// packet is one write.
    pub(super) fn go_on(writer: Box<dyn Write + Send>, left: u64) -> Self {
        let open = Open { writer, record: Vec::new(), left, captured: 0, left_out: 0, failed: None };
        Self { file: Arc::new(Mutex::new(open)) }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        lock(&self.file)
    }

    /// Captures a datagram that this side sent. `at` is the time since 1970.
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

    /// Flushes buffered packets. Returns the number of packets captured.
    ///
    /// # Errors
    ///
    /// The error of a failed write, or [`Error::CaptureFull`] with the number of packets that found
    /// no room.
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
            // The format has 32 bits for seconds.
            at.as_secs() as u32,
            at.subsec_nanos(),
            (length + kept.len()) as u32,
            u32::try_from(length + payload.len()).unwrap_or(u32::MAX),
        ];
        self.record[..RECORD].copy_from_slice(words.map(u32::to_le_bytes).as_flattened());
        let size = self.record.len() as u64;
        if self.failed.is_some() || size > self.left {
            self.left_out += 1;
            // A full capture stays full: a capture with gaps would mislead.
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
