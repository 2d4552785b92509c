//! Bodies of the units that carry neither arguments nor results (C706 12.5.3).

use super::{Header, PduError, PduType};
use crate::octets::Reader;
use crate::status::Status;

/// The maximum length of a fack's mask in words. It covers all fragments that a sender can have
/// under way.
const MASK_MAX: usize = 8;
/// The number of fragments, from the first missing one on, that a fack's mask covers.
pub(in super::super) const MASKED_MAX: u16 = MASK_MAX as u16 * 32;

/// The body of a fack, and of some nocalls: the received fragments and the receiver's limits (C706
/// 12.5.3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fack {
    /// The receive window in kilobytes.
    pub window: u16,
    /// The longest datagram that the sender of the fack accepts, in bytes.
    pub datagram_max: u32,
    /// The longest unit that the sender of the fack accepts, in bytes.
    pub fragment_max: u32,
    /// The serial number of the unit that the fack answers.
    pub serial: u16,
    mask: [u32; MASK_MAX],
}

impl Fack {
    /// Creates a fack in which no fragment after the first missing one has arrived.
    pub const fn new(window: u16, fragment_max: u32, serial: u16) -> Self {
        Self { window, datagram_max: fragment_max, fragment_max, serial, mask: [0; MASK_MAX] }
    }

    /// Marks a fragment as received. `behind` is its distance from the first missing fragment.
    /// Returns false if the mask does not cover this distance.
    pub fn insert(&mut self, behind: u16) -> bool {
        let word = self.mask.get_mut(usize::from(behind / 32));
        word.map(|word| *word |= 1 << (behind % 32)).is_some()
    }

    /// Whether the fragment at the distance `behind` from the first missing one was received.
    pub fn has(&self, behind: u16) -> bool {
        self.mask.get(usize::from(behind / 32)).is_some_and(|word| word >> (behind % 32) & 1 == 1)
    }

    /// Reads the body of a fack or nocall. `None` for the empty body of older senders.
    ///
    /// # Errors
    ///
    /// [`PduError`] if the body is malformed. If the mask is longer than the supported length, its
    /// further words are ignored.
    pub fn read(header: &Header, body: &[u8]) -> Result<Option<Self>, PduError> {
        if body.is_empty() {
            return Ok(None);
        }
        let mut reader = Reader::new(body, header.order);
        let [version, _padding] = reader.take()?;
        // Version 1 has the same layout as version 0. Older senders gave another meaning to the
        // window in one of the two versions.
        if version > 1 {
            return Err(PduError::Body(version.into()));
        }
        let window = reader.u16()?;
        let (datagram_max, fragment_max) = (reader.u32()?, reader.u32()?);
        let (serial, count) = (reader.u16()?, reader.u16()?);
        let mut fack = Self { datagram_max, ..Self::new(window, fragment_max, serial) };
        for word in fack.mask.iter_mut().take(count.into()) {
            *word = reader.u32()?;
        }
        Ok(Some(fack))
    }

    /// Appends a fack or nocall.
    pub fn write(&self, bytes: &mut Vec<u8>, header: &Header) {
        let count = self.mask.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        header.write_with(bytes, |writer| {
            writer.bytes(&[1, 0]);
            writer.u16(self.window);
            writer.u32(self.datagram_max);
            writer.u32(self.fragment_max);
            writer.u16(self.serial);
            writer.u16(count as u16);
            // The mask has at least one word.
            self.mask.iter().take(count.max(1)).for_each(|word| writer.u32(*word));
        });
    }
}

/// The body of a cl_cancel (C706 12.5.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancel {
    /// The number of the cancel among the call's cancels.
    pub id: u32,
}

impl Cancel {
    /// Reads the body.
    ///
    /// # Errors
    ///
    /// [`PduError`] if the body is malformed.
    pub fn read(header: &Header, body: &[u8]) -> Result<Self, PduError> {
        let mut reader = Reader::new(body, header.order);
        match reader.u32()? {
            0 => Ok(Self { id: reader.u32()? }),
            version => Err(PduError::Body(version)),
        }
    }

    /// Appends a cl_cancel.
    pub fn write(&self, bytes: &mut Vec<u8>, header: &Header) {
        Header { kind: PduType::CL_CANCEL, ..*header }.write_with(bytes, |writer| {
            writer.u32(0);
            writer.u32(self.id);
        });
    }
}

/// The body of a cancel_ack (C706 12.5.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CancelAck {
    /// The number of the acknowledged cancel.
    pub id: u32,
    /// Whether the server accepts cancels of the call.
    pub is_accepted: bool,
}

impl CancelAck {
    /// Reads the body. Returns `None` for an empty body, which has no information about cancels.
    ///
    /// # Errors
    ///
    /// [`PduError`] if the body is malformed.
    pub fn read(header: &Header, body: &[u8]) -> Result<Option<Self>, PduError> {
        if body.is_empty() {
            return Ok(None);
        }
        let mut reader = Reader::new(body, header.order);
        match reader.u32()? {
            0 => Ok(Some(Self { id: reader.u32()?, is_accepted: reader.u8()? != 0 })),
            version => Err(PduError::Body(version)),
        }
    }

    /// Appends a cancel_ack.
    pub fn write(&self, bytes: &mut Vec<u8>, header: &Header) {
        Header { kind: PduType::CANCEL_ACK, ..*header }.write_with(bytes, |writer| {
            writer.u32(0);
            writer.u32(self.id);
            writer.u8(self.is_accepted.into());
        });
    }
}

/// Reads the body of a fault or reject (C706 12.5.3.5, 12.5.3.8).
///
/// # Errors
///
/// [`PduError::Short`] if the body is too short.
pub fn read_status(header: &Header, body: &[u8]) -> Result<Status, PduError> {
    Ok(Status(Reader::new(body, header.order).u32()?))
}

/// Returns the body of a fault or reject.
pub fn write_status(status: Status) -> Vec<u8> {
    status.0.to_le_bytes().to_vec()
}
