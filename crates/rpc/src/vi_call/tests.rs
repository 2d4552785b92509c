//! Tests of the lengths of protocol data units.

use super::*;
use obvia_via::provider::udp;
use obvia_via::window::{Options, accept, connect};

const LIMIT: Deadline = Deadline::after_secs(60);

/// A service that answers every protocol data unit with a unit of this many bytes.
struct Answers(usize);

impl Service for Answers {
    fn dispatch(&mut self, _: &mut ServerCall<'_>) -> Answer {
        Answer::fault(Status::OP_RNG_ERROR)
    }

    fn answer_pdu(&mut self, _: &[u8]) -> Option<Vec<u8>> {
        Some(vec![7; self.0])
    }

    fn abandoned(&mut self) {}

    fn tidy(&mut self) {}
}

/// Sends a data unit of `sent` bytes to a server that answers with `answered` bytes. Returns the
/// outcomes at the client and at the server.
fn exchange(sent: usize, answered: usize) -> (Result<Vec<u8>, CallError>, Result<(), Box<ViError>>) {
    let nic = udp::open(&udp::Options::default()).unwrap();
    let mut listener = nic.listen("127.0.0.1:0").unwrap();
    let address = listener.address();
    std::thread::scope(|scope| {
        let served = scope.spawn(|| {
            let request = listener.wait(LIMIT).unwrap();
            let mut window = accept(&nic, request, &Options::default(), LIMIT).unwrap();
            let outcome = serve_next(&mut window, &mut Answers(answered), LIMIT).map(drop);
            // If the server has answered, its window is kept until the client has the answer.
            let window = outcome.is_ok().then_some(window);
            (outcome, window)
        });
        let mut channel = Channel::new(connect(&nic, &address, &Options::default(), LIMIT).unwrap());
        let outcome = channel.exchange_pdu(&vec![3; sent], LIMIT);
        let (served, _window) = served.join().unwrap();
        (outcome, served)
    })
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn data_units_longer_than_their_header_can_say_are_refused_uncopied() {
    let limit = PDU_MAX as u64;
    let (outcome, served) = exchange(PDU_MAX, PDU_MAX);
    assert_eq!((outcome.unwrap().len(), served.is_ok()), (PDU_MAX, true));
    let (outcome, served) = exchange(PDU_MAX + 1, 8);
    assert!(outcome.is_err() && matches!(*served.unwrap_err(), ViError::TooLong { limit: most, .. } if most == limit));
    let (outcome, served) = exchange(8, PDU_MAX + 1);
    let is_refused =
        matches!(outcome, Err(CallError::Connection(ViError::TooLong { limit: most, .. })) if most == limit);
    assert!(is_refused && served.is_ok());
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_wait_tells_messages_alarms_and_silence_apart() {
    let nic = udp::open(&udp::Options::default()).unwrap();
    let mut listener = nic.listen("127.0.0.1:0").unwrap();
    let address = listener.address();
    std::thread::scope(|scope| {
        let client = scope.spawn(|| connect(&nic, &address, &Options::default(), LIMIT).unwrap());
        let mut window = accept(&nic, listener.wait(LIMIT).unwrap(), &Options::default(), LIMIT).unwrap();
        let mut channel = Channel::new(client.join().unwrap());
        let brief = Deadline::Within(std::time::Duration::from_millis(1));
        let mut served = |limit| serve_next(&mut window, &mut Answers(8), limit).unwrap();
        assert_eq!(served(brief), Served::Silence);
        let exchange = scope.spawn(move || {
            channel.exchange_pdu(&[3; 8], LIMIT).unwrap();
            channel
        });
        assert_eq!(served(LIMIT), Served::Message);
        let _channel = exchange.join().unwrap();
        window.alarm().ring();
        assert_eq!(serve_next(&mut window, &mut Answers(8), LIMIT).unwrap(), Served::Alarm);
    });
}
