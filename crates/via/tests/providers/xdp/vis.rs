//! VIs over AF_XDP. testing/conformance tests the statements that every provider must fulfil.

use super::cable;
use super::rig::{INTERFACE, Meeting};
use obvia_via::provider::xdp::{self, Options};
use obvia_via::{
    Access, Deadline, Descriptor, Error, MemoryHandle, MemoryRegion, Nic, ProtectionTag, RemoteAddress, Status, Vi,
    ViAttributes, Waiting, WorkQueue,
};

const SOON: Deadline = Deadline::after_secs(20);
const MEGABYTE: usize = 1 << 20;
const PORT: &str = "4791";

struct End {
    vi: Vi,
    region: MemoryRegion,
    _tag: ProtectionTag,
    nic: Nic,
}

fn end(waiting: Waiting, bytes: usize) -> End {
    let nic = xdp::open(&Options::new(INTERFACE)).expect("a NIC");
    let tag = nic.protection_tag();
    let vi = nic.vi(ViAttributes { waiting, ..ViAttributes::default() }, &tag, None, None).expect("a VI");
    let memory = nic.memory(bytes).expect("memory");
    let region = nic.register(memory, &tag, Access::BOTH).expect("a region");
    End { vi, region, _tag: tag, nic }
}

fn well(queue: &mut WorkQueue) -> Box<Descriptor> {
    let descriptor = queue.wait(SOON).expect("a completion");
    assert_eq!(descriptor.status(), Status::Done);
    descriptor
}

impl End {
    fn post_receive(&mut self, offset: u64, length: u32) {
        let descriptor = Descriptor::receive().with_segment(&self.region, offset, length);
        self.vi.receive.post(descriptor).expect("posting a receive");
    }

    fn send(&mut self, offset: u64, length: u32) {
        let descriptor = Descriptor::send().with_segment(&self.region, offset, length);
        self.vi.send.post(descriptor).expect("posting a send");
        well(&mut self.vi.send);
    }

    fn accept(&mut self, ready: &Meeting, private: &[u8]) {
        let mut listener = self.nic.listen(PORT).expect("listening");
        assert!(listener.address().ends_with(":4791"));
        ready.wait();
        listener.wait(SOON).expect("a request").accept(&mut self.vi, private, SOON).expect("accepting");
    }

    fn bytes(&self, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.region.memory().read(offset, &mut bytes).expect("within the region");
        bytes
    }
}

fn pattern(seed: u64, length: usize) -> Vec<u8> {
    (0..length as u64).map(|at| (seed.wrapping_mul(131) + at.wrapping_mul(11) + (at >> 8) * 3) as u8).collect()
}

/// Exchanges messages of these lengths in turn, for `rounds` rounds.
fn ping_pong(test: &str, waiting: Waiting, lengths: &[usize], rounds: usize) {
    let Some(cable) = cable(test) else { return };
    let ready = Meeting::default();
    let address = format!("{}:{PORT}", cable.right.address());
    cable.run(
        || {
            let mut end = end(waiting, 2 * MEGABYTE);
            ready.wait();
            end.post_receive(MEGABYTE as u64, MEGABYTE as u32);
            assert_eq!(end.vi.request(&address, b"hello", SOON).expect("connecting"), b"welcome");
            for round in 0..rounds {
                let sent = pattern(round as u64, lengths[round % lengths.len()]);
                end.region.memory().write(0, &sent).expect("within the region");
                end.send(0, sent.len() as u32);
                let answer = well(&mut end.vi.receive);
                assert_eq!(answer.length() as usize, sent.len(), "round {round}");
                assert!(end.bytes(MEGABYTE as u64, sent.len()) == sent, "round {round}");
                end.post_receive(MEGABYTE as u64, MEGABYTE as u32);
            }
            ready.wait();
        },
        || {
            let mut end = end(waiting, MEGABYTE);
            end.post_receive(0, MEGABYTE as u32);
            end.accept(&ready, b"welcome");
            for _ in 0..rounds {
                let length = well(&mut end.vi.receive).length();
                let answer = Descriptor::send().with_segment(&end.region, 0, length);
                end.vi.send.post(answer).expect("posting a send");
                // The peer sends its next message only after it has received the answer. So that
                // message cannot overwrite the answer's bytes before they are sent.
                end.post_receive(0, MEGABYTE as u32);
                well(&mut end.vi.send);
            }
            ready.wait();
        },
    );
}

#[test]
fn small_xdp_messages_are_exchanged_when_polling() {
    ping_pong("small_xdp_messages_are_exchanged_when_polling", Waiting::Poll, &[0, 1, 64, 1400, 5000], 500);
}

#[test]
fn small_xdp_messages_are_exchanged_when_sleeping() {
    ping_pong("small_xdp_messages_are_exchanged_when_sleeping", Waiting::Block, &[0, 1, 64, 1400, 5000], 500);
}

#[test]
fn xdp_messages_of_a_megabyte_arrive() {
    ping_pong("xdp_messages_of_a_megabyte_arrive", Waiting::Adaptive, &[MEGABYTE, MEGABYTE - 1], 40);
}

#[test]
fn rdma_writes_and_reads_work_over_xdp() {
    let Some(cable) = cable("rdma_writes_and_reads_work_over_xdp") else { return };
    let ready = Meeting::default();
    let address = format!("{}:{PORT}", cable.right.address());
    let (written, read) = (pattern(1, MEGABYTE), pattern(2, MEGABYTE));
    cable.run(
        || {
            let mut end = end(Waiting::Adaptive, 2 * MEGABYTE);
            ready.wait();
            let handle = end.vi.request(&address, b"", SOON).expect("connecting");
            let handle = MemoryHandle::from_bytes(handle.try_into().expect("a handle"));
            end.region.memory().write(0, &written).expect("within the region");
            let place = |offset| RemoteAddress { handle, offset };
            let length = MEGABYTE as u32;
            let write = Descriptor::rdma_write(place(0)).with_segment(&end.region, 0, length).with_immediate(77);
            end.vi.send.post(write).expect("posting");
            well(&mut end.vi.send);
            let fetch =
                Descriptor::rdma_read(place(MEGABYTE as u64)).with_segment(&end.region, MEGABYTE as u64, length);
            end.vi.send.post(fetch).expect("posting");
            assert_eq!(well(&mut end.vi.send).length(), length);
            assert!(end.bytes(MEGABYTE as u64, MEGABYTE) == read, "what was read");
            // The RDMA reaches one byte beyond the end of the region.
            let outside = Descriptor::rdma_write(place(MEGABYTE as u64 + 1)).with_segment(&end.region, 0, length);
            end.vi.send.post(outside).expect("posting");
            let refused = end.vi.send.wait(SOON).expect("a completion").status();
            assert_eq!(refused, Status::RemoteProtection);
            ready.wait();
        },
        || {
            let mut end = end(Waiting::Adaptive, 2 * MEGABYTE);
            end.region.memory().write(MEGABYTE as u64, &read).expect("within the region");
            end.post_receive(0, 0);
            let handle = end.region.handle().to_bytes();
            end.accept(&ready, &handle);
            let told = well(&mut end.vi.receive);
            assert_eq!(told.immediate(), Some(77));
            assert!(end.bytes(0, MEGABYTE) == written, "what was written");
            // No thread calls this end while the peer reads.
            ready.wait();
            assert!(end.bytes(MEGABYTE as u64, MEGABYTE) == read, "the refused write changed nothing");
        },
    );
}

#[test]
fn requests_without_an_xdp_listener_are_not_found() {
    let Some(cable) = cable("requests_without_an_xdp_listener_are_not_found") else { return };
    cable.left.on_thread(|| {
        let mut end = end(Waiting::Block, 4096);
        let deaf = format!("{}:{PORT}", cable.right.address());
        let why = end.vi.request(&deaf, b"", SOON).expect_err("nobody listens");
        assert!(matches!(why, Error::NotFound { .. }), "{why}");
        let absent = "10.77.0.9:4791";
        let why = end.vi.request(absent, b"", Deadline::after_secs(1)).expect_err("nobody is there");
        assert!(matches!(why, Error::TimedOut | Error::NotFound { .. }), "{why}");
        for nonsense in ["", "10.77.0.2", "host:1", "10.77.0.2:99999"] {
            let why = end.vi.request(nonsense, b"", SOON).expect_err("no address");
            assert!(matches!(why, Error::BadAddress { .. }), "{nonsense}: {why}");
        }
        let why = end.vi.request("[::1]:4791", b"", Deadline::after_secs(1)).expect_err("no IPv6");
        assert!(matches!(why, Error::Unsupported { .. } | Error::TimedOut), "{why}");
        let listener = end.nic.listen(PORT).expect("listening");
        let why = end.nic.listen(PORT).expect_err("the port is taken");
        assert!(matches!(why, Error::NameInUse { .. }), "{why}");
        drop(listener);
        end.nic.listen(PORT).expect("the port is free again");
        let why = end.nic.listen("name").expect_err("no port");
        assert!(matches!(why, Error::BadAddress { .. }), "{why}");
    });
}
