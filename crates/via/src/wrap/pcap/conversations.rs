//! What a socket for datagrams says to many others, as the capture of its process shows it.

use super::{Conversation, Ends, SharedCapture};
use crate::Error;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Peers that are remembered: each takes a file. Whoever wants all of them forgotten gets that, and some packets twice in the capture.
const PEERS_MAX: usize = 64;

/// The conversations of a socket, with whoever it hears of.
#[derive(Debug)]
pub struct Conversations {
    own: SocketAddr,
    known: Mutex<HashMap<SocketAddr, Arc<Conversation>>>,
}

impl Conversations {
    /// Those of a socket with this address; `None` where the process has no capture.
    ///
    /// # Errors
    ///
    /// As [`SharedCapture::join`].
    pub fn of_datagrams(own: SocketAddr) -> Result<Option<Self>, Error> {
        Ok(SharedCapture::of_process()?.map(|_| Self { own, known: Mutex::default() }))
    }

    /// Writes down what the socket is about to send to a peer.
    pub fn sent(&self, peer: SocketAddr, bytes: &[u8]) {
        if let Some(conversation) = self.with(peer) {
            conversation.sent(bytes);
        }
    }

    /// Writes down what came from a peer, unless it does so itself.
    pub fn received(&self, peer: SocketAddr, bytes: &[u8]) {
        if let Some(conversation) = self.with(peer) {
            conversation.received(bytes);
        }
    }

    /// The conversation with a peer; `None` where the process has no file for it.
    fn with(&self, peer: SocketAddr) -> Option<Arc<Conversation>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
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
