//! Tests of clients that send while another thread receives.

use super::*;
use std::sync::atomic::AtomicU32;

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
    let server = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let socket = DatagramSocket::connect("127.0.0.1", port, LIMIT).unwrap();
    let keeper = Keeper::default();
    let mut window =
        client(socket, Arc::new(Nowhere::default()), &keeper, draw().unwrap(), &Options::default()).unwrap();
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
