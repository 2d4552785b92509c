//! The caller's end of calls: links to other processes, the channels of threads, and proxies.

pub(crate) mod address;
pub(crate) mod canceller;
pub(crate) mod channels;
pub(crate) mod handshake;
pub(crate) mod link;
pub(crate) mod own_target;
pub(crate) mod proof;
pub(crate) mod proxy;
pub(crate) mod shared;
