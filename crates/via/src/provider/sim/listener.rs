//! Listening in the simulated network: a requesting peer lays a wire to the listener, and its
//! request arrives over that wire.

use super::Core;
use super::net::SimLink;
use super::port::{SimPort, nanoseconds};
use crate::notice::poll_fds;
use crate::reliable::{Answering, Link};
use crate::spi::{Incoming, Listening, Offer, Port};
use crate::sync::lock;
use crate::{Deadline, Error};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fd::OwnedFd;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// The maximum number of wires that wait for one listener.
const PENDING_MAX: usize = 1024;

/// The listeners of the network, by NIC and name.
#[derive(Debug, Default)]
pub(super) struct Listeners(Mutex<HashMap<(usize, String), Weak<Inbox>>>);

/// The wires that were laid to a listener.
#[derive(Debug)]
pub(super) struct Inbox {
    pending: Mutex<Vec<PendingWire>>,
    bell: OwnedFd,
}

#[derive(Debug)]
struct PendingWire {
    link: SimLink,
    peer: String,
}

#[derive(Debug)]
struct SimListener {
    core: Arc<Core>,
    inbox: Arc<Inbox>,
    address: String,
    datagram: Vec<u8>,
}

#[derive(Debug)]
struct SimRequest {
    core: Arc<Core>,
    answering: Answering,
    // `None` once the request is answered.
    link: Option<SimLink>,
    peer: String,
}

impl Listeners {
    pub(super) fn find(&self, nic: usize, name: &str) -> Option<Arc<Inbox>> {
        let listeners = lock(&self.0);
        listeners.get(&(nic, name.to_owned()))?.upgrade()
    }

    fn open(&self, nic: usize, name: &str) -> Result<Arc<Inbox>, Error> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(Error::system("making an event counter"))?;
        let mut listeners = lock(&self.0);
        listeners.retain(|_, inbox| inbox.strong_count() > 0);
        if listeners.contains_key(&(nic, name.to_owned())) {
            return Err(Error::NameInUse { name: name.to_owned(), pid: None });
        }
        let inbox = Arc::new(Inbox { pending: Mutex::default(), bell });
        listeners.insert((nic, name.to_owned()), Arc::downgrade(&inbox));
        Ok(inbox)
    }
}

impl Inbox {
    fn pending(&self) -> MutexGuard<'_, Vec<PendingWire>> {
        lock(&self.pending)
    }

    /// Adds the end of a wire to those that wait for the listener.
    pub(super) fn enqueue(&self, link: SimLink, peer: String) -> Result<(), Error> {
        let mut pending = self.pending();
        pending.retain(|wire| !wire.link.is_alone());
        if pending.len() >= PENDING_MAX {
            return Err(Error::Refused { why: "too many requests wait for the listener".to_owned() });
        }
        pending.push(PendingWire { link, peer });
        // The write fails only when the bell is readable already.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        Ok(())
    }

    /// Detaches the ends of the waiting wires. They are attached only during `accept`, because the
    /// clock waits for each attached end, and outside of `accept` no thread works for these ends.
    fn detach(&self) {
        self.pending().iter().for_each(|wire| wire.link.detach());
    }
}

pub(super) fn listen(core: &Arc<Core>, nic: usize, name: &str) -> Result<Box<dyn Listening>, Error> {
    if name.is_empty() || name.len() > 100 {
        return Err(Error::BadName { name: name.to_owned(), why: "it is empty, or has more than 100 bytes" });
    }
    let inbox = core.listeners.open(nic, name)?;
    let address = format!("{nic}/{name}");
    Ok(Box::new(SimListener { core: Arc::clone(core), inbox, address, datagram: vec![0; super::MTU] }))
}

impl SimListener {
    /// Returns the request of the first waiting wire on which a request has arrived, if there is
    /// one. Other datagrams are dropped.
    fn next_request(&mut self) -> Result<Option<SimRequest>, Error> {
        let mut pending = self.inbox.pending();
        for at in 0..pending.len() {
            let link = &mut pending[at].link;
            link.attach();
            link.clear_bell();
            while let Some(length) = link.receive(&mut self.datagram)? {
                if let Some(answering) = Answering::from_datagram(&self.datagram[..length]) {
                    let PendingWire { link, peer } = pending.remove(at);
                    // The end is detached, so that the clock can advance while the user decides.
                    link.detach();
                    return Ok(Some(SimRequest { core: Arc::clone(&self.core), answering, link: Some(link), peer }));
                }
            }
            link.settle(None);
        }
        Ok(None)
    }
}

impl Listening for SimListener {
    fn accept(&mut self, deadline: Deadline) -> Result<Box<dyn Incoming>, Error> {
        let deadline = deadline.start();
        loop {
            let mut count = [0; 8];
            // The read fails when no wire has arrived.
            let _ = rustix::io::read(&self.inbox.bell, &mut count);
            let found = self.next_request();
            if !matches!(found, Ok(None)) || deadline.is_over() {
                self.inbox.detach();
                return found?.map(|request| Box::new(request) as Box<dyn Incoming>).ok_or(Error::TimedOut);
            }
            let (mut bells, mut until) = (Vec::new(), None);
            let mut is_quiet = true;
            for wire in self.inbox.pending().iter() {
                match wire.link.settled() {
                    Some(allowed) => until = [until, allowed].into_iter().flatten().min(),
                    None => is_quiet = false,
                }
                bells.push(Arc::clone(wire.link.bell()));
            }
            if is_quiet {
                let files: Vec<&OwnedFd> = bells.iter().map(|bell| &**bell).chain([&self.inbox.bell]).collect();
                poll_fds(&files, deadline, until)?;
            }
        }
    }

    fn address(&self) -> String {
        self.address.clone()
    }
}

impl Incoming for SimRequest {
    fn offer(&self) -> &Offer {
        self.answering.offer()
    }

    fn peer(&self) -> String {
        self.peer.clone()
    }

    fn accept(mut self: Box<Self>, own: &Offer, _: Deadline) -> Result<Box<dyn Port>, Error> {
        let Some(link) = self.link.take() else {
            return Err(Error::BadState { what: "the request was already answered" });
        };
        link.attach();
        let now = nanoseconds(self.core.net.now());
        let engine = self.answering.accept(&self.core.settings, now, self.core.word(), own, link.mtu())?;
        Ok(Box::new(SimPort::new(Box::new(engine), link)))
    }

    fn reject(mut self: Box<Self>, why: &str) {
        if let Some(link) = self.link.take() {
            link.answer_always(self.answering.reject(why).into());
        }
    }
}

impl Drop for SimRequest {
    fn drop(&mut self) {
        if let Some(link) = self.link.take() {
            link.answer_always(self.answering.reject("the request was dropped").into());
        }
    }
}
