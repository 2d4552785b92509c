//! A listener over a network of which the test is the other end.

use super::*;
use crate::attributes::Reliability;
use crate::reliable::Requesting;
use std::time::Duration;

/// A network whose only socket receives the datagrams of a list that the test makes. Once the list
/// is empty, the socket receives nonsense without end.
#[derive(Debug)]
struct Script {
    attributes: Attributes,
    settings: Settings,
    datagrams: Arc<Mutex<Datagrams>>,
}

#[derive(Debug, Default)]
struct Datagrams {
    to_receive: Vec<(Vec<u8>, SocketAddr)>,
    sent: Vec<(Vec<u8>, SocketAddr)>,
}

#[derive(Debug)]
struct ScriptSocket(Arc<Mutex<Datagrams>>);

impl Script {
    fn new() -> Self {
        let attributes = Attributes {
            provider: "script",
            max_transfer: 1,
            max_segments: 1,
            queue_depth: 1,
            rdma_write: false,
            rdma_read: false,
            reliability: &[Reliability::Unreliable],
        };
        Self { attributes, settings: Settings::default(), datagrams: Arc::default() }
    }
}

impl Network for Script {
    type Socket = ScriptSocket;

    fn socket(&self, _: u16) -> Result<ScriptSocket, Error> {
        Ok(ScriptSocket(Arc::clone(&self.datagrams)))
    }

    fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl DatagramSocket for ScriptSocket {
    fn mtu(&self) -> usize {
        1200
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], 1))
    }

    fn set_peer(&mut self, _: SocketAddr) {}

    fn send_to(&mut self, datagram: &[u8], to: SocketAddr) -> Result<bool, Error> {
        lock(&self.0).sent.push((datagram.to_vec(), to));
        Ok(true)
    }

    fn receive_from(&mut self, into: &mut [u8]) -> Result<Option<(usize, SocketAddr)>, Error> {
        let Some((datagram, from)) = lock(&self.0).to_receive.pop() else {
            return Ok(Some((100, SocketAddr::from(([10, 0, 0, 2], 2)))));
        };
        into[..datagram.len()].copy_from_slice(&datagram);
        Ok(Some((datagram.len(), from)))
    }

    fn file(&self) -> Option<Arc<OwnedFd>> {
        None
    }
}

const SHORT: Deadline = Deadline::Within(Duration::from_millis(20));

#[test]
fn endless_invalid_datagrams_do_not_extend_a_wait() {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut listener = NetworkProvider::new(Script::new()).listen("1").unwrap();
        tell.send(listener.accept(SHORT).map(drop)).unwrap();
    });
    let accepted = told.recv_timeout(ground::LATEST).expect("an answer");
    assert!(matches!(accepted, Err(Error::TimedOut)), "{accepted:?}");
}

#[test]
fn a_request_is_passed_on_only_with_the_token_that_its_source_was_sent() {
    let script = Script::new();
    let datagrams = Arc::clone(&script.datagrams);
    let mut listener = NetworkProvider::new(script).listen("1").unwrap();
    let offer = Offer { reliability: Reliability::ReliableDelivery, max_transfer: 1, private: Vec::new() };
    let mut requesting = Requesting::new(&Settings::default(), 7, "", &offer).unwrap();
    let mut request = |answer: &[u8]| {
        requesting.handle(0, answer, 1200);
        let due = requesting.due();
        requesting.transmit(due).unwrap().to_vec()
    };
    let [client, forger] = [3, 4].map(|host| SocketAddr::from(([10, 0, 0, host], 5)));
    let mut arrives = |datagram: &[u8], from| {
        lock(&datagrams).to_receive.push((datagram.to_vec(), from));
        let accepted = listener.accept(SHORT);
        (accepted, std::mem::take(&mut lock(&datagrams).sent))
    };
    let first = request(&[]);
    let (accepted, sent) = arrives(&first, client);
    assert!(matches!(accepted, Err(Error::TimedOut)), "{accepted:?}");
    let [(retry, to)] = &sent[..] else { panic!("{sent:?}") };
    assert!(*to == client && retry.len() <= first.len(), "{to}: {} bytes", retry.len());
    let second = request(retry);
    let (accepted, sent) = arrives(&second, forger);
    assert!(matches!(accepted, Err(Error::TimedOut)), "{accepted:?}");
    assert!(sent.len() == 1 && sent[0].1 == forger && sent[0].0.len() <= second.len(), "{sent:?}");
    let (accepted, sent) = arrives(&second, client);
    assert!(accepted.is_ok_and(|request| request.peer() == client.to_string()) && sent.is_empty(), "{sent:?}");
    // The peer is told that its request was dropped.
    let sent = &lock(&datagrams).sent;
    assert!(matches!(&sent[..], [(_, to)] if *to == client), "{sent:?}");
}
