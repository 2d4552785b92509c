//! Tests of clients that send while another thread receives.

use super::*;
use crate::co::direct::{DirectCalls, DirectError};
use crate::uuid::NDR;
use obvia_via::stream::StreamListener;
use std::time::Instant;

const LIMIT: Deadline = Deadline::after_secs(60);

/// A client without routes, so that its calls are refused.
#[derive(Debug, Default)]
struct Nowhere(AtomicU32);

impl Routes for Nowhere {
    fn find(&self, _: TargetId) -> Option<Route> {
        None
    }

    fn bind_interface(&self) -> SyntaxId {
        NDR
    }

    fn group(&self) -> &AtomicU32 {
        &self.0
    }
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_refused_call_wakes_the_thread_that_receives() {
    let listener = StreamListener::bind("127.0.0.1", 0).unwrap();
    let stream = Stream::connect("127.0.0.1", listener.endpoint().parse().unwrap(), LIMIT).unwrap();
    let mut window = client(stream, Arc::new(Nowhere::default()), &Options::default(), None).unwrap();
    let Window { tx, rx, .. } = &mut window;
    std::thread::scope(|scope| {
        let receiver = scope.spawn(|| rx.receive(LIMIT).map(|message| message.kind().unwrap()));
        // The receiver most probably sleeps after this time. If it does not, the test still passes.
        std::thread::sleep(Duration::from_millis(200));
        tx.inline_frame(LIMIT).unwrap();
        let begun = Instant::now();
        tx.send_inline(Header { kind: Kind::Request, opnum: 0, first: 1, second: 1 }, 8);
        assert_eq!(receiver.join().unwrap().unwrap(), Kind::Fault);
        assert!(begun.elapsed() < LIMIT.remaining() / 2, "the wait ends by its deadline");
    });
}

/// Runs `work` with a stream to a server. For a minute at most, the server sends units for which no
/// call waits, faster than the client reads them. Returns the time that `work` took.
fn flooded(work: impl FnOnce(Stream)) -> Duration {
    const FLOOD: Duration = Duration::from_secs(60);
    let listener = StreamListener::bind("127.0.0.1", 0).unwrap();
    let stream = Stream::connect("127.0.0.1", listener.endpoint().parse().unwrap(), LIMIT).unwrap();
    let server = listener.accept(LIMIT).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (shutdowns, begun) = ([5, 0, 17, 3, 16, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0].repeat(4096), Instant::now());
            while begun.elapsed() < FLOOD && server.send(&shutdowns, LIMIT).is_ok() {}
        });
        let begun = Instant::now();
        work(stream);
        let elapsed = begun.elapsed();
        assert!(elapsed < FLOOD / 2, "the thread waits {elapsed:?}");
        elapsed
    })
}

#[test]
#[cfg_attr(miri, ignore = "opens sockets")]
fn a_server_that_sends_without_end_holds_no_call_beyond_its_deadline() {
    const SHORT: Deadline = Deadline::Within(Duration::from_millis(200));
    flooded(|stream| {
        let mut window = client(stream, Arc::new(Nowhere::default()), &Options::default(), None).unwrap();
        assert!(matches!(window.rx.receive(SHORT), Err(ViError::TimedOut)));
    });
    flooded(|stream| {
        let bound = DirectCalls::bind(Arc::new(stream), NDR, SHORT);
        assert!(matches!(bound, Err(DirectError::Connection(ViError::TimedOut))));
    });
}
