//! Provider attributes and reliability levels.

use std::fmt;

/// The reliability level of a VI: VI Architecture 1.0, "Reliability Levels".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Reliability {
    /// A message arrives at most once, and intact. A loss is silent.
    Unreliable = 1,
    /// Messages arrive exactly once, intact and in order. A message that cannot be delivered breaks
    /// the connection. A send completes once only the end of the connection can prevent its
    /// delivery.
    #[default]
    ReliableDelivery = 2,
    /// As `ReliableDelivery`, but a send completes only when its data is in the peer's memory.
    ReliableReception = 3,
}

impl Reliability {
    /// Reads the wire value. `None` for an unknown value.
    pub const fn from_wire(value: u8) -> Option<Self> {
        Some(match value {
            1 => Self::Unreliable,
            2 => Self::ReliableDelivery,
            3 => Self::ReliableReception,
            _ => return None,
        })
    }

    /// Whether a loss is an error.
    pub const fn is_reliable(self) -> bool {
        !matches!(self, Self::Unreliable)
    }
}

impl fmt::Display for Reliability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreliable => "unreliable delivery",
            Self::ReliableDelivery => "reliable delivery",
            Self::ReliableReception => "reliable reception",
        })
    }
}

/// The capabilities of a NIC.
#[derive(Clone, Debug)]
pub struct Attributes {
    /// The provider's name, such as `shm` or `fabric/tcp`.
    pub provider: &'static str,
    /// The maximum length of a message or RDMA, in bytes.
    pub max_transfer: u32,
    /// The maximum number of data segments of a descriptor.
    pub max_segments: usize,
    /// The maximum number of descriptors that a queue holds.
    pub queue_depth: usize,
    /// Whether the NIC supports RDMA write.
    pub rdma_write: bool,
    /// Whether the NIC supports RDMA read.
    pub rdma_read: bool,
    /// The reliability levels that the NIC supports.
    pub reliability: &'static [Reliability],
}
