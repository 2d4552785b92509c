//! Tests of lanes: a client with several outstanding calls on one association.

use super::*;
use crate::co::pdu::{Context, FragmentSizes, Outcome};
use crate::co::relay::Form;
use crate::co::{Budget, ClientAssociation, ClientEvent, ClientOptions, Limits, OutgoingCall};
use crate::security::Authenticated;
use crate::uuid::{NDR, SyntaxId};
use crate::vi_call::{Answer, ServerCall, Service, serve, serve_next};
use obvia_via::stream::StreamListener;
use std::collections::HashSet;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

const LIMIT: Deadline = Deadline::after_secs(60);
const INTERFACE: SyntaxId = SyntaxId { uuid: Uuid(0x1234), version: 1 };

/// The opnum of a method that no client may call.
const DENIED: u16 = 7;
/// The opnums of two methods of the runtime's own interfaces. Each method fails with the status at
/// the same index of [`OWN_FAULTS`].
const OWN: [u16; 2] = [8, 9];
const OWN_FAULTS: [Status; 2] = [Status::SERVER_TOO_BUSY, Status::BAD_STUB_DATA];

/// An event of a method: it begins, or its response is not wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Begun(u16),
    Abandoned(u16),
}

/// A server whose methods return when the test releases them.
#[derive(Debug)]
struct Methods {
    released: Mutex<HashSet<u16>>,
    release: Condvar,
    events: Sender<Event>,
    /// The further lanes, if the test does not serve them.
    unserved: Option<Mutex<Vec<Window>>>,
}

impl Methods {
    fn release(&self, opnum: u16) {
        self.released.lock().unwrap().insert(opnum);
        self.release.notify_all();
    }
}

impl Interfaces for Methods {
    fn judge(&self, context: &Context) -> Outcome {
        Outcome::choose(context, &[NDR])
    }

    fn find(&self, _: Option<Uuid>, _: SyntaxId, _: Option<&Authenticated>) -> Result<(TargetId, Interface), Status> {
        Ok((TargetId { index: 1, generation: 1 }, Interface { form: Form::Octets, objects: None }))
    }

    fn admit(&self, _: TargetId, opnum: u16, _: Option<&Authenticated>) -> Result<(), Status> {
        if opnum == DENIED { Err(Status::ACCESS_DENIED) } else { Ok(()) }
    }

    fn perform(&self, call: &IncomingCall<'_>) -> Option<Result<Vec<u8>, Status>> {
        let at = OWN.iter().position(|opnum| *opnum == call.opnum)?;
        Some(Err(OWN_FAULTS[at]))
    }

    fn answer_bind(&self, _: SyntaxId, _: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn is_dispensable(&self) -> bool {
        false
    }

    fn serve(self: Arc<Self>, mut lane: Window, _: Attribution) {
        if let Some(unserved) = &self.unserved {
            return unserved.lock().unwrap().push(lane);
        }
        std::thread::spawn(move || serve(&mut lane, &mut Performer { methods: self, last: 0 }));
    }
}

/// The service of one lane.
struct Performer {
    methods: Arc<Methods>,
    last: u16,
}

impl Service for Performer {
    fn dispatch(&mut self, call: &mut ServerCall<'_>) -> Answer {
        let opnum = call.opnum();
        self.last = opnum;
        self.methods.events.send(Event::Begun(opnum)).unwrap();
        let released = self.methods.released.lock().unwrap();
        drop(self.methods.release.wait_while(released, |released| !released.contains(&opnum)).unwrap());
        Answer::fault(Status::OP_RNG_ERROR)
    }

    fn answer_pdu(&mut self, _: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn abandoned(&mut self) {
        self.methods.events.send(Event::Abandoned(self.last)).unwrap();
    }

    fn tidy(&mut self) {}
}

/// A client that may have several outstanding calls.
struct Client {
    stream: Stream,
    association: ClientAssociation,
}

impl Client {
    fn bind(&mut self) {
        self.association.bind(vec![Context { id: 0, interface: INTERFACE, transfers: vec![NDR] }], None).unwrap();
        self.flush();
        self.receive(|event| assert!(matches!(event, ClientEvent::Bound(..))));
    }

    fn flush(&mut self) {
        self.stream.send(&std::mem::take(self.association.output()), LIMIT).unwrap();
    }

    /// Receives until an event arrives.
    fn receive<R>(&mut self, take: impl Fn(ClientEvent<'_>) -> R) -> R {
        loop {
            if let Some(event) = self.association.poll().unwrap() {
                return take(event);
            }
            let count = self.stream.receive(self.association.input.room(), LIMIT).unwrap();
            self.association.input.filled(count);
        }
    }

    fn call(&mut self, opnum: u16) -> u32 {
        let call = OutgoingCall { context_id: 0, opnum, object: None, is_maybe: false, security: None, stub: &[] };
        let id = self.association.call(&call).unwrap();
        self.flush();
        id
    }

    fn receive_fault(&mut self, id: u32) {
        self.receive(|event| assert!(matches!(event, ClientEvent::Fault(fault) if fault.id == id)));
    }

    fn orphan(&mut self, id: u32) {
        self.association.orphan(id);
        self.flush();
    }
}

fn next(happened: &Receiver<Event>) -> Event {
    happened.recv_timeout(LIMIT.remaining()).unwrap()
}

/// Returns a client, and the first lane of its server.
fn pair(unserved: Option<Mutex<Vec<Window>>>) -> (Client, Arc<Methods>, Window, Receiver<Event>) {
    pair_with(ServerOptions::default(), unserved)
}

/// As [`pair`], with these options of the server.
fn pair_with(
    options: ServerOptions,
    unserved: Option<Mutex<Vec<Window>>>,
) -> (Client, Arc<Methods>, Window, Receiver<Event>) {
    let listener = StreamListener::bind("127.0.0.1", 0).unwrap();
    let stream = Stream::connect("127.0.0.1", listener.endpoint().parse().unwrap(), LIMIT).unwrap();
    let (events, happened) = channel();
    let methods = Arc::new(Methods { released: Mutex::default(), release: Condvar::new(), events, unserved });
    let interfaces: Arc<dyn Interfaces> = Arc::<Methods>::clone(&methods);
    let server = Arc::new(listener.accept(LIMIT).unwrap());
    let (lane, _) = first_lane(server, interfaces, &Options::default(), options).unwrap();
    let limits = Limits { sizes: FragmentSizes::GREATEST, message_max: 100_000, calls_max: 4, ..Limits::default() };
    let client = Client { stream, association: ClientAssociation::new(ClientOptions { limits }) };
    (client, methods, lane, happened)
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn the_lane_of_an_orphaned_call_learns_of_it() {
    let (mut client, methods, lane, happened) = pair(None);
    Arc::clone(&methods).serve(lane, Attribution::default());
    client.bind();
    let ids = [1, 2].map(|opnum| {
        let id = client.call(opnum);
        let begun = next(&happened);
        assert!(matches!(begun, Event::Begun(_)));
        (id, begun)
    });
    let [(first, Event::Begun(one)), (second, Event::Begun(two))] = ids else { panic!("{ids:?}") };
    // From now on, a third lane receives for all lanes. The client orphans the first lane's call
    // after the lane has answered it.
    methods.release(one);
    client.receive_fault(first);
    client.orphan(first);
    assert_eq!(next(&happened), Event::Abandoned(one));
    // The client orphans the second lane's call before the lane has answered it, so that the lane
    // sends no answer.
    client.orphan(second);
    let (last, third) = (client.call(3), next(&happened));
    let Event::Begun(three) = third else { panic!("{third:?}") };
    methods.release(two);
    assert_eq!(next(&happened), Event::Abandoned(two));
    methods.release(three);
    client.receive_fault(last);
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_lane_is_added_for_a_call_but_not_for_a_cancel() {
    let (mut client, methods, mut lane, happened) = pair(Some(Mutex::default()));
    let mut performer = Performer { methods: Arc::clone(&methods), last: 0 };
    methods.release(1);
    let id = std::thread::scope(|scope| {
        let served = scope.spawn(|| serve_next(&mut lane, &mut performer, LIMIT));
        client.bind();
        let id = client.call(1);
        client.receive_fault(id);
        served.join().unwrap().unwrap();
        id
    });
    let added = || methods.unserved.as_ref().unwrap().lock().unwrap().len();
    assert_eq!((next(&happened), added()), (Event::Begun(1), 1));
    client.orphan(id);
    serve_next(&mut lane, &mut performer, LIMIT).unwrap();
    assert_eq!((next(&happened), added()), (Event::Abandoned(1), 1));
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_fault_of_an_own_call_tells_whether_the_call_may_have_run() {
    let (mut client, methods, lane, _happened) = pair(None);
    methods.serve(lane, Attribution::default());
    client.bind();
    let faults = OWN.map(|opnum| {
        client.call(opnum);
        client.receive(|event| match event {
            ClientEvent::Fault(fault) => (fault.status, fault.began),
            other => panic!("{other:?}"),
        })
    });
    assert_eq!(faults, [(OWN_FAULTS[0], false), (OWN_FAULTS[1], true)]);
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_client_that_does_not_read_delays_no_thread_that_wakes_its_lanes() {
    let (mut client, methods, lane, _happened) = pair(None);
    let alarm = lane.alarm();
    methods.serve(lane, Attribution::default());
    client.bind();
    let call = OutgoingCall { context_id: 0, opnum: DENIED, object: None, is_maybe: false, security: None, stub: &[] };
    client.association.call(&call).unwrap();
    let requests = std::mem::take(client.association.output()).repeat(1000);
    // Both directions fill up: the server waits until the client reads the faults.
    while client.stream.send(&requests, Deadline::Within(Duration::from_secs(1))).is_ok() {}
    let begun = Instant::now();
    alarm.ring();
    assert!(begun.elapsed() < PEER_TIMEOUT / 2);
}

/// Checks that the server refuses a client that sends a part of a call and then falls silent.
/// `part` returns the length of the part, given the length of the call's first fragment.
#[track_caller]
fn is_refused_after(part: impl Fn(usize) -> usize) {
    let limits = Limits { silence_max: Duration::from_millis(200), ..Limits::default() };
    let (mut client, methods, mut lane, _happened) =
        pair_with(ServerOptions { limits, ..ServerOptions::default() }, None);
    let mut performer = Performer { methods, last: 0 };
    let served = std::thread::spawn(move || serve_next(&mut lane, &mut performer, LIMIT));
    client.bind();
    let stub = &[0; 100_000];
    let call = OutgoingCall { context_id: 0, opnum: 1, object: None, is_maybe: false, security: None, stub };
    client.association.call(&call).unwrap();
    let request = std::mem::take(client.association.output());
    let first = usize::from(u16::from_le_bytes([request[8], request[9]]));
    assert!(first < request.len(), "the call has several fragments");
    client.stream.send(&request[..part(first)], LIMIT).unwrap();
    let outcome = served.join().unwrap();
    assert!(outcome.as_ref().is_err_and(|error| error.to_string().contains("too slowly")), "{outcome:?}");
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_client_that_falls_silent_within_a_call_is_refused() {
    is_refused_after(|first| first);
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_client_that_falls_silent_within_a_fragment_is_refused() {
    is_refused_after(|first| first / 2);
    is_refused_after(|_| 1);
}

/// A budget without a limit, which counts the bytes that are taken.
#[derive(Debug, Default)]
struct Taken(Mutex<usize>);

impl Budget for Taken {
    fn take(&self, bytes: usize) -> bool {
        *self.0.lock().unwrap() += bytes;
        true
    }

    fn give_back(&self, bytes: usize) {
        *self.0.lock().unwrap() -= bytes;
    }
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn the_arguments_of_a_call_take_memory_until_the_call_is_over() {
    const LENGTH: usize = 90_000;
    let budget = Arc::<Taken>::default();
    let options = ServerOptions { budget: Some(Arc::clone(&budget) as Arc<_>), ..ServerOptions::default() };
    let (mut client, methods, lane, happened) = pair_with(options, None);
    Arc::clone(&methods).serve(lane, Attribution::default());
    client.bind();
    let taken = || *budget.0.lock().unwrap();
    let ids = [1, 2].map(|opnum| {
        let stub = &[0; LENGTH];
        let call = OutgoingCall { context_id: 0, opnum, object: None, is_maybe: false, security: None, stub };
        let id = client.association.call(&call).unwrap();
        client.flush();
        assert_eq!(next(&happened), Event::Begun(opnum));
        id
    });
    assert_eq!(taken(), 2 * LENGTH);
    for (left, (opnum, id)) in [(1, (2, ids[1])), (0, (1, ids[0]))] {
        methods.release(opnum);
        client.receive_fault(id);
        // The response may arrive before the lane's thread has given back the memory.
        let until = LIMIT.start();
        while taken() != left * LENGTH {
            assert!(!until.is_over(), "the memory of the call is not given back");
            std::thread::yield_now();
        }
    }
}
