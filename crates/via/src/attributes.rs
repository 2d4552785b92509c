//! What providers can do, and what VIs promise each other.

use std::fmt;

/// What two VIs promise each other. VI Architecture 1.0, "Reliability Levels".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Reliability {
    /// A message arrives at most once, and intact. Losses are silent.
    Unreliable = 1,
    /// Messages arrive exactly once, intact, and in order; what cannot be delivered breaks the connection. A send is
    /// complete when it will be delivered as long as the connection lasts.
    #[default]
    ReliableDelivery = 2,
    /// The same, and a send is complete only when its data is in the peer's memory.
    ReliableReception = 3,
}

impl Reliability {
    /// Reads the wire value.
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

/// What a NIC can do.
#[derive(Clone, Debug)]
pub struct Attributes {
    /// The provider's name: `shm`, `udp`.
    pub provider: &'static str,
    /// The longest message or RDMA, in bytes.
    pub max_transfer: u32,
    /// The most data segments of a descriptor.
    pub max_segments: usize,
    /// The most descriptors that a queue holds.
    pub queue_depth: usize,
    /// Whether it has RDMA write.
    pub rdma_write: bool,
    /// Whether it has RDMA read.
    pub rdma_read: bool,
    /// The reliability levels that it has.
    pub reliability: &'static [Reliability],
}
