//! The counters of a connection.

/// Counts since the connection was made. Reading them costs the data path nothing.
///
/// If this side polls before it sleeps, many sleeps show that the peer is slower than expected.
/// Each wake costs this side kernel time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of messages sent, modulo 2^32.
    pub sent: u32,
    /// The number of messages received, modulo 2^32.
    pub received: u32,
    /// The number of waits for a message that slept in the kernel.
    pub sleeps: u64,
    /// The number of messages for which the peer had to be woken. Where the two sides share no
    /// memory, each message sent counts.
    pub wakes: u64,
    /// The number of times that this side had to wait for credit before it could send.
    pub credit_waits: u64,
    /// The number of larger areas made for frames sent.
    pub areas: u32,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::provider::shm::Directory;
    use crate::window::Options;
    use crate::{Deadline, Header, Kind, Waiting};

    #[test]
    #[cfg_attr(miri, ignore)]
    fn connection_counters_count_sleeps_wakes_and_area_frames() {
        const LATEST: Deadline = Deadline::Within(ground::LATEST);
        let folder = ground::Folder::new("via-counters");
        let directory = Directory::at(folder.path()).unwrap();
        let (tell, number) = std::sync::mpsc::channel();
        let listener = directory.bind("counted").unwrap();
        let options = Options { waiting: Waiting::Block, area: 4096, ..Options::default() };
        let for_server = options.clone();
        let server = std::thread::spawn(move || {
            let incoming = listener.accept(LATEST).unwrap();
            let mut vi = incoming.complete(&for_server).unwrap();
            tell.send(ground::thread_number()).unwrap();
            let request = vi.rx.receive(LATEST).unwrap().header().unwrap();
            vi.tx.inline_frame(LATEST).unwrap();
            vi.tx.send_inline(Header { kind: Kind::Response, ..request }, 0);
            vi.counters()
        });
        let mut vi = directory.connect("counted", &options, LATEST).unwrap();
        assert_eq!(vi.counters(), super::Counters::default());
        // The server raises its sleep flag, checks once more for a message, and counts the sleep
        // only after that check. So the test waits until the server's thread is asleep, too.
        let number = number.recv().unwrap();
        ground::until("the server sleeps", || vi.tx.peer_sleeps() && ground::is_asleep(number));
        vi.tx.area_frame(100_000, 0, LATEST).unwrap().fill(1);
        vi.tx.send_area(Header { kind: Kind::Request, opnum: 3, first: 0, second: 0 }, 100_000);
        vi.rx.receive(LATEST).unwrap();
        let (mine, its) = (vi.counters(), server.join().unwrap());
        assert_eq!((mine.sent, mine.received, mine.areas, mine.wakes), (1, 1, 1, 1));
        assert_eq!((its.sent, its.received, its.areas), (1, 1, 0));
        assert!(its.sleeps > 0, "{its:?}");
    }
}
