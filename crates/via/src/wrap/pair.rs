//! Two ends of a link in one process, for tests of link wrappers.

use crate::Error;
use crate::reliable::Link;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

#[derive(Debug)]
struct Mailbox {
    datagrams: Mutex<VecDeque<Vec<u8>>>,
    bell: Arc<OwnedFd>,
}

/// One end of a link.
#[derive(Debug)]
pub(super) struct Pair {
    to: Arc<Mailbox>,
    from: Arc<Mailbox>,
    /// The maximum number of datagrams that wait at the other end.
    pub(super) room: usize,
}

/// Makes two ends whose datagrams all arrive.
pub(super) fn pair() -> (Pair, Pair) {
    let mailbox = || {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap();
        Arc::new(Mailbox { datagrams: Mutex::default(), bell: Arc::new(bell) })
    };
    let (one, other) = (mailbox(), mailbox());
    let room = usize::MAX;
    (Pair { to: Arc::clone(&one), from: Arc::clone(&other), room }, Pair { to: other, from: one, room })
}

impl Link for Pair {
    fn mtu(&self) -> usize {
        1500
    }

    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        let mut datagrams = self.to.datagrams.lock().unwrap();
        if datagrams.len() >= self.room {
            return Ok(false);
        }
        datagrams.push_back(datagram.to_vec());
        rustix::io::write(&*self.to.bell, &1_u64.to_ne_bytes()).unwrap();
        Ok(true)
    }

    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        let mut datagrams = self.from.datagrams.lock().unwrap();
        let Some(datagram) = datagrams.pop_front() else { return Ok(None) };
        if datagrams.is_empty() {
            rustix::io::read(&*self.from.bell, &mut [0; 8]).unwrap();
        }
        into[..datagram.len()].copy_from_slice(&datagram);
        Ok(Some(datagram.len()))
    }

    fn file(&self) -> Option<Arc<OwnedFd>> {
        Some(Arc::clone(&self.from.bell))
    }

    fn peer(&self) -> String {
        "the other end".to_owned()
    }
}
