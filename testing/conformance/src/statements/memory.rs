//! Statements 16 to 23: the memory that descriptors and peers may reach.

use crate::ends::{AREA, End, Pair, drain, next, pattern, place, read, region, settle, until, well, write};
use crate::{MissingFeature, Run};
use obvia_via::{
    Access, Descriptor, Ended, Error, MemoryHandle, MemoryRegion, PostFault, Reliability, RemoteAddress, State, Status,
};

/// Returns a descriptor for each use of a segment: a receive, and the operations of the send queue.
#[expect(clippy::vec_box, reason = "descriptors are posted in boxes")]
fn uses(run: &Run, peer: &End) -> Vec<Box<Descriptor>> {
    let there = place(&peer.area, 0);
    let mut uses = vec![Descriptor::receive(), Descriptor::send()];
    if !run.lacks(MissingFeature::RdmaWrite) {
        uses.push(Descriptor::rdma_write(there));
    }
    if !run.lacks(MissingFeature::RdmaRead) {
        uses.push(Descriptor::rdma_read(there));
    }
    uses
}

/// Posts a descriptor to its queue. Asserts that the queue refuses the descriptor, and that the
/// connection goes on.
#[track_caller]
fn refused(end: &mut End, descriptor: Box<Descriptor>, fault: PostFault) {
    let is_receive = descriptor.operation() == obvia_via::Operation::Receive;
    let queue = if is_receive { &mut end.vi.receive } else { &mut end.vi.send };
    let refused = queue.post(descriptor.with_context(16)).expect_err("it is refused");
    assert_eq!((refused.fault, refused.descriptor.context), (fault, 16));
    assert_eq!(queue.posted(), 0);
    assert!(drain(queue).is_empty());
    assert_eq!(end.vi.state(), State::Connected);
}

/// 16. A descriptor with a segment that lies outside of its region, even by a single byte, is
///     refused when it is posted.
pub fn s16_segments_out_of_region_bounds_are_refused_locally(run: &Run) {
    let mut pair = run.pair(run.reliable_levels()[0]);
    let end = pair.a.area.memory().len() as u64;
    for (offset, length) in [(end, 1), (end - 9, 10), (0, end as u32 + 1), (u64::MAX, 1), (u64::MAX, 0), (1 << 40, 4)] {
        for descriptor in uses(run, &pair.b) {
            let good = descriptor.with_segment(&pair.a.area, 0, 10);
            let bad = good.with_segment(&pair.a.area, offset, length);
            refused(&mut pair.a, bad, PostFault::OutOfBounds);
        }
    }
    // A segment that ends with the last byte of its region is valid.
    pair.a.set(AREA - 10, &pattern(1, 10));
    pair.b.receive(AREA - 10, 10);
    pair.a.send(AREA - 10, 10);
    pair.b.received();
    assert_eq!(pair.b.bytes(AREA - 10, 10), pattern(1, 10));
}

/// 17. A descriptor with a segment of a region that has another protection tag than the VI, or
///     belongs to another NIC, is refused.
pub fn s17_segments_of_other_tags_are_refused_locally(run: &Run) {
    let mut pair = run.pair(run.reliable_levels()[0]);
    let other_tag = pair.a.nic.protection_tag();
    let others = region(&pair.a.nic, &other_tag, 4096, run.access());
    for strange in [&others, &pair.b.area] {
        for descriptor in uses(run, &pair.b) {
            let good = descriptor.with_segment(&pair.a.area, 0, 10);
            refused(&mut pair.a, good.with_segment(strange, 0, 10), PostFault::Protection);
        }
    }
    let memory = pair.b.nic.memory(64).expect("there is memory");
    let error = pair.b.nic.register(memory, &pair.a.tag, Access::LOCAL).expect_err("a tag of another NIC");
    assert!(matches!(error, Error::BadState { .. }), "{error:?}");
    pair.check_both(17);
}

/// 18. A deregistered region cannot be used any more: descriptors with a segment of the region are
///     refused, and so is RDMA by peers with its old handle.
pub fn s18_use_of_deregistered_regions_is_refused(run: &Run) {
    for level in run.reliable_levels() {
        let mut pair = run.pair(level);
        for descriptor in uses(run, &pair.b) {
            let gone = region(&pair.a.nic, &pair.a.tag, 4096, run.access());
            let descriptor = descriptor.with_segment(&pair.a.area, 0, 10).with_segment(&gone, 0, 10);
            gone.deregister().expect("nothing uses it");
            refused(&mut pair.a, descriptor, PostFault::Protection);
        }
        pair.check_both(18);
        if run.lacks(MissingFeature::RdmaWrite) {
            continue;
        }
        let gone = region(&pair.b.nic, &pair.b.tag, 4096, run.access());
        // The descriptor keeps the region's memory, so that the test can read the bytes after the
        // region is deregistered.
        let witness = Descriptor::send().with_segment(&gone, 0, 4096);
        let there = place(&gone, 0);
        pair.a.set(0, &pattern(18, 4096));
        pair.a.send_as(Descriptor::rdma_write(there), 0, 2048);
        pair.check(2);
        pair.a.sent();
        assert_eq!(read(&gone, 0, 2048), pattern(18, 2048), "it can be written before");
        gone.deregister().expect("nothing uses it");
        pair.a.send_as(Descriptor::rdma_write(RemoteAddress { offset: 2048, ..there }), 0, 2048);
        breaks(run, &mut pair, level, Status::RemoteProtection, "RDMA write by an old handle");
        let mut bytes = vec![1; 2048];
        witness.gather(2048, &mut bytes).expect("it is as long");
        assert_eq!(bytes, [0; 2048]);
    }
}

/// Asserts the effect of a refused RDMA on a reliable connection. The connection ends at both ends,
/// and the descriptor's status gives the reason. With reliable delivery, a write may instead
/// complete as done, because its descriptor completes when the write is on its way.
#[track_caller]
fn breaks(run: &Run, pair: &mut Pair, level: Reliability, status: Status, what: &str) {
    let ended = (pair.a.ended(), pair.b.ended());
    let found = next(&mut pair.a.vi.send);
    if run.lacks(MissingFeature::Reasons) && ended == (Ended::Silent, Ended::Silent) {
        assert_eq!(found.status(), Status::ConnectionLost, "{level}: {what}");
        assert!(drain(&mut pair.a.vi.send).is_empty());
        return;
    }
    assert_eq!(ended, (Ended::Protection, Ended::Protection), "{level}: {what}");
    let may_be_done = level == Reliability::ReliableDelivery && found.operation() == obvia_via::Operation::RdmaWrite;
    assert!(found.status() == status || (may_be_done && found.status() == Status::Done), "{level}: {what}: {found:?}");
    assert!(drain(&mut pair.a.vi.send).is_empty());
}

/// A function that makes a case of forbidden access, given the number of the case. Returns a remote
/// address at the listening end that a peer must not access, and the regions that were made for the
/// case. `None` if there is no case with this number.
type Forbidden = fn(&Pair, usize) -> Option<(RemoteAddress, Vec<MemoryRegion>)>;

/// The length of a refused RDMA, in bytes. A packet of any network is shorter.
const REACH: usize = 70_000;

/// Asserts that writes to forbidden addresses are refused: no byte of any memory changes, and both
/// ends notice.
fn refuses_writes(run: &Run, forbidden: Forbidden) {
    if run.lacks(MissingFeature::RdmaWrite) {
        return lacks_rdma_write(run);
    }
    for level in run.reliable_levels() {
        for case in 0.. {
            for immediate in [None, Some(9)] {
                let mut pair = run.pair(level);
                let Some((there, regions)) = forbidden(&pair, case) else { break };
                let before = prepare(&mut pair, &regions);
                let mut write = Descriptor::rdma_write(there);
                write.set_immediate(immediate);
                pair.b.receive(0, 100);
                pair.a.send_as(write, 0, REACH);
                breaks(run, &mut pair, level, Status::RemoteProtection, &format!("write, case {case}"));
                settle();
                assert!(before == everything(&pair, &regions), "{level}: case {case}: memory was touched");
                let receive = next(&mut pair.b.vi.receive);
                assert_eq!((receive.status(), receive.immediate()), (Status::Flushed, None), "{level}: case {case}");
            }
            if forbidden(&run.pair(level), case).is_none() {
                assert!(case > 0);
                break;
            }
        }
    }
    if !run.lacks(MissingFeature::Level(Reliability::Unreliable)) {
        let mut pair = run.pair(Reliability::Unreliable);
        let (there, regions) = forbidden(&pair, 0).expect("there is a first case");
        let before = everything(&pair, &regions);
        pair.a.set(0, &pattern(5, REACH));
        pair.a.send_as(Descriptor::rdma_write(there), 0, REACH);
        // Unreliable delivery promises no report, so a provider that cannot report the refusal
        // completes the write as done.
        let status = next(&mut pair.a.vi.send).status();
        assert!(matches!(status, Status::Done | Status::RemoteProtection), "unreliable: {status:?}");
        settle();
        assert!(before == everything(&pair, &regions), "unreliable: memory was touched");
        assert_eq!((pair.a.vi.state(), pair.b.vi.state()), (State::Connected, State::Connected));
    }
}

/// Performs a permitted write, because a provider that refuses every write must not pass the test.
/// Returns the contents of all memory before the refused write.
fn prepare(pair: &mut Pair, regions: &[MemoryRegion]) -> Vec<Vec<u8>> {
    for (seed, region) in regions.iter().enumerate() {
        write(region, 0, &pattern(100 + seed as u64, region.memory().len()));
    }
    pair.a.set(0, &pattern(5, REACH));
    let good = Descriptor::rdma_write(place(&pair.b.area, AREA - REACH));
    pair.a.send_as(good, 0, REACH);
    pair.check(3);
    pair.a.sent();
    assert!(pair.b.bytes(AREA - REACH, REACH - 1000) == pattern(5, REACH)[..REACH - 1000], "an allowed write is done");
    pair.b.set(0, &vec![0xAB; AREA]);
    everything(pair, regions)
}

fn everything(pair: &Pair, regions: &[MemoryRegion]) -> Vec<Vec<u8>> {
    regions.iter().chain([&pair.b.area]).map(|region| read(region, 0, region.memory().len())).collect()
}

/// Asserts that a provider without RDMA write reports that in its attributes, and refuses regions
/// and descriptors for RDMA write.
fn lacks_rdma_write(run: &Run) {
    let mut pair = run.pair(run.reliable_levels()[0]);
    assert!(!pair.a.nic.attributes().rdma_write);
    let memory = pair.b.nic.memory(64).expect("there is memory");
    let refused = pair.b.nic.register(memory, &pair.b.tag, Access::WRITE);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
    let write = Descriptor::rdma_write(place(&pair.b.area, 0)).with_segment(&pair.a.area, 0, 8);
    assert_eq!(pair.a.vi.send.post(write).expect_err("there is no RDMA write").fault, PostFault::Unsupported);
    pair.check(1);
}

fn outside(pair: &Pair, case: usize) -> Option<(RemoteAddress, Vec<MemoryRegion>)> {
    let end = pair.b.area.memory().len() as u64;
    // With the first offset, the access exceeds the region by one byte. With the second offset, it
    // begins at the last byte. With the next two offsets, it lies wholly outside. The last two
    // offsets are so large that the sum with the length wraps around.
    let offset = *[end - REACH as u64 + 1, end - 1, end, 1 << 40, u64::MAX - 5, u64::MAX].get(case)?;
    Some((RemoteAddress { offset, ..place(&pair.b.area, 0) }, Vec::new()))
}

fn wrong_handle(pair: &Pair, case: usize) -> Option<(RemoteAddress, Vec<MemoryRegion>)> {
    let MemoryHandle([one, other]) = pair.b.area.handle();
    let handle = *[
        MemoryHandle([one ^ (1 << 40), other]),
        MemoryHandle([one, other ^ (1 << 17)]),
        MemoryHandle([one.wrapping_add(1), other]),
        MemoryHandle([0, 0]),
        MemoryHandle([u64::MAX, u64::MAX]),
        // The writer's rights to its own memory do not count for its peer's memory.
        pair.a.area.handle(),
    ]
    .get(case)?;
    Some((RemoteAddress { handle, offset: 0 }, Vec::new()))
}

fn with_access(pair: &Pair, rights: &[Access], case: usize) -> Option<(RemoteAddress, Vec<MemoryRegion>)> {
    let can_read = pair.b.nic.attributes().rdma_read;
    let access = *rights.iter().filter(|access| can_read || !access.read).nth(case)?;
    let forbidden = region(&pair.b.nic, &pair.b.tag, REACH + 100, access);
    Some((place(&forbidden, 10), vec![forbidden]))
}

fn without_write(pair: &Pair, case: usize) -> Option<(RemoteAddress, Vec<MemoryRegion>)> {
    with_access(pair, &[Access::LOCAL, Access::READ], case)
}

fn without_read(pair: &Pair, case: usize) -> Option<(RemoteAddress, Vec<MemoryRegion>)> {
    with_access(pair, &[Access::LOCAL, Access::WRITE], case)
}

fn other_tag(pair: &Pair, case: usize) -> Option<(RemoteAddress, Vec<MemoryRegion>)> {
    let can = pair.b.nic.attributes();
    let tag = pair.b.nic.protection_tag();
    let forbidden = region(&pair.b.nic, &tag, REACH + 100, Access { write: can.rdma_write, read: can.rdma_read });
    (case == 0).then(|| (place(&forbidden, 10), vec![forbidden]))
}

/// 19. An RDMA write that reaches outside of the region is refused as a whole: not a byte is
///     written.
pub fn s19_rdma_writes_out_of_region_bounds_are_refused(run: &Run) {
    refuses_writes(run, outside);
}

/// 20. An RDMA write with a handle that names no region of the target is refused.
pub fn s20_rdma_writes_with_wrong_handles_are_refused(run: &Run) {
    refuses_writes(run, wrong_handle);
}

/// 21. An RDMA write to a region that peers may not write is refused, whatever other rights they
///     have.
pub fn s21_rdma_writes_without_the_right_are_refused(run: &Run) {
    refuses_writes(run, without_write);
}

/// 22. An RDMA write to a region that has another protection tag than the target's VI is refused.
pub fn s22_rdma_writes_to_other_tags_are_refused(run: &Run) {
    refuses_writes(run, other_tag);
}

/// 23. RDMA reads are refused for the same reasons, and return no bytes.
pub fn s23_rdma_reads_are_checked_like_writes(run: &Run) {
    if run.lacks(MissingFeature::RdmaRead) {
        return super::rdma::lacks_rdma_read(run);
    }
    for level in run.reliable_levels() {
        for forbidden in [outside as Forbidden, wrong_handle, without_read, other_tag] {
            for case in 0.. {
                let mut pair = run.pair(level);
                let Some((there, regions)) = forbidden(&pair, case) else { break };
                for region in &regions {
                    write(region, 0, &pattern(4, region.memory().len()));
                }
                pair.b.set(0, &pattern(6, AREA));
                pair.a.send_as(Descriptor::rdma_read(place(&pair.b.area, 0)), 0, 1000);
                well(next(&mut pair.a.vi.send));
                assert_eq!(pair.a.bytes(0, 1000), pattern(6, 1000), "an allowed read is done");
                pair.a.set(0, &vec![0; AREA]);
                pair.a.send_as(Descriptor::rdma_read(there), 0, REACH);
                breaks(run, &mut pair, level, Status::RemoteProtection, &format!("read, case {case}"));
                assert!(pair.a.bytes(0, AREA) == vec![0; AREA], "{level}: case {case}: something was read");
                until("the peer's end is over as well", || pair.b.vi.state() != State::Connected);
            }
        }
    }
}
