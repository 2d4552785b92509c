//! The names of VIs and queues, the state of a VI, and the faults of descriptors.

use crate::Waiting;
use crate::attributes::Reliability;
use crate::descriptor::Descriptor;
use crate::error::Ended;
use std::fmt;

/// The attributes of a new VI.
#[derive(Clone, Debug, Default)]
pub struct ViAttributes {
    /// The reliability level, which the peer's VI must have as well.
    pub reliability: Reliability,
    /// The maximum length of a message or RDMA, in bytes; 0 for the provider's maximum. The smaller
    /// value of the two sides applies.
    pub max_transfer: u32,
    /// The wait policy of the VI's owner.
    pub waiting: Waiting,
}

/// The identity of a VI in this process, by which completion queues name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ViId(pub(crate) u64);

/// A work queue of a VI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Queue {
    /// The queue for sends and RDMA.
    Send,
    /// The queue for receives.
    Receive,
}

/// The state of a VI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not connected: receives may be posted, sends complete with an error.
    Idle,
    /// Connected.
    Connected,
    /// The connection ended; descriptors are flushed until [`crate::Vi::disconnect`].
    Broken(Ended),
}

/// A descriptor that was not posted, with the reason.
#[derive(Debug)]
pub struct PostError {
    /// The descriptor, unchanged.
    pub descriptor: Box<Descriptor>,
    /// The reason why the descriptor was not posted.
    pub fault: PostFault,
}

/// The reason why a descriptor was not posted. Nothing was changed, and the connection continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PostFault {
    /// The operation does not belong to this queue, or its rules do not permit the descriptor's
    /// address segment or immediate data.
    Malformed,
    /// The descriptor has more segments than the provider takes.
    TooManySegments,
    /// The descriptor is longer than the VI's transfer size.
    TooLong,
    /// A segment lies outside its region.
    OutOfBounds,
    /// A segment's region has another protection tag, is not registered any more, or has the
    /// maximum number of posted segments, 2^31 - 1.
    Protection,
    /// The provider does not support the operation.
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
            Self::Protection => {
                "a segment's region has another protection tag, is not registered, or has too many posted segments"
            }
            Self::Unsupported => "the provider does not support the operation",
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
