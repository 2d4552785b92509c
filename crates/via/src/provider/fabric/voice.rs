//! What providers tell each other beside the messages of their users: why a connection ends, and that they live.
//!
//! Messages would consume receive descriptors of the peer. An endpoint without a connection has the socket that it was introduced
//! by; that of a connection writes a word of the peer's memory, with remote completion data, which consumes nothing.

use super::objects::{Endpoint, Place, Work};
use super::registration::Page;
use crate::error::Ended;
use rustix::fd::OwnedFd;
use rustix::net::{RecvFlags, SendFlags};
use std::ffi::c_void;

/// How a provider speaks to the peer's.
#[derive(Debug)]
pub(super) enum Voice {
    /// Not at all.
    None,
    /// By a byte on a socket, whose end also tells that the peer's process is gone.
    Socket(OwnedFd, Option<Ended>),
    /// By writing the peer's memory here.
    Writes(Place, Option<Ended>),
}

/// A sign of life.
const ALIVE: u8 = 1;
const REASONS: [(u8, Ended); 5] = [
    (2, Ended::ByPeer),
    (3, Ended::ReceiverNotReady),
    (4, Ended::TooLong),
    (5, Ended::Protection),
    (6, Ended::Violation),
];

fn word(why: Option<Ended>) -> u8 {
    REASONS.iter().find(|(_, reason)| Some(*reason) == why).map_or(ALIVE, |(word, _)| *word)
}

fn reason(word: u8) -> Option<Ended> {
    REASONS.iter().find(|(reason, _)| *reason == word).map(|(_, why)| *why)
}

impl Voice {
    /// What becomes readable when the peer says something.
    pub(super) fn file(&self) -> Option<&OwnedFd> {
        match self {
            Self::Socket(socket, _) => Some(socket),
            _ => None,
        }
    }

    /// Why the peer ended the connection, if it did.
    pub(super) fn tidings(&self) -> Option<Ended> {
        match self {
            Self::None => None,
            Self::Socket(_, heard) | Self::Writes(_, heard) => *heard,
        }
    }

    /// The peer wrote this.
    pub(super) fn hear(&mut self, data: u64) {
        if let Self::Writes(_, heard) = self {
            *heard = heard.or_else(|| reason(u8::try_from(data).ok()?));
        }
    }

    /// Looks at the socket. `true`: it has ended.
    pub(super) fn listen(&mut self) -> bool {
        let Self::Socket(socket, heard) = self else { return false };
        let mut words = [0; 16];
        loop {
            match rustix::net::recv(&*socket, &mut words, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return true,
                Ok((count, _)) => *heard = heard.or_else(|| words[..count].iter().find_map(|word| reason(*word))),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return false,
                Err(_) => return true,
            }
        }
    }

    /// Writes to the peer's memory: a reason, or a sign of life, whose completion is one of the peer's. `false`: not now.
    ///
    /// # Safety
    ///
    /// The page and the place must stay until the endpoint is gone.
    pub(super) unsafe fn ask(
        &self,
        endpoint: &Endpoint,
        page: &Page,
        why: Option<Ended>,
        context: *mut c_void,
    ) -> bool {
        let Self::Writes(to, _) = self else { return false };
        let work = Work::Write { to: *to, data: Some(u64::from(word(why))) };
        // SAFETY: the caller keeps the page and the place.
        unsafe { endpoint.ask(work, &[page.piece()], true, context) }.unwrap_or_default()
    }

    /// Tells why the connection ends, as well as that can be done without waiting.
    ///
    /// # Safety
    ///
    /// As [`Self::ask`].
    pub(super) unsafe fn tell(
        &self,
        endpoint: &Endpoint,
        page: Option<&Page>,
        why: Ended,
        context: *mut c_void,
    ) {
        match (self, page) {
            (Self::Socket(socket, _), _) => {
                let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
                // An error means that the peer is gone, or has not listened for long: the socket's end tells it.
                let _ = rustix::net::send(socket, &[word(Some(why))], flags);
            }
            (Self::Writes(..), Some(page)) => {
                // SAFETY: the caller keeps the page and the place.
                let _ = unsafe { self.ask(endpoint, page, Some(why), context) };
            }
            _ => {}
        }
    }
}
