//! Tests of the limit on the number of clients, with sockets of this host.

use super::{CLIENTS_MAX, Clients, Endpoint, EndpointOptions, MOMENT};
use crate::co::IncomingCall;
use crate::co::pdu::{Context, Outcome};
use crate::co::relay::{Attribution, Interface, Interfaces};
use crate::dg::relay::{draw, flush};
use crate::dg::{Activity, Limits, OutgoingCall, Semantics};
use crate::security::Authenticated;
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};
use crate::vi_call::{Answer, ServerCall, Service, TargetId, serve_next};
use obvia_via::Deadline;
use obvia_via::datagram::{DatagramSocket, Host, LONGEST, Received};
use obvia_via::window::{Options, Window};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The limit of a call.
const LATEST: Duration = Duration::from_secs(60);

/// A server without interfaces.
#[derive(Debug, Default)]
pub(super) struct Nothing {
    /// Whether the server keeps state for its clients.
    has_state: AtomicBool,
    admitted: AtomicUsize,
    refused: AtomicUsize,
}

#[derive(Debug)]
pub(super) struct Shared(pub(super) Arc<Nothing>);

impl Nothing {
    /// Returns an endpoint of the server.
    pub(super) fn endpoint(self: &Arc<Self>, socket: DatagramSocket) -> Endpoint {
        let options = EndpointOptions { window: Options::default(), rundown: Duration::from_secs(3600) };
        Endpoint::new(socket, Arc::new(Shared(Arc::clone(self))), options).unwrap()
    }
}

impl Clients for Shared {
    fn admit(&self, _: Host) -> Option<Arc<dyn Interfaces>> {
        self.0.admitted.fetch_add(1, Ordering::Relaxed);
        Some(Arc::new(Self(Arc::clone(&self.0))))
    }

    fn note_refusal(&self, _: Host) {
        self.0.refused.fetch_add(1, Ordering::Relaxed);
    }
}

impl Interfaces for Shared {
    fn judge(&self, _: &Context) -> Outcome {
        unreachable!("datagrams have no contexts")
    }

    fn find(&self, _: Option<Uuid>, _: SyntaxId, _: Option<&Authenticated>) -> Result<(TargetId, Interface), Status> {
        Err(Status::UNK_IF)
    }

    fn admit(&self, _: TargetId, _: u16, _: Option<&Authenticated>) -> Result<(), Status> {
        Ok(())
    }

    fn perform(&self, _: &IncomingCall<'_>) -> Option<Result<Vec<u8>, Status>> {
        None
    }

    fn answer_bind(&self, _: SyntaxId, _: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn is_dispensable(&self) -> bool {
        !self.0.has_state.load(Ordering::Relaxed)
    }

    fn serve(self: Arc<Self>, mut lane: Window, _: Attribution) {
        thread::spawn(move || while serve_next(&mut lane, &mut Unused, Deadline::after_secs(3600)).is_ok() {});
    }
}

/// The service of the lanes. No call reaches it, because the server has no interfaces.
struct Unused;

impl Service for Unused {
    fn dispatch(&mut self, _: &mut ServerCall<'_>) -> Answer {
        Answer::fault(Status::UNK_IF)
    }

    fn answer_pdu(&mut self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn abandoned(&mut self) {}

    fn tidy(&mut self) {}
}

/// A client process with one activity.
struct Process {
    socket: DatagramSocket,
    activity: Activity,
}

impl Process {
    fn new(port: u16) -> Self {
        let socket = DatagramSocket::connect("127.0.0.1", port, Deadline::after_secs(20)).unwrap();
        let activity = Activity::new(draw().unwrap(), draw().unwrap(), Limits::default(), true);
        Self { socket, activity }
    }

    /// Returns the status of a call.
    fn call(&mut self) -> Status {
        let interface = SyntaxId { uuid: Uuid(9), version: 1 };
        let call = OutgoingCall { interface, opnum: 0, object: None, semantics: Semantics::AtMostOnce, stub: &[] };
        self.activity.call(Instant::now(), &call).unwrap();
        let mut room = vec![0; LONGEST];
        let until = Instant::now() + LATEST;
        loop {
            flush(&self.socket, self.activity.output());
            if let Some(outcome) = self.activity.take_outcome() {
                return outcome.expect_err("there is no interface").status;
            }
            assert!(Instant::now() < until, "no answer");
            let _ = self.socket.wait(Deadline::Within(Duration::from_millis(20)));
            while let Received::Datagram(length, _) = self.socket.receive(&mut room).unwrap() {
                self.activity.receive(Instant::now(), &room[..length]);
            }
            self.activity.tick(Instant::now());
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_newcomer_takes_the_place_of_the_client_that_has_been_silent_for_longest() {
    let socket = DatagramSocket::bind("127.0.0.1", 0).unwrap();
    let port = socket.port();
    let state = Arc::new(Nothing { has_state: AtomicBool::new(true), ..Nothing::default() });
    let endpoint = state.endpoint(socket);
    thread::spawn(move || while endpoint.attend().is_ok() {});

    let mut processes: Vec<_> = (0..CLIENTS_MAX / 2).map(|_| Process::new(port)).collect();
    assert!(processes.iter_mut().all(|process| process.call() == Status::UNK_IF));
    let mut newcomer = Process::new(port);
    // Clients for which the server keeps state do not yield.
    assert_eq!(newcomer.call(), Status::SERVER_TOO_BUSY);
    assert_eq!((state.admitted.load(Ordering::Relaxed), state.refused.load(Ordering::Relaxed)), (CLIENTS_MAX / 2, 1));

    state.has_state.store(false, Ordering::Relaxed);
    thread::sleep(MOMENT);
    // The second process has been silent for the longest time, so its client yields.
    assert_eq!(processes[0].call(), Status::UNK_IF);
    assert_eq!(newcomer.call(), Status::UNK_IF);
    let admitted = || state.admitted.load(Ordering::Relaxed);
    assert_eq!(admitted(), CLIENTS_MAX / 2 + 1);
    for (number, expected) in [(0, 1), (2, 1), (1, 2)] {
        assert_eq!(processes[number].call(), Status::UNK_IF);
        assert_eq!(admitted(), CLIENTS_MAX / 2 + expected, "process {number}");
    }
}
