//! What names a VI and its queues, where it stands, and why it refuses descriptors.

use crate::Waiting;
use crate::attributes::Reliability;
use crate::descriptor::Descriptor;
use crate::error::Ended;
use std::fmt;

/// What a VI is made with.
#[derive(Clone, Debug, Default)]
pub struct ViAttributes {
    /// What it promises and wants promised.
    pub reliability: Reliability,
    /// The longest message or RDMA, in bytes; 0 for the most that the provider has. Peers settle on the smaller.
    pub max_transfer: u32,
    /// How its owner waits.
    pub waiting: Waiting,
}

/// Tells VIs of one process apart: what a completion queue names them by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ViId(pub(crate) u64);

/// Which of a VI's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Queue {
    /// Sends and RDMA.
    Send,
    /// Receives.
    Receive,
}

/// Where a VI stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not connected: receives may be posted, sends complete with an error.
    Idle,
    /// Connected.
    Connected,
    /// The connection ended; everything posted is flushed until [`crate::Vi::disconnect`].
    Broken(Ended),
}

/// A descriptor that was not posted, and why.
#[derive(Debug)]
pub struct PostError {
    /// The descriptor, unchanged.
    pub descriptor: Box<Descriptor>,
    /// What is wrong with it.
    pub fault: PostFault,
}

/// Why a descriptor was not posted. Nothing was changed, and the connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PostFault {
    /// Its operation is not one of this queue, or lacks or has an address segment or immediate data against the rules.
    Malformed,
    /// It has more segments than the provider takes.
    TooManySegments,
    /// It is longer than the VI's transfer size.
    TooLong,
    /// A segment lies outside its region.
    OutOfBounds,
    /// A segment's region has another protection tag, or is not registered any more.
    Protection,
    /// The provider does not have the operation.
    Unsupported,
    /// The queue is full.
    QueueFull,
}

impl fmt::Display for PostFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "the descriptor does not fit its queue or operation",
            Self::TooManySegments => "the descriptor has too many segments",
            Self::TooLong => "the descriptor is longer than the VI's transfer size",
            Self::OutOfBounds => "a segment lies outside its region",
            Self::Protection => "a segment's region has another protection tag or is not registered",
            Self::Unsupported => "the provider does not have the operation",
            Self::QueueFull => "the queue is full",
        })
    }
}

impl fmt::Display for PostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fault.fmt(f)
    }
}

impl std::error::Error for PostError {}
