//! Windows over providers with descriptors, and over relays: both behave as mapped windows do.

mod memory;
mod parking;

use memory::over_memory;
use obvia_via::provider::{shm, udp};
use obvia_via::window::{self, Options, Window};
use obvia_via::{Budget, Deadline, Error, Header, Kind, Nic, Waiting};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

const TIMEOUT: Deadline = Deadline::Within(ground::LATEST);

/// The wait for an event that must not happen.
const BRIEF: Deadline = Deadline::Within(Duration::from_millis(20));

/// The ways to connect a server and a client for a test.
trait Connect {
    fn between(&self, waiting: Waiting, serve: impl FnOnce(Window) + Send, call: impl FnOnce(Window));
}

/// Two NICs that reach each other, and the folder to remove afterwards.
struct Pair {
    nics: [Nic; 2],
    discriminator: String,
    _folder: Option<ground::Folder>,
}

fn over_shm() -> Pair {
    let folder = ground::Folder::new("via-window");
    let directory = shm::Directory::at(folder.path()).unwrap();
    let open = || shm::open(&shm::NicOptions { directory: Some(directory.clone()), ..Default::default() }).unwrap();
    Pair { nics: [open(), open()], discriminator: "window".to_owned(), _folder: Some(folder) }
}

fn over_udp() -> Pair {
    let open = || udp::open(&udp::Options::default()).unwrap();
    Pair { nics: [open(), open()], discriminator: "127.0.0.1:0".to_owned(), _folder: None }
}

fn options(waiting: Waiting) -> Options {
    Options { waiting, area: 8192, max_frame: 1 << 20, ..Options::default() }
}

fn granted(window: Window) -> Window {
    window.grant_areas(None);
    window
}

impl Connect for Pair {
    fn between(&self, waiting: Waiting, serve: impl FnOnce(Window) + Send, call: impl FnOnce(Window)) {
        let mut listener = self.nics[0].listen(&self.discriminator).unwrap();
        let address = listener.address();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let request = listener.wait(TIMEOUT).unwrap();
                serve(granted(window::accept(&self.nics[0], request, &options(waiting), TIMEOUT).unwrap()));
            });
            call(granted(window::connect(&self.nics[1], &address, &options(waiting), TIMEOUT).unwrap()));
        });
    }
}

const REQUEST: Header = Header { kind: Kind::Request, opnum: 3, first: 7, second: 9 };

/// Sends a frame filled with `byte`.
fn send(window: &mut Window, header: Header, length: usize, byte: u8) {
    if length <= obvia_via::layout::INLINE_MAX {
        window.tx.inline_frame(TIMEOUT).unwrap()[..length].fill(byte);
        window.tx.send_inline(header, length);
    } else {
        window.tx.area_frame(length, 0, TIMEOUT).unwrap().fill(byte);
        window.tx.send_area(header, length);
    }
}

/// Answers every request with a frame of the same length, each byte one more, until the peer is
/// gone.
fn echo(mut window: Window) {
    loop {
        let (header, bytes) = match window.rx.receive(TIMEOUT) {
            Ok(message) => {
                let mut bytes = vec![0; message.frame().len()];
                message.frame().copy_to(0, &mut bytes).unwrap();
                (message.header().unwrap(), bytes)
            }
            Err(Error::Disconnected { .. }) => return,
            Err(error) => panic!("{error}"),
        };
        window.tx.taken_all();
        assert!(bytes.windows(2).all(|pair| pair[0] == pair[1]), "a frame came torn");
        let answer = Header { kind: Kind::Response, ..header };
        send(&mut window, answer, bytes.len(), bytes.first().map_or(0, |byte| byte.wrapping_add(1)));
    }
}

fn frames_of_all_lengths_arrive(pair: &impl Connect, waiting: Waiting) {
    pair.between(waiting, echo, |mut window| {
        let lengths = [0, 1, 8, 112, 113, 4000, 8000, 8192, 9000, 100_000, 1 << 20, 5, 70_000];
        for (turn, length) in lengths.into_iter().cycle().take(60).enumerate() {
            let byte = turn as u8;
            let sequence = window.tx.next_sequence();
            send(&mut window, REQUEST, length, byte);
            let message = window.rx.receive(TIMEOUT).unwrap();
            assert_eq!(message.header().unwrap(), Header { kind: Kind::Response, ..REQUEST });
            let mut bytes = vec![0; message.frame().len()];
            message.frame().copy_to(0, &mut bytes).unwrap();
            assert!(bytes.len() == length && bytes.iter().all(|&found| found == byte.wrapping_add(1)), "turn {turn}");
            window.tx.taken_through(sequence);
        }
        let areas = window.counters().areas;
        assert!(areas >= 3, "{areas} areas");
    });
}

/// Responses outgrow the area again and again while alarms are rung. The next wait for a message
/// reports the alarm.
fn a_rung_alarm_ends_no_wait_for_a_larger_area(pair: &impl Connect) {
    let lengths = [10_000, 40_000, 160_000, 640_000];
    let (done, is_done) = channel();
    let serve = move |mut window: Window| {
        for length in lengths {
            let header = loop {
                match window.rx.receive(TIMEOUT) {
                    Ok(message) => break message.header().unwrap(),
                    Err(Error::Cancelled) => {}
                    Err(error) => panic!("{error}"),
                }
            };
            window.tx.taken_all();
            window.alarm().ring();
            window.tx.response_frame(length, 0, TIMEOUT).unwrap().fill(1);
            window.tx.send_area(Header { kind: Kind::Response, ..header }, length);
        }
        let outcome = window.rx.receive(TIMEOUT).map(|message| message.sequence());
        done.send(()).unwrap();
        assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
        let _ = window.rx.receive(TIMEOUT);
    };
    pair.between(Waiting::Adaptive, serve, |mut window| {
        for length in lengths {
            let sequence = window.tx.next_sequence();
            send(&mut window, REQUEST, 0, 0);
            assert_eq!(window.rx.receive(TIMEOUT).unwrap().frame().len(), length);
            window.tx.taken_through(sequence);
        }
        is_done.recv().unwrap();
    });
}

/// The next frame of any length uses the area for which an interrupted wait has asked.
fn an_interrupted_wait_for_a_larger_area_can_be_repeated(pair: &impl Connect) {
    pair.between(Waiting::Adaptive, echo, |mut window| {
        for (interrupted, length) in [(10_000, 30_000), (100_000, 50_000), (200_000, 900_000)] {
            window.alarm().ring();
            let _ = window.tx.area_frame(interrupted, 0, TIMEOUT);
            // If the peer was quick, the wait above was not interrupted. The alarm then interrupts
            // this wait.
            while let Err(error) = window.tx.area_frame(length, 0, TIMEOUT) {
                assert!(matches!(error, Error::Cancelled), "{error}");
            }
            let sequence = window.tx.next_sequence();
            send(&mut window, REQUEST, length, 7);
            let response = loop {
                match window.rx.receive(TIMEOUT) {
                    Ok(message) => break message,
                    Err(Error::Cancelled) => {}
                    Err(error) => panic!("{error}"),
                }
            };
            assert_eq!((response.frame().len(), response.frame().load_u8(length - 1)), (length, Some(8)));
            window.tx.taken_through(sequence);
        }
    });
}

/// Waits a moment for room for a frame of this length.
fn try_room(window: &mut Window, length: usize) {
    if length <= obvia_via::layout::INLINE_MAX {
        let _ = window.tx.inline_frame(BRIEF);
    } else {
        let _ = window.tx.area_frame(length, 0, BRIEF);
    }
}

fn messages_without_answers_wait_for_credit(pair: &impl Connect) {
    const MESSAGES: u32 = 500;
    let (go, goes) = channel();
    let serve = move |mut window: Window| {
        goes.recv().unwrap();
        for number in 1..=MESSAGES {
            let message = window.rx.receive(TIMEOUT).unwrap();
            assert_eq!((message.sequence(), message.kind().unwrap()), (number, Kind::Oneway));
            let expected = if number % 10 == 0 { 3000 } else { 16 };
            assert_eq!((message.frame().len(), message.frame().load_u8(0)), (expected, Some(number as u8)));
            window.rx.release();
            if number % 100 == 0 {
                std::thread::sleep(Duration::from_millis(30));
            }
        }
        window.tx.taken_all();
        send(&mut window, Header { kind: Kind::Response, ..REQUEST }, 0, 0);
        let _ = window.rx.receive(TIMEOUT);
    };
    pair.between(Waiting::Adaptive, serve, |mut window| {
        for number in 1..=MESSAGES {
            let length = if number % 10 == 0 { 3000 } else { 16 };
            // The server takes messages only after `go`, sent once a frame has waited for room.
            if window.counters().credit_waits == 0 {
                try_room(&mut window, length);
                if window.counters().credit_waits > 0 {
                    go.send(()).unwrap();
                }
            }
            send(&mut window, Header { kind: Kind::Oneway, ..REQUEST }, length, number as u8);
        }
        window.rx.receive(TIMEOUT).unwrap();
        assert!(window.counters().credit_waits > 0);
    });
}

fn waits_end(pair: &impl Connect) {
    pair.between(Waiting::Block, echo, |mut window| {
        let outcome = window.rx.receive(Deadline::Within(Duration::from_millis(50)));
        assert!(matches!(outcome, Err(Error::TimedOut)), "{outcome:?}");
        let alarm = window.alarm();
        let ringer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            alarm.ring();
        });
        let outcome = window.rx.receive(TIMEOUT);
        assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
        ringer.join().unwrap();
        // The connection still works.
        send(&mut window, REQUEST, 8, 1);
        assert_eq!(window.rx.receive(TIMEOUT).unwrap().frame().len(), 8);
    });
}

/// Rings the alarm at different moments while the other thread goes to sleep. Machines differ much
/// in the time of a turn, so a slow machine makes fewer turns.
fn no_ring_is_lost(pair: &impl Connect) {
    const RINGS: u32 = 20_000;
    const RINGS_MIN: u32 = 100;
    pair.between(Waiting::Block, echo, |mut window| {
        let alarm = window.alarm();
        let enough = Deadline::Within(Duration::from_secs(5)).start();
        // The ringing thread polls for its turn, because a thread that sleeps would wake too late.
        let turn = &AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for next in 1..=RINGS {
                    for poll in 1.. {
                        if turn.load(Ordering::Acquire) >= next {
                            break;
                        }
                        if poll % 10_000 == 0 {
                            // The waiting thread may lack a processor.
                            std::thread::yield_now();
                        }
                        std::hint::spin_loop();
                    }
                    for _ in 0..next % 500 {
                        std::hint::black_box(next);
                    }
                    alarm.ring();
                }
            });
            let lost = (1..=RINGS).take_while(|next| *next <= RINGS_MIN || !enough.is_over()).find_map(|next| {
                turn.store(next, Ordering::Release);
                let outcome = window.rx.receive(TIMEOUT).map(drop);
                if matches!(outcome, Err(Error::Cancelled)) { None } else { Some((next, outcome)) }
            });
            // The ringing thread makes its remaining turns without a pause, and ends.
            turn.store(RINGS, Ordering::Release);
            assert!(lost.is_none(), "{lost:?}");
        });
    });
}

fn a_sleep_ends_at_its_deadline_and_not_before(pair: &impl Connect) {
    pair.between(Waiting::Block, echo, |mut window| {
        let outcome = window.rx.receive(Deadline::Within(Duration::from_millis(600)));
        assert!(matches!(outcome, Err(Error::TimedOut)), "{outcome:?}");
        let sleeps = window.counters().sleeps;
        assert!(sleeps <= 2, "{sleeps} sleeps");
    });
}

fn the_end_of_the_peer_is_detected(pair: &impl Connect) {
    pair.between(Waiting::Adaptive, drop, |mut window| {
        let outcome = window.rx.receive(TIMEOUT);
        assert!(matches!(outcome, Err(Error::Disconnected { .. })), "{outcome:?}");
        assert!(window.is_closed() && window.alarm().is_closed());
    });
}

fn peers_without_a_window_are_refused(pair: &Pair) {
    let mut listener = pair.nics[0].listen(&pair.discriminator).unwrap();
    let address = listener.address();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let request = listener.wait(TIMEOUT).unwrap();
            let outcome = window::accept(&pair.nics[0], request, &options(Waiting::Poll), TIMEOUT);
            assert!(matches!(outcome, Err(Error::Violation(_))), "{outcome:?}");
        });
        let tag = pair.nics[1].protection_tag();
        let mut vi = pair.nics[1].vi(Default::default(), &tag, None, None).unwrap();
        let outcome = vi.request(&address, b"something else", TIMEOUT);
        assert!(matches!(outcome, Err(Error::Refused { .. })), "{outcome:?}");
    });
}

fn areas_are_made_only_for_peers_to_which_they_are_granted(pair: &Pair) {
    let mut listener = pair.nics[0].listen(&pair.discriminator).unwrap();
    let address = listener.address();
    std::thread::scope(|scope| {
        let served = scope.spawn(|| {
            let request = listener.wait(TIMEOUT).unwrap();
            let mut window = window::accept(&pair.nics[0], request, &options(Waiting::Block), TIMEOUT).unwrap();
            // A frame that fits the first area needs no other area.
            assert_eq!(window.rx.receive(TIMEOUT).unwrap().frame().len(), 4000);
            window.rx.release();
            window.rx.receive(TIMEOUT).map(drop)
        });
        let mut window = window::connect(&pair.nics[1], &address, &options(Waiting::Block), TIMEOUT).unwrap();
        send(&mut window, Header { kind: Kind::Oneway, ..REQUEST }, 4000, 1);
        let outcome = window.tx.area_frame(100_000, 0, TIMEOUT).map(drop);
        assert!(matches!(outcome, Err(Error::Disconnected { .. })), "{outcome:?}");
        let outcome = served.join().unwrap();
        assert!(matches!(outcome, Err(Error::TooLong { limit: 0, .. })), "{outcome:?}");
    });
}

/// A budget that counts the bytes that are left.
#[derive(Debug, Default)]
struct Left(AtomicUsize);

impl Budget for Left {
    fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(bytes)).is_ok()
    }

    fn give_back(&self, bytes: usize) {
        self.0.fetch_add(bytes, Ordering::SeqCst);
    }
}

/// The length of a frame that needs a larger area.
const LONG: usize = 100_000;
/// The length of the usual area for a frame of [`LONG`] bytes.
const LONG_AREA: usize = 128 << 10;
/// The length of the shortest area for such a frame.
const SHORT_AREA: usize = 100 << 10;

/// Answers requests with a long frame, or a fault where no area is left, until the peer is gone.
fn answer_long(mut window: Window) {
    while let Ok(message) = window.rx.receive(TIMEOUT) {
        let header = message.header().unwrap();
        window.tx.taken_all();
        let answer = |kind| Header { kind, ..header };
        match window.tx.response_frame(LONG, 0, TIMEOUT).map(drop) {
            Ok(()) => window.tx.send_area(answer(Kind::Response), LONG),
            Err(Error::AreaRefused { length, by_peer: false }) => {
                assert_eq!(length, LONG as u64);
                send(&mut window, answer(Kind::Fault), 0, 0);
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// Sends a request with a frame of this length, and returns the kind of the answer.
fn ask(window: &mut Window, length: usize) -> Kind {
    let sequence = window.tx.next_sequence();
    send(window, REQUEST, length, 1);
    let kind = window.rx.receive(TIMEOUT).unwrap().kind().unwrap();
    window.tx.taken_through(sequence);
    kind
}

fn areas_beyond_the_budget_are_refused_and_connections_stay(pair: &Pair) {
    let budget = Arc::<Left>::default();
    let left = || budget.0.load(Ordering::SeqCst);
    let mut listener = pair.nics[0].listen(&pair.discriminator).unwrap();
    let address = listener.address();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let request = listener.wait(TIMEOUT).unwrap();
            let window = window::accept(&pair.nics[0], request, &options(Waiting::Block), TIMEOUT).unwrap();
            window.grant_areas(Some(Arc::clone(&budget) as Arc<_>));
            answer_long(window);
        });
        let connect = || window::connect(&pair.nics[1], &address, &options(Waiting::Block), TIMEOUT).unwrap();
        let mut window = granted(connect());
        for _ in 0..3 {
            let refused = window.tx.area_frame(LONG, 0, TIMEOUT).map(drop);
            let is_refused =
                |error: &Error| matches!(error, Error::AreaRefused { length, by_peer: true } if *length == LONG as u64);
            assert!(refused.as_ref().is_err_and(is_refused), "{refused:?}");
            // The connection continues with the first area.
            assert_eq!(ask(&mut window, 4000), Kind::Fault);
        }
        // Where the usual area is refused, a shorter one holds the frame.
        budget.give_back(SHORT_AREA);
        assert_eq!((ask(&mut window, LONG), left()), (Kind::Fault, 0));
        budget.give_back(LONG_AREA);
        assert_eq!(ask(&mut window, LONG), Kind::Response);
        // The next frame uses the same area, which takes nothing more from the budget.
        assert_eq!((ask(&mut window, LONG), left()), (Kind::Response, 0));
    });
    ground::until("the areas' bytes are given back", || left() == SHORT_AREA + LONG_AREA);
}

macro_rules! over {
    ($module:ident, $pair:expr) => {
        mod $module {
            use super::*;

            #[test]
            fn frames_of_all_lengths_arrive_when_polling() {
                frames_of_all_lengths_arrive(&$pair, Waiting::Poll);
            }

            #[test]
            fn frames_of_all_lengths_arrive_when_blocking() {
                frames_of_all_lengths_arrive(&$pair, Waiting::Block);
            }

            #[test]
            fn frames_of_all_lengths_arrive_in_adaptive_mode() {
                frames_of_all_lengths_arrive(&$pair, Waiting::Adaptive);
            }

            #[test]
            fn messages_without_responses_wait_for_credit() {
                messages_without_answers_wait_for_credit(&$pair);
            }

            #[test]
            fn window_waits_end_at_their_deadline() {
                waits_end(&$pair);
            }

            #[test]
            fn window_sleeps_end_at_their_deadline_and_not_before() {
                a_sleep_ends_at_its_deadline_and_not_before(&$pair);
            }

            #[test]
            fn rings() {
                no_ring_is_lost(&$pair);
                a_rung_alarm_ends_no_wait_for_a_larger_area(&$pair);
                an_interrupted_wait_for_a_larger_area_can_be_repeated(&$pair);
            }

            #[test]
            fn the_end_of_a_window_is_detected() {
                the_end_of_the_peer_is_detected(&$pair);
            }
        }
    };
}

over!(shm_nic, over_shm());
over!(udp_nic, over_udp());
over!(relay, over_memory());

#[test]
fn areas_are_made_only_for_peers_to_which_they_are_granted_over_shm() {
    areas_are_made_only_for_peers_to_which_they_are_granted(&over_shm());
}

#[test]
fn areas_are_made_only_for_peers_to_which_they_are_granted_over_udp() {
    areas_are_made_only_for_peers_to_which_they_are_granted(&over_udp());
}

#[test]
fn areas_beyond_the_budget_are_refused_over_shm() {
    areas_beyond_the_budget_are_refused_and_connections_stay(&over_shm());
}

#[test]
fn areas_beyond_the_budget_are_refused_over_udp() {
    areas_beyond_the_budget_are_refused_and_connections_stay(&over_udp());
}

#[test]
fn peers_without_a_window_are_refused_over_shm() {
    peers_without_a_window_are_refused(&over_shm());
}

#[test]
fn peers_without_a_window_are_refused_over_udp() {
    peers_without_a_window_are_refused(&over_udp());
}
