//! RDMA: copies by the initiator, copies by the target, and refusals.

use super::scene::{End, LEVELS, Place, Random, SOON, attributes, connect, mapped_regions, pair, pattern};
use obvia_via::{
    Access, Descriptor, Ended, Memory, MemoryHandle, Nic, Operation, Reliability, RemoteAddress, State, Status, Waiting,
};

const LENGTH: usize = 4 << 20;

fn write(end: &mut End, offset: u64, length: u32, to: RemoteAddress) -> (Status, u32) {
    end.vi.send.post(Descriptor::rdma_write(to).with_segment(&end.region, offset, length)).unwrap();
    end.sent()
}

fn read(end: &mut End, offset: u64, length: u32, from: RemoteAddress) -> (Status, u32) {
    end.vi.send.post(Descriptor::rdma_read(from).with_segment(&end.region, offset, length)).unwrap();
    end.sent()
}

#[test]
fn rdma_of_every_size_works_first_and_repeatedly() {
    let place = Place::new();
    for (nic, memory) in [(place.nic(), None), (place.tiny_nic(), None), (place.nic(), Some(()))] {
        for level in LEVELS {
            let (mut one, mut other) = pair(&nic, &attributes(level, Waiting::Adaptive), LENGTH);
            if memory.is_some() {
                // The initiator cannot map this memory, so the target performs each RDMA.
                other.region = nic.register(Memory::new(LENGTH).unwrap(), &other.tag, Access::BOTH).unwrap();
            }
            let mut random = Random(level as u64 + 77);
            for length in [0, 1, 80, 81, 4096, 100_000, 1 << 20, 7, LENGTH as u64 / 2] {
                let (from, to) = (random.below(LENGTH as u64 / 2), random.below(LENGTH as u64 / 2));
                let (whole, from_bytes) = (length as usize, pattern(length as usize, length + 1));
                one.fill(from, &from_bytes);
                other.fill(0, &vec![0xee; LENGTH]);
                let target = other.place(to);
                assert_eq!(write(&mut one, from, length as u32, target), (Status::Done, length as u32));
                assert!(other.bytes(to, whole) == from_bytes, "{length} bytes written");
                if to > 0 {
                    assert_eq!(other.bytes(to - 1, 1), [0xee]);
                }
                assert_eq!(other.bytes(to + length, 1), [0xee]);
                if !level.is_reliable() {
                    // Unreliable delivery has no RDMA read.
                    continue;
                }
                one.fill(0, &vec![0xdd; LENGTH]);
                assert_eq!(read(&mut one, from, length as u32, target), (Status::Done, length as u32));
                assert!(one.bytes(from, whole) == from_bytes, "{length} bytes read");
                assert_eq!(one.bytes(from + length, 1), [0xdd]);
            }
            assert_eq!(other.vi.state(), State::Connected);
        }
    }
}

/// One thread serves both ends. After the first RDMA, this thread does not call the target any
/// more.
#[test]
fn later_rdma_needs_no_work_of_the_target() {
    let place = Place::new();
    let (mut one, mut other) = pair(&place.nic(), &attributes(Reliability::ReliableReception, Waiting::Poll), LENGTH);
    let target = other.place(0);
    let segments = |end: &End| Descriptor::rdma_write(target).with_segment(&end.region, 0, 4096);
    one.vi.send.post(segments(&one)).unwrap();
    while one.vi.send.posted() > 0 {
        other.vi.state();
        one.vi.state();
    }
    assert_eq!(one.sent(), (Status::Done, 4096));
    for round in 0..1000_u64 {
        one.fill(0, &pattern(4096, round + 1));
        one.vi.send.post(segments(&one)).unwrap();
        let done = one.vi.send.done().expect("it is done when it is posted");
        assert_eq!(done.status(), Status::Done);
        assert!(other.bytes(0, 4096) == pattern(4096, round + 1));
    }
    other.post_receive(0, 0);
}

#[test]
fn only_rdma_writes_with_immediate_data_consume_a_receive() {
    let place = Place::new();
    for level in LEVELS {
        let (mut one, mut other) = pair(&place.nic(), &attributes(level, Waiting::Adaptive), LENGTH);
        for _ in 0..4 {
            other.post_receive(1 << 20, 16);
        }
        let target = other.place(100);
        for round in 0..3_u32 {
            assert_eq!(write(&mut one, 0, 50_000, target), (Status::Done, 50_000));
            one.fill(0, &pattern(50_000, u64::from(round) + 9));
            let with = Descriptor::rdma_write(target).with_segment(&one.region, 0, 50_000).with_immediate(round);
            one.vi.send.post(with).unwrap();
            assert_eq!(other.received(), (Status::Done, 50_000, Some(round)));
            assert!(other.bytes(100, 50_000) == pattern(50_000, u64::from(round) + 9), "it is there by then");
            assert_eq!(one.sent(), (Status::Done, 50_000));
        }
        assert_eq!(other.vi.receive.posted(), 1);
    }
}

#[test]
fn immediate_data_without_a_receive_breaks_reliable_connections() {
    let place = Place::new();
    for level in [Reliability::ReliableDelivery, Reliability::ReliableReception] {
        for is_known in [false, true] {
            let (mut one, mut other) = pair(&place.nic(), &attributes(level, Waiting::Adaptive), 4096);
            let target = other.place(0);
            if is_known {
                assert_eq!(write(&mut one, 0, 8, target), (Status::Done, 8));
            }
            let with = Descriptor::rdma_write(target).with_segment(&one.region, 0, 8).with_immediate(1);
            one.vi.send.post(with).unwrap();
            assert_eq!(one.sent(), (Status::ReceiverNotReady, 0));
            assert_eq!(one.vi.state(), State::Broken(Ended::ReceiverNotReady));
            assert_eq!(state_when_over(&mut other), State::Broken(Ended::ReceiverNotReady));
        }
    }
}

fn state_when_over(end: &mut End) -> State {
    let deadline = SOON.start();
    while end.vi.state() == State::Connected && !deadline.is_over() {
        std::thread::yield_now();
    }
    end.vi.state()
}

/// A write is in place before a send that follows it is received.
#[test]
fn rdma_writes_are_visible_before_the_next_message() {
    let place = Place::new();
    let level = Reliability::ReliableDelivery;
    let (mut one, mut other) = pair(&place.nic(), &attributes(level, Waiting::Adaptive), LENGTH);
    let target = other.place(4096);
    for _ in 0..300 {
        other.post_receive(0, 64);
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..300_u64 {
                assert_eq!(other.received().0, Status::Done);
                let number = other.bytes(4096, 8);
                // The number is that of this round, or of a later round if the writer is ahead.
                assert!(u64::from_le_bytes(number.try_into().unwrap()) >= round);
            }
        });
        for round in 0..300_u64 {
            one.fill(0, &round.to_le_bytes());
            one.vi.send.post(Descriptor::rdma_write(target).with_segment(&one.region, 0, 8)).unwrap();
            one.post_send(0, 8);
            assert_eq!((one.sent(), one.sent()), ((Status::Done, 8), (Status::Done, 8)));
        }
    });
}

#[derive(Clone, Copy, Debug)]
enum Wrong {
    Beyond,
    Overflowing,
    Handle,
    Right,
    Tag,
    Deregistered,
}

/// Performs an invalid RDMA, before or after the target opened the region to the initiator.
fn refused(nic: &Nic, level: Reliability, operation: Operation, wrong: Wrong, is_known: bool) {
    let (mut one, mut other) = pair(nic, &attributes(level, Waiting::Adaptive), 8192);
    let access = match (wrong, operation) {
        (Wrong::Right, Operation::RdmaWrite) => Access::READ,
        (Wrong::Right, _) => Access::WRITE,
        _ => Access::BOTH,
    };
    let tag = if let Wrong::Tag = wrong { &nic.protection_tag() } else { &other.tag };
    let region = nic.register(nic.memory(8192).unwrap(), tag, access).unwrap();
    region.memory().write(0, &[0x77; 8192]).unwrap();
    one.fill(0, &[1; 8192]);
    let mut target = RemoteAddress { handle: region.handle(), offset: 0 };
    if is_known {
        match wrong {
            // Peers may only read this region, so only an RDMA read makes the target open it.
            // Unreliable delivery has no RDMA read.
            Wrong::Right if operation == Operation::RdmaWrite && !level.is_reliable() => return,
            Wrong::Right if operation == Operation::RdmaWrite => {
                assert_eq!(read(&mut one, 0, 8, target).0, Status::Done)
            }
            Wrong::Tag => return,
            _ => assert_eq!(write(&mut one, 0, 8, target).0, Status::Done),
        }
        region.memory().write(0, &[0x77; 8192]).unwrap();
        one.fill(0, &[1; 8192]);
    }
    match wrong {
        Wrong::Beyond => target.offset = 8192 - 63,
        Wrong::Overflowing => target.offset = u64::MAX - 10,
        Wrong::Handle => target.handle = MemoryHandle([target.handle.0[0], target.handle.0[1] ^ 1]),
        Wrong::Right | Wrong::Tag | Wrong::Deregistered => {}
    }
    let region =
        if let Wrong::Deregistered = wrong { region.deregister().err().map(|in_use| in_use.0) } else { Some(region) };
    let descriptor = match operation {
        Operation::RdmaWrite => Descriptor::rdma_write(target),
        _ => Descriptor::rdma_read(target),
    };
    let what = format!("{operation:?} {wrong:?} {level} known: {is_known}");
    one.vi.send.post(descriptor.with_segment(&one.region, 0, 64)).unwrap();
    assert_eq!(one.sent(), (Status::RemoteProtection, 0), "{what}");
    let mut bytes = vec![0; 8192];
    if let Some(region) = region {
        region.memory().read(0, &mut bytes).unwrap();
        assert!(bytes.iter().all(|byte| *byte == 0x77), "{what}: the target is untouched");
    }
    assert!(one.bytes(0, 8192).iter().all(|byte| *byte == 1), "{what}: so is the initiator");
    if level.is_reliable() {
        assert_eq!(state_when_over(&mut one), State::Broken(Ended::Protection), "{what}");
        assert_eq!(state_when_over(&mut other), State::Broken(Ended::Protection), "{what}");
    } else {
        assert_eq!((one.vi.state(), other.vi.state()), (State::Connected, State::Connected), "{what}");
        let good = other.place(0);
        assert_eq!(write(&mut one, 0, 64, good), (Status::Done, 64), "{what}");
    }
}

#[test]
fn forbidden_rdma_is_refused_and_changes_no_memory() {
    let place = Place::new();
    let nic = place.nic();
    for level in LEVELS {
        for operation in [Operation::RdmaWrite, Operation::RdmaRead] {
            if operation == Operation::RdmaRead && !level.is_reliable() {
                // Unreliable delivery has no RDMA read.
                continue;
            }
            for wrong in
                [Wrong::Beyond, Wrong::Overflowing, Wrong::Handle, Wrong::Right, Wrong::Tag, Wrong::Deregistered]
            {
                refused(&nic, level, operation, wrong, false);
                refused(&nic, level, operation, wrong, true);
            }
        }
    }
}

#[test]
fn no_rdma_is_performed_after_a_failed_one() {
    let place = Place::new();
    let level = Reliability::ReliableReception;
    let (mut one, other) = pair(&place.nic(), &attributes(level, Waiting::Adaptive), 4096);
    let target = other.place(0);
    assert_eq!(write(&mut one, 0, 8, target), (Status::Done, 8));
    one.fill(0, b"too late");
    one.post_send(0, 8);
    one.vi.send.post(Descriptor::rdma_write(target).with_segment(&one.region, 0, 8)).unwrap();
    assert_eq!((one.sent(), one.sent()), ((Status::ReceiverNotReady, 0), (Status::Flushed, 0)));
    assert_eq!(other.bytes(0, 8), [0; 8]);
}

/// The initiator unmaps a region whose registration has ended. The next region counts as another
/// region, although it gets the same word in the table.
#[test]
fn short_lived_regions_are_distinguished_and_unmapped() {
    let place = Place::new();
    let (mut one, other) = pair(&place.nic(), &attributes(Reliability::ReliableDelivery, Waiting::Adaptive), 4096);
    let before = mapped_regions();
    for round in 0..600_u64 {
        let region = other.nic.register(other.nic.memory(4096).unwrap(), &other.tag, Access::BOTH).unwrap();
        let target = RemoteAddress { handle: region.handle(), offset: 8 };
        for _ in 0..3 {
            one.fill(0, &round.to_le_bytes());
            assert_eq!(write(&mut one, 0, 8, target), (Status::Done, 8));
            let mut bytes = [0; 8];
            region.memory().read(8, &mut bytes).unwrap();
            assert_eq!(u64::from_le_bytes(bytes), round);
        }
    }
    let deadline = SOON.start();
    // The limit allows for the regions of other tests.
    while mapped_regions() > before + 300 {
        one.vi.state();
        assert!(!deadline.is_over(), "{} regions are mapped, {before} were", mapped_regions());
    }
}

/// The region's file may arrive before, while or after the initiator looks at the answer to the
/// first RDMA. The next RDMA on the region is posted already, and must be performed in each of
/// these cases.
#[test]
fn the_first_two_rdma_operations_on_a_region_can_be_posted_together() {
    let place = Place::new();
    for (nic, level) in [
        (place.nic(), Reliability::ReliableDelivery),
        (place.tiny_nic(), Reliability::ReliableDelivery),
        (place.nic(), Reliability::ReliableReception),
    ] {
        let (mut one, other) = pair(&nic, &attributes(level, Waiting::Poll), 4096);
        for round in 0..1000_u64 {
            let region = other.nic.register(other.nic.memory(4096).unwrap(), &other.tag, Access::BOTH).unwrap();
            let target = RemoteAddress { handle: region.handle(), offset: 8 };
            one.fill(0, &round.to_le_bytes());
            one.vi.send.post(Descriptor::rdma_write(target).with_segment(&one.region, 0, 8)).unwrap();
            one.vi.send.post(Descriptor::rdma_read(target).with_segment(&one.region, 16, 8)).unwrap();
            assert_eq!((one.sent(), one.sent()), ((Status::Done, 8), (Status::Done, 8)), "{level}: round {round}");
            assert_eq!(one.bytes(16, 8), round.to_le_bytes());
        }
    }
}

/// Reliable reception begins an RDMA when all earlier descriptors are complete, whichever thread
/// notices that.
#[test]
fn waiting_rdma_proceeds_without_calls_of_its_owner() {
    const COUNT: usize = 300;
    let place = Place::new();
    let level = Reliability::ReliableReception;
    let (mut one, mut other) = pair(&place.nic(), &attributes(level, Waiting::Block), 4096);
    let target = other.place(0);
    assert_eq!(write(&mut one, 0, 8, target), (Status::Done, 8));
    other.post_receive(0, 8);
    one.post_send(0, 8);
    for _ in 0..COUNT {
        one.vi.send.post(Descriptor::rdma_write(target).with_segment(&one.region, 0, 8)).unwrap();
    }
    // Without a wake-up, the attendant would look at the VI once a second, and all the RDMA would
    // take five minutes. That is more than twice the limit of this wait.
    ground::until("all are complete", || one.vi.send.posted() == 0);
    for _ in 0..=COUNT {
        assert_eq!(one.sent(), (Status::Done, 8));
    }
}

/// The file of a region that peers may only read is sealed against writes.
#[test]
fn read_only_regions_are_sealed_against_writes() {
    use rustix::fs::{SealFlags, fcntl_get_seals};
    let place = Place::new();
    let nic = place.nic();
    let tag = nic.protection_tag();
    for (access, is_sealed) in [(Access::READ, true), (Access::WRITE, false), (Access::BOTH, false)] {
        let region = nic.register(nic.memory(4096).unwrap(), &tag, access).unwrap();
        let file = region.memory().file().unwrap();
        let seals = fcntl_get_seals(file).unwrap();
        assert!(seals.contains(SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL));
        assert_eq!(seals.contains(SealFlags::FUTURE_WRITE), is_sealed, "{access:?}");
        assert_eq!(rustix::io::pwrite(file, b"x", 0).is_err(), is_sealed, "{access:?}");
        region.memory().write(0, b"y").unwrap();
    }
}

#[test]
fn mixed_small_operations_of_one_queue_complete_in_order() {
    let place = Place::new();
    for level in LEVELS {
        let nic = place.nic();
        let mut one = End::new(&nic, attributes(level, Waiting::Adaptive), LENGTH, Access::BOTH);
        let mut other = End::new(&nic, attributes(level, Waiting::Adaptive), LENGTH, Access::BOTH);
        connect(&mut one.vi, &nic, &mut other.vi);
        for _ in 0..1000 {
            other.post_receive(1 << 20, 4096);
        }
        let (target, mut random) = (other.place(0), Random(level as u64 + 3));
        let mut posted = 0;
        for number in 0..1000_u64 {
            let length = random.below(4096) as u32;
            let descriptor = match random.below(4) {
                0 => Descriptor::send().with_immediate(number as u32),
                1 => Descriptor::rdma_write(target),
                2 => Descriptor::rdma_write(target).with_immediate(number as u32),
                _ if !level.is_reliable() => Descriptor::send(),
                _ => Descriptor::rdma_read(target),
            };
            let descriptor = descriptor.with_segment(&one.region, 0, length).with_context(number);
            one.vi.send.post(descriptor).unwrap();
            posted += 1;
            if posted > 40 {
                let done = one.vi.send.wait(SOON).unwrap();
                assert_eq!((done.status(), done.context), (Status::Done, number + 1 - posted));
                posted -= 1;
            }
        }
        for number in 1000 - posted..1000 {
            let done = one.vi.send.wait(SOON).unwrap();
            assert_eq!((done.status(), done.context), (Status::Done, number));
        }
    }
}
