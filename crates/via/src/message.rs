//! The header that precedes every frame.

/// The kind of a message, in one byte of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// A call with a response.
    Request = 1,
    /// The results of a call.
    Response = 2,
    /// The failure of a call, before or in its method; `first` holds the status.
    Fault = 3,
    /// A call without a response.
    Oneway = 4,
    /// A C706 protocol data unit, such as a bind, in the frame.
    Pdu = 5,
    /// A notice that the caller does not need the response to the call with the id `second` any
    /// more.
    Cancel = 6,
}

impl Kind {
    /// Reads the wire value. `None` for an unknown value.
    #[inline]
    pub const fn from_wire(value: u8) -> Option<Self> {
        Some(match value {
            1 => Self::Request,
            2 => Self::Response,
            3 => Self::Fault,
            4 => Self::Oneway,
            5 => Self::Pdu,
            6 => Self::Cancel,
            _ => return None,
        })
    }
}

/// The words of a header that the layers above define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind of the message.
    pub kind: Kind,
    /// The number of the method in its interface.
    pub opnum: u16,
    /// Requests and one-way calls: the index of the target interface pointer. Responses and faults:
    /// the status. Other messages: 0.
    pub first: u32,
    /// Requests and one-way calls: the generation of the target. Responses and faults: the call id.
    /// Cancellations: see [`Kind::Cancel`]. PDUs: 0.
    pub second: u32,
}

impl Header {
    /// Returns the header's first eight bytes, as they are stored. Storing them publishes the
    /// message. `length` is the frame's length, or `IN_AREA` if the frame lies in an area.
    #[inline(always)]
    pub(crate) const fn leading_word(self, sequence: u32, length: u8) -> u64 {
        sequence as u64 | (self.opnum as u64) << 32 | (self.kind as u64) << 48 | (length as u64) << 56
    }

    /// Returns the header's second eight bytes, as they are stored.
    #[inline]
    pub(crate) const fn target_word(self) -> u64 {
        self.first as u64 | (self.second as u64) << 32
    }
}
