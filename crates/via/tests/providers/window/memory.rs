//! Relays that pass messages on in memory.

use super::{Connect, TIMEOUT, options};
use obvia_via::window::{Inbox, Options, Outgoing, Peer, Relay, Window, relayed};
use obvia_via::{Deadline, Ended, Error, Header, Kind, Waiting};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// The messages on their way to one end.
#[derive(Debug, Default)]
struct Way {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    messages: VecDeque<(Header, Vec<u8>)>,
    is_rung: bool,
    has_ended: bool,
}

impl Way {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap());
        self.changed.notify_all();
    }
}

#[derive(Debug)]
struct Memory {
    to_peer: Arc<Way>,
    to_self: Arc<Way>,
}

impl Relay for Memory {
    fn send(&self, message: Outgoing<'_>) -> Result<(), Error> {
        self.to_peer.change(|state| state.messages.push_back((message.header, message.frame.to_vec())));
        Ok(())
    }

    fn receive(&self, inbox: &mut Inbox<'_>, span: Duration) -> Result<(), Error> {
        let nothing = |state: &mut State| state.messages.is_empty() && !state.is_rung && !state.has_ended;
        let state = self.to_self.state.lock().unwrap();
        let (mut state, _) = self.to_self.changed.wait_timeout_while(state, span, nothing).unwrap();
        state.is_rung = false;
        let Some((header, frame)) = state.messages.pop_front() else {
            drop(state);
            return self.check();
        };
        inbox.put(header, &frame)?;
        assert!(matches!(inbox.put(header, &frame), Err(Error::BadState { .. })));
        Ok(())
    }

    fn wake(&self) {
        self.to_self.change(|state| state.is_rung = true);
    }

    fn check(&self) -> Result<(), Error> {
        let state = self.to_self.state.lock().unwrap();
        let is_over = state.has_ended && state.messages.is_empty();
        if is_over { Err(Error::Disconnected { peer: "memory".to_owned(), why: Ended::ByPeer }) } else { Ok(()) }
    }

    fn peer(&self) -> Peer {
        Peer::Host("memory".to_owned())
    }

    fn end(&self) {
        self.to_peer.change(|state| state.has_ended = true);
    }
}

pub(super) struct OverMemory;

/// Windows over relays in memory.
pub(super) fn over_memory() -> OverMemory {
    OverMemory
}

fn windows(options: &Options) -> [Window; 2] {
    let ways = [Arc::<Way>::default(), Arc::default()];
    [0, 1].map(|end| {
        let relay = Memory { to_peer: Arc::clone(&ways[end]), to_self: Arc::clone(&ways[1 - end]) };
        relayed(Box::new(relay), options).unwrap()
    })
}

impl Connect for OverMemory {
    fn between(&self, waiting: Waiting, serve: impl FnOnce(Window) + Send, call: impl FnOnce(Window)) {
        let [server, client] = windows(&options(waiting));
        std::thread::scope(|scope| {
            scope.spawn(|| serve(server));
            call(client);
        });
    }
}

#[test]
fn a_frame_over_the_limit_is_refused_and_ends_the_window() {
    let small = Options { area: 4096, max_frame: 5000, ..Options::default() };
    for (length, fits) in [(5000, true), (5001, false)] {
        let ways = [Arc::<Way>::default(), Arc::default()];
        ways[0].change(|state| {
            let header = Header { kind: Kind::Request, opnum: 3, first: 7, second: 9 };
            state.messages.push_back((header, vec![5; length]));
        });
        let relay = Memory { to_peer: Arc::clone(&ways[1]), to_self: Arc::clone(&ways[0]) };
        let mut window = relayed(Box::new(relay), &small).unwrap();
        match window.rx.receive(TIMEOUT) {
            Ok(message) => assert!(fits && message.frame().len() == length && message.target_word() == 7 | 9 << 32),
            Err(error) => assert!(!fits && matches!(error, Error::TooLong { length: 5001, limit: 5000 }), "{error}"),
        }
    }
}

#[test]
fn relayed_area_places_are_free_once_messages_are_taken() {
    let [mut one, _other] = windows(&options(Waiting::Block));
    for number in 0..200 {
        let header = Header { kind: Kind::Oneway, opnum: 3, first: number, second: 0 };
        one.tx.area_frame(3000, 0, Deadline::Within(Duration::ZERO)).unwrap();
        one.tx.send_area(header, 3000);
    }
    assert_eq!(one.counters().sent, 200);
}

#[test]
fn polling_waits_for_an_idle_relay_sleep() {
    let [mut window, _peer] = windows(&options(Waiting::Poll));
    let outcome = window.rx.receive(Deadline::Within(Duration::from_millis(200)));
    assert!(matches!(outcome, Err(Error::TimedOut)), "{outcome:?}");
    assert!(window.counters().sleeps > 0);
}
