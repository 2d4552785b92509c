//! Tests with a server of functions that does not use the runtime. The server handles PDUs and stub
//! data itself, and knows two interfaces.

use matrix::{Counters, rpcecho};
use obvia::{Agile, ContextHandle, InterfaceInfo, Remote as _, code};
use obvia_rpc::co::pdu::{Context, Outcome, UNKNOWN_INTERFACE};
use obvia_rpc::co::{Groups, IncomingCall, Joined, Joins, ServerAssociation, ServerEvent, ServerOptions};
use obvia_rpc::status::Status;
use obvia_rpc::uuid::{NDR, SyntaxId, Uuid};
use obvia_via::Deadline;
use obvia_via::stream::{Stream, StreamListener};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier, Mutex};

const PATIENCE: Deadline = Deadline::after_secs(60);

/// Returns an interface's abstract syntax.
fn syntax(info: &InterfaceInfo) -> SyntaxId {
    let (major, minor) = info.version;
    SyntaxId { uuid: Uuid(info.iid.to_u128()), version: u32::from(major) | u32::from(minor) << 16 }
}

/// A server that keeps counters for association groups, as the standard specifies.
#[derive(Debug, Default)]
struct Server {
    groups: Mutex<Groups>,
    /// The counters by association group and handle.
    counters: Mutex<HashMap<(u32, u128), u64>>,
    /// The number of counters that were ever opened.
    made: AtomicU32,
    /// The number of associations that asked for a new group.
    founded: AtomicU32,
    /// The number of associations that asked for an unknown group.
    refused: AtomicU32,
    streams: Mutex<Vec<Arc<Stream>>>,
}

/// An association of the server.
#[derive(Debug)]
struct Visit {
    server: Arc<Server>,
    group: AtomicU32,
}

impl Joins for Visit {
    fn join(&self, wanted: u32) -> Option<Joined> {
        let groups = self.server.groups.lock().unwrap().clone();
        let joined = groups.join(wanted);
        let counted = [&self.server.founded, &self.server.refused][usize::from(joined.is_none())];
        counted.fetch_add(u32::from(wanted == 0 || joined.is_none()), Ordering::Relaxed);
        self.group.store(joined.as_ref()?.number, Ordering::Relaxed);
        joined
    }
}

impl Visit {
    /// Answers AddOne of rpcecho, and Open and Next of Counters.
    fn answer(&self, call: &IncomingCall<'_>) -> Result<Vec<u8>, Status> {
        let group = self.group.load(Ordering::Relaxed);
        let mut counters = self.server.counters.lock().unwrap();
        match (call.presentation.interface == syntax(rpcecho::INFO), call.opnum, call.stub, call.object) {
            (true, 0, [a, b, c, d], None) => Ok((u32::from_le_bytes([*a, *b, *c, *d]) + 1).to_le_bytes().to_vec()),
            (true, 0, [..], Some(object)) => Ok((object.0 as u32).to_le_bytes().to_vec()),
            (false, 0, first, None) => {
                let uuid = u128::from(self.server.made.fetch_add(1, Ordering::Relaxed)) + 7;
                counters.insert((group, uuid), u64::from_le_bytes(first.try_into().unwrap()));
                // The results are the handle and the status.
                Ok([&[0; 4], &uuid.to_le_bytes()[..], &[0; 4]].concat())
            }
            (false, 1, [0, 0, 0, 0, uuid @ ..], None) => {
                let uuid = u128::from_le_bytes(uuid.try_into().unwrap());
                let next = counters.get_mut(&(group, uuid)).ok_or(Status::CONTEXT_MISMATCH)?;
                *next += 1;
                Ok((*next - 1).to_le_bytes().to_vec())
            }
            _ => Err(Status::OP_RNG_ERROR),
        }
    }

    fn serve(self: Arc<Self>, stream: &Stream) -> Result<(), Box<dyn std::error::Error>> {
        let groups = Some(Arc::clone(&self) as Arc<_>);
        let mut association = ServerAssociation::new(ServerOptions { groups, ..ServerOptions::default() });
        let mut judge = |context: &Context| {
            let is_known = [rpcecho::INFO, Counters::INFO].map(syntax).contains(&context.interface);
            if is_known { Outcome::choose(context, &[NDR]) } else { Outcome::refused(UNKNOWN_INTERFACE) }
        };
        loop {
            let outcome = loop {
                let (id, answer) = match association.poll(&mut judge) {
                    Ok(Some(ServerEvent::Call(call))) => (call.id, self.answer(&call)),
                    Ok(Some(_)) => continue,
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                };
                match answer {
                    Ok(results) => association.respond(id, &results)?,
                    Err(status) => association.fault(id, status, false)?,
                }
            };
            stream.send(association.output(), PATIENCE)?;
            association.output().clear();
            outcome?;
            let count = stream.receive(association.input.room(), PATIENCE)?;
            association.input.filled(count);
        }
    }
}

impl Server {
    /// Starts the server, and returns its binding.
    fn start(self: &Arc<Self>) -> String {
        let listener = StreamListener::bind("127.0.0.1", 0).unwrap();
        let binding = format!("ncacn_ip_tcp:127.0.0.1[{}]", listener.endpoint());
        let server = Arc::clone(self);
        std::thread::spawn(move || {
            while let Ok(stream) = listener.accept(PATIENCE) {
                let stream = Arc::new(stream);
                server.streams.lock().unwrap().push(Arc::clone(&stream));
                let visit = Arc::new(Visit { server: Arc::clone(&server), group: AtomicU32::new(0) });
                std::thread::spawn(move || visit.serve(&stream).map_err(|error| error.to_string()));
            }
        });
        binding
    }

    /// Ends all connections, and forgets all clients.
    fn begin_anew(&self) {
        *self.groups.lock().unwrap() = Groups::default();
        self.counters.lock().unwrap().clear();
        self.streams.lock().unwrap().drain(..).for_each(|stream| stream.close());
    }
}

#[test]
#[cfg_attr(miri, ignore = "connects by TCP")]
fn functions_of_a_foreign_server_are_called() {
    let binding = Arc::new(Server::default()).start();
    let echo: rpcecho = obvia::bind(&binding).unwrap();
    assert_eq!(echo.AddOne(41).unwrap(), 42);
    assert_eq!(echo.SinkData(&[1]).unwrap_err().code(), code::RPC_E_SERVERFAULT, "it has no other function");
    assert_eq!(echo.AddOne(1).unwrap(), 2);
    let named: rpcecho = obvia::bind(&format!("00000000-0000-0000-0000-000000000007@{binding}")).unwrap();
    assert_eq!(named.AddOne(41).unwrap(), 7, "the object is named");
    let Err(error) = obvia::bind::<matrix::Clock>(&binding) else { panic!("it has another interface") };
    assert_eq!(error.code(), code::E_NOINTERFACE, "{error}");
}

/// C706 9.3.3: context handles belong to the association group, whichever thread calls.
#[test]
#[cfg_attr(miri, ignore = "connects by TCP")]
fn all_threads_of_a_binding_are_one_client() {
    const THREADS: usize = 8;
    let server = Arc::new(Server::default());
    let counters = Agile::new(&obvia::bind::<Counters>(&server.start()).unwrap()).unwrap();
    let (counter, _): (ContextHandle, u32) = counters.get().Open(100).unwrap();
    let founded = server.founded.load(Ordering::Relaxed);
    // All threads call at the same time, so that each has its own connection.
    let barrier = Barrier::new(THREADS);
    let counted = || {
        barrier.wait();
        let counted = counters.get().Next(counter).unwrap();
        barrier.wait();
        counted
    };
    let mut all: Vec<i64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(counted)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    all.sort_unstable();
    assert_eq!(all, (100..108).collect::<Vec<_>>());
    assert_eq!(server.founded.load(Ordering::Relaxed), founded, "no thread has asked for another group");
}

#[test]
#[cfg_attr(miri, ignore = "connects by TCP")]
fn a_restarted_server_gets_a_new_association_group() {
    let server = Arc::new(Server::default());
    let counters = Agile::new(&obvia::bind::<Counters>(&server.start()).unwrap()).unwrap();
    let (before, _) = counters.get().Open(1).unwrap();
    assert_eq!(counters.get().Next(before).unwrap(), 1);
    server.begin_anew();
    let (after, _) = on_its_own_thread(|| counters.get().Open(20)).unwrap();
    assert!(server.refused.load(Ordering::Relaxed) > 0, "nobody asked for the group of before");
    assert_eq!(on_its_own_thread(|| counters.get().Next(after)).unwrap(), 20);
    let gone = on_its_own_thread(|| counters.get().Next(before)).unwrap_err();
    assert_eq!(gone.code(), code::RPC_X_SS_CONTEXT_MISMATCH);
}

fn on_its_own_thread<R: Send>(call: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| scope.spawn(call).join().unwrap())
}
