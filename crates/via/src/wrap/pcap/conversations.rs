//! The datagrams that a socket exchanges with several peers, in the capture of its process.

use super::{Conversation, Ends, SharedCapture};
use crate::Error;
use crate::sync::lock;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

/// The maximum number of remembered peers. Each of them takes up a file descriptor. A further peer
/// makes the socket forget all others, which only causes some packets to be captured twice.
const PEERS_MAX: usize = 64;

/// The conversations of a socket, one for each peer.
#[derive(Debug)]
pub struct Conversations {
    own: SocketAddr,
    known: Mutex<HashMap<SocketAddr, Arc<Conversation>>>,
}

impl Conversations {
    /// Begins the conversations of a socket with this address; `None` where the process has no
    /// capture.
    ///
    /// # Errors
    ///
    /// As [`SharedCapture::join`].
    pub fn of_datagrams(own: SocketAddr) -> Result<Option<Self>, Error> {
        Ok(SharedCapture::of_process()?.map(|_| Self { own, known: Mutex::default() }))
    }

    /// Captures a datagram before the socket sends it to a peer.
    pub fn sent(&self, peer: SocketAddr, bytes: &[u8]) {
        if let Some(conversation) = self.with(peer) {
            conversation.sent(bytes);
        }
    }

    /// Captures a datagram received from a peer, unless the peer captures it itself.
    pub fn received(&self, peer: SocketAddr, bytes: &[u8]) {
        if let Some(conversation) = self.with(peer) {
            conversation.received(bytes);
        }
    }

    /// Returns the conversation with a peer; `None` where the process has no file for it.
    fn with(&self, peer: SocketAddr) -> Option<Arc<Conversation>> {
        let mut known = lock(&self.known);
        if let Some(conversation) = known.get(&peer) {
            return Some(Arc::clone(conversation));
        }
        if known.len() == PEERS_MAX {
            known.clear();
        }
        let conversation = Arc::new(Conversation::of_datagrams(Ends { own: self.own, peer }).ok()??);
        known.insert(peer, Arc::clone(&conversation));
        Some(conversation)
    }
}
