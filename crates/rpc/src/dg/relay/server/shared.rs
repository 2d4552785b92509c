//! The server that all clients of an endpoint share.

use crate::dg::{Output, Server, ServerEvent};
use obvia_via::datagram::Place;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The maximum number of buffers that are kept for later sends.
const SPARE_MAX: usize = 4;

/// The server with its lock. No thread holds the lock while it sends. So threads that answer calls
/// delay neither each other nor the thread that receives.
#[derive(Debug)]
pub(super) struct SharedServer(Mutex<State>);

#[derive(Debug)]
struct State {
    server: Server,
    /// The destinations to which threads send now, each with the number of the sending thread's
    /// call of [`SharedServer::with`].
    busy: Vec<(u64, Place)>,
    /// The number of calls of [`SharedServer::with`] that had output to send.
    visits: u64,
    /// Further datagrams for the destinations in `busy`, in the order of sending. A datagram waits
    /// here until the thread that sends to its destination has sent its batch. So datagrams for one
    /// destination do not overtake each other.
    held: Vec<(Place, Vec<u8>)>,
    /// Empty buffers, for later sends.
    spare: Vec<Output<Place>>,
}

impl SharedServer {
    pub(super) fn new(server: Server) -> Self {
        Self(Mutex::new(State { server, busy: Vec::new(), visits: 0, held: Vec::new(), spare: Vec::new() }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a function on the server. Then sends the output, without the lock. While this thread
    /// sends, other threads may leave further datagrams for its destinations. This thread sends
    /// them, too.
    pub(super) fn with(&self, what: impl FnOnce(&mut Server), mut send: impl FnMut(&[u8], Place)) {
        let mut state = self.lock();
        what(&mut state.server);
        if state.server.output().is_empty() {
            return;
        }
        state.visits += 1;
        let visit = state.visits;
        let mut batch = state.spare.pop().unwrap_or_default();
        while state.take(visit, &mut batch) {
            drop(state);
            batch.iter().for_each(|(to, datagram)| send(datagram, to));
            state = self.lock();
            state.busy.retain(|(other, _)| *other != visit);
            batch.clear();
        }
        if state.spare.len() < SPARE_MAX {
            state.spare.push(batch);
        }
    }

    /// Removes and returns the server's oldest event, if there is one.
    pub(super) fn next_event(&self) -> Option<ServerEvent> {
        self.lock().server.next_event()
    }

    /// Returns the number of known activities.
    pub(super) fn activities(&self) -> usize {
        self.lock().server.activities()
    }
}

impl State {
    /// Fills the empty batch of a thread with the datagrams whose destinations are not busy. A
    /// destination is busy while a thread sends to it. `visit` is the number of the thread's call
    /// of [`SharedServer::with`]. Returns false if there are no such datagrams.
    fn take(&mut self, visit: u64, batch: &mut Output<Place>) -> bool {
        let Self { server, busy, held, .. } = self;
        let output = server.output();
        let is_busy = |place: Place| busy.iter().any(|(_, busy)| *busy == place);
        for (to, datagram) in held.extract_if(.., |(to, _)| !is_busy(*to)) {
            batch.put(to, |bytes| bytes.extend_from_slice(&datagram));
        }
        if batch.is_empty() && output.iter().all(|(to, _)| !is_busy(to)) {
            mem::swap(output, batch);
        }
        for (to, datagram) in output.iter() {
            if is_busy(to) {
                held.push((to, datagram.to_vec()));
            } else {
                batch.put(to, |bytes| bytes.extend_from_slice(datagram));
            }
        }
        output.clear();
        for (to, _) in batch.iter() {
            // Only a repetition of the last destination is recognised. This suffices, because the
            // datagrams of a message are adjacent in the batch.
            if busy.last() != Some(&(visit, to)) {
                busy.push((visit, to));
            }
        }
        !batch.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dg::pdu::{Header, PduType};
    use crate::dg::{Activity, CallKey, Limits, OutgoingCall, Semantics, ServerOptions};
    use crate::uuid::{SyntaxId, Uuid};
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    /// The limit of a wait.
    const LATEST: Duration = Duration::from_secs(60);

    /// Lets a client's call arrive at the server, and returns its key.
    fn call(server: &SharedServer, from: Place, id: u128) -> CallKey {
        let mut client = Activity::new(Uuid(id), Uuid(id), Limits::default(), false);
        let interface = SyntaxId { uuid: Uuid(9), version: 1 };
        let call = OutgoingCall { interface, opnum: 0, object: None, semantics: Semantics::AtMostOnce, stub: &[] };
        client.call(Instant::now(), &call).unwrap();
        loop {
            let mut answers = Vec::new();
            for ((), datagram) in client.output().iter() {
                let receive = |server: &mut Server| server.receive(Instant::now(), from, datagram);
                server.with(receive, |answer, _| answers.push(answer.to_vec()));
            }
            client.output().clear();
            if let Some(ServerEvent::Call(call)) = server.next_event() {
                return call.key;
            }
            answers.iter().for_each(|answer| client.receive(Instant::now(), answer));
        }
    }

    #[test]
    fn a_client_to_which_a_thread_sends_for_long_delays_no_other_client() {
        let options = ServerOptions { limits: Limits::default(), boot: 1, secret: [3; 16] };
        let server = SharedServer::new(Server::new(options));
        let [slow, quick] = ["10.0.0.1:1", "10.0.0.2:2"].map(|place| place.parse::<Place>().unwrap());
        let calls = [call(&server, slow, 1), call(&server, quick, 2)];
        let respond = |key| move |server: &mut Server| server.respond(Instant::now(), key, vec![7]);
        thread::scope(|scope| {
            let (begun, has_begun) = mpsc::channel();
            let (go_on, may_go_on) = mpsc::channel();
            let server = &server;
            let sending = scope.spawn(move || {
                let mut sent = Vec::new();
                server.with(respond(calls[0]), |datagram, to| {
                    begun.send(()).unwrap();
                    may_go_on.recv_timeout(LATEST).unwrap();
                    sent.push((to, Header::read(datagram).unwrap().0.serial));
                });
                sent
            });
            has_begun.recv_timeout(LATEST).unwrap();
            let (served, is_served) = mpsc::channel();
            scope.spawn(move || {
                // Further datagrams for the first client do not overtake the one being sent.
                let ping = Header::new(PduType::PING, calls[0].activity, calls[0].sequence);
                let mut bytes = Vec::new();
                ping.write(&mut bytes, &[]);
                let receive = |server: &mut Server| server.receive(Instant::now(), slow, &bytes);
                server.with(receive, |_, to| panic!("a datagram for {to} overtakes another one"));
                server.with(respond(calls[1]), |_, to| served.send(to).unwrap());
            });
            assert_eq!(is_served.recv_timeout(LATEST), Ok(quick), "the other client waits");
            (0..2).for_each(|_| go_on.send(()).unwrap());
            assert_eq!(sending.join().unwrap(), [(slow, 1), (slow, 2)]);
        });
    }
}
