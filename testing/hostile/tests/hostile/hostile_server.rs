//! A hostile server, which answers correctly unless a test replaces its answers.

use crate::peer::{Message, Peer, fresh_oxid, has_ended};
use crate::scene::{Directory, Meanwhile};
use crate::wire::{self, Frame, Reference, mark};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The exported name of the hostile server.
pub(crate) const HOSTILE: &str = "hostile";
/// The time between two checks whether the server is to end, while the server waits for a message.
const LOOK: Duration = Duration::from_millis(20);

/// A server that runs until it is dropped.
pub(crate) struct HostileServer {
    stop: Arc<AtomicBool>,
    _accepting: Vec<Meanwhile>,
    sockets: Vec<std::path::PathBuf>,
}

impl HostileServer {
    /// Serves a name and an endpoint. `handle` returns whether it has handled a message; other
    /// messages are answered correctly.
    pub(crate) fn start(
        directory: &Directory,
        handle: impl Fn(&mut Peer, &Message) -> bool + Send + Sync + 'static,
    ) -> Self {
        let oxid = fresh_oxid();
        Self::start_as(directory, oxid, &[HOSTILE.to_owned(), endpoint_of(oxid)], handle)
    }

    /// Serves like [`Self::start`], but under these names. `oxid` is the OXID of the process to
    /// which the names belong.
    pub(crate) fn start_as(
        directory: &Directory,
        oxid: u64,
        names: &[String],
        handle: impl Fn(&mut Peer, &Message) -> bool + Send + Sync + 'static,
    ) -> Self {
        let handle = Arc::new(handle);
        Self::accept(directory, names, move |socket, stop| {
            let Some(mut peer) = Peer::accept(socket) else { return };
            peer.oxid = oxid;
            while !stop.load(Ordering::Relaxed) && !has_ended(&peer.socket) {
                let Some(message) = peer.message_within(LOOK) else { continue };
                if !handle(&mut peer, &message) {
                    answer(&mut peer, &message);
                }
            }
        })
    }

    /// Serves a name: calls `greet` with the socket of each client, and then leaves the connection
    /// open without answering.
    pub(crate) fn greeting(directory: &Directory, greet: impl Fn(&UnixStream) + Send + Sync + 'static) -> Self {
        Self::accept(directory, &[HOSTILE.to_owned()], move |socket, stop| {
            greet(&socket);
            while !stop.load(Ordering::Relaxed) && !has_ended(&socket) {
                std::thread::sleep(LOOK);
            }
        })
    }

    fn accept(
        directory: &Directory,
        names: &[String],
        serve: impl Fn(UnixStream, &AtomicBool) + Send + Sync + 'static,
    ) -> Self {
        let (stop, serve) = (Arc::new(AtomicBool::new(false)), Arc::new(serve));
        let sockets: Vec<_> = names.iter().map(|name| directory.socket(name)).collect();
        let listen = |path| {
            let listener = UnixListener::bind(path).unwrap();
            listener.set_nonblocking(true).unwrap();
            let (stop, serve) = (Arc::clone(&stop), Arc::clone(&serve));
            Meanwhile::start(move || match listener.accept() {
                Ok((socket, _)) => {
                    let (stop, serve) = (Arc::clone(&stop), Arc::clone(&serve));
                    std::thread::spawn(move || serve(socket, &stop));
                }
                Err(_) => await_client(&listener),
            })
        };
        let accepting = sockets.iter().map(listen).collect();
        Self { stop, _accepting: accepting, sockets }
    }
}

/// Returns the name of the endpoint of a process.
pub(crate) fn endpoint_of(oxid: u64) -> String {
    format!("oxid-{oxid:016x}")
}

/// Waits for a client, at most until the next check whether the server is to end.
fn await_client(listener: &UnixListener) {
    let mut polled = [PollFd::new(listener, PollFlags::IN)];
    let _ = poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: LOOK.subsec_nanos().into() }));
}

impl Drop for HostileServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for socket in &self.sockets {
            let _ = std::fs::remove_file(socket);
        }
    }
}

/// Answers a request with results. Returns true, so that a `handle` function can end with this
/// call.
pub(crate) fn respond(peer: &mut Peer, request: &Message, frame: &[u8]) -> bool {
    peer.post(wire::RESPONSE, request.opnum, (0, request.sequence), frame);
    true
}

/// Answers a message correctly.
fn answer(peer: &mut Peer, message: &Message) {
    match message.kind {
        wire::PDU => {
            let (kind, results): (u8, &[u16]) = if message.frame[2] == 11 { (12, &[0, 3]) } else { (15, &[0]) };
            let call_id = u32::from_le_bytes(message.frame[12..16].try_into().unwrap());
            let ack = wire::ack(kind, call_id, wire::process(peer.oxid), results);
            peer.post(wire::PDU, 0, (0, 0), &ack);
        }
        wire::REQUEST => {
            let frame = results(peer.oxid, message);
            respond(peer, message, &frame);
        }
        _ => {}
    }
}

/// Returns the correct results. In targets, the victim has the index 7, and every thing has the
/// index 9. An object's interface IPair has an index that is 20 higher.
fn results(oxid: u64, message: &Message) -> Vec<u8> {
    let reference = |iid, oid, target| {
        Reference { iid, refs: 5, oxid, oid, target, endpoint: format!("oxid-{oxid:016x}") }.to_wire()
    };
    let marks = |count| mark(1, 2, 3).repeat(count);
    let numbers = |values: &[u32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
    match (message.first, message.opnum) {
        (0, 3) => {
            let through = u32::from_le_bytes(message.frame[..4].try_into().unwrap());
            Frame::block(8).u32(0, through.wrapping_add(20)).u32(4, 1).bytes
        }
        (0, 6) => reference(wire::IVICTIM, 1, (7, 1)),
        (0, _) => Vec::new(),
        (9, _) => Frame::block(4).u32(0, 33).bytes,
        (27.., 5) => Frame::block(16).bytes,
        (27.., 6) => Frame::block(8).object(0, 2, 6, b"title\0").bytes,
        (27.., _) => Frame::block(8).bytes,
        (_, 3) => Frame::block(4).u32(0, 3).bytes,
        (_, 4) => Frame::block(8).u32(0, 6).bytes,
        (_, 5) => Frame::block(8).object(0, 16, 4, &numbers(&[4, 3, 2, 1])).bytes,
        (_, 6) => Frame::block(8).object(0, 16, 64, &[7; 256]).bytes,
        (_, 8) => Frame::block(4).u32(0, 1).bytes,
        (_, 9) => Frame::block(8).object(0, 2, 2, b"X\0").bytes,
        (_, 10) => Frame::block(4).u32(0, 4).bytes,
        (_, 12) => Frame::block(8).u32(0, 80).bytes,
        (_, 13) => Frame::block(8).u32(0, 40).bytes,
        (_, 14) => Frame::block(4).u32(0, 9).bytes,
        (_, 15) => {
            let bytes = reference(wire::ITHING, 2, (9, 1));
            Frame::block(8).object(0, 1, bytes.len(), &bytes).bytes
        }
        (_, 17) => Frame::block(12).u32(8, 2).object(0, 17, 2, &marks(2)).bytes,
        (_, 18) => Frame::block(16).u32(0, 3).object(8, 17, 3, &marks(3)).bytes,
        _ => Frame::block(8).bytes,
    }
}
