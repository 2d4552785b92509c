//! The connection-oriented protocol (C706 chapter 12, MS-RPCE): associations of a client and a server over a stream of bytes.
//!
//! Nothing here does input or output: bytes go in, events and bytes come out.

pub mod pdu;
