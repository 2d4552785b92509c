//! Statements 24 to 27: no object in use can be destroyed.

use crate::ends::{Pair, Plan, drain, entry, region, well};
use crate::{Run, Side};
use obvia_via::{Access, Descriptor, InUse, State};

/// 24. A region to which posted descriptors point cannot be deregistered: the attempt fails and
///     returns the region, which still works. When the descriptors are completed, the region can be
///     deregistered.
pub fn s24_regions_in_use_cannot_be_deregistered(run: &Run) {
    let mut pair = run.pair(run.reliable_levels()[0]);
    for _ in 0..20 {
        let target = region(&pair.b.nic, &pair.b.tag, 4096, Access::LOCAL);
        let receive = || Descriptor::receive().with_segment(&target, 0, 100).with_segment(&target, 200, 100);
        pair.b.vi.receive.post(receive()).expect("it can be posted");
        pair.b.vi.receive.post(receive()).expect("it can be posted");
        let handle = target.handle();
        let InUse(target) = target.deregister().expect_err("two descriptors use it");
        assert_eq!(target.handle(), handle);
        pair.a.send(0, 150);
        assert_eq!(pair.b.received().length(), 150);
        let InUse(target) = target.deregister().expect_err("one descriptor uses it");
        pair.a.send(0, 150);
        // A completed descriptor does not use the region, though the descriptor still names the
        // region.
        let completed = pair.b.received();
        target.deregister().expect("nothing uses it any more");
        assert_eq!(completed.segments().len(), 2);
        pair.a.sent();
        pair.a.sent();
    }
    // A refused descriptor does not use the region either.
    let target = region(&pair.b.nic, &pair.b.tag, 64, Access::LOCAL);
    let refused = pair.b.vi.receive.post(Descriptor::receive().with_segment(&target, 0, 65)).expect_err("too long");
    target.deregister().expect("nothing uses it");
    drop(refused);
}

/// 25. A protection tag in use by a region or a VI cannot be destroyed. When no region and no VI
///     uses the tag, the tag can be destroyed at once.
pub fn s25_protection_tags_in_use_cannot_be_destroyed(run: &Run) {
    let plan = Plan::of(run.reliable_levels()[0]);
    for _ in 0..50 {
        let mut pair = run.pair_by(&plan);
        pair.b.receive(0, 1000);
        pair.a.send(0, 100);
        let completed = pair.b.received();
        let Pair { b, .. } = pair;
        let crate::ends::End { mut vi, area, tag, nic } = b;
        let InUse(tag) = tag.destroy().expect_err("a region and a VI have it");
        area.deregister().expect("nothing uses it");
        let InUse(tag) = tag.destroy().expect_err("a VI has it");
        let another = region(&nic, &tag, 64, Access::LOCAL);
        vi.disconnect();
        vi.destroy().expect("it is idle");
        let InUse(tag) = tag.destroy().expect_err("a region has it");
        another.deregister().expect("nothing uses it");
        tag.destroy().expect("nothing has it any more");
        drop(completed);
    }
}

/// 26. A VI cannot be destroyed while it is connected, or while it has posted descriptors, or
///     completed ones that are not taken. The attempt fails and returns the VI, which still works.
pub fn s26_vis_in_use_cannot_be_destroyed(run: &Run) {
    let plan = Plan::of(run.reliable_levels()[0]);
    let mut pair = run.pair_by(&plan);
    let crate::ends::End { vi, area, tag, nic } = pair.b;
    let InUse(vi) = vi.destroy().expect_err("it is connected");
    pair.b = crate::ends::End { vi, area, tag, nic };
    assert_eq!(pair.b.vi.state(), State::Connected);
    pair.check_both(26);
    pair.a.vi.disconnect();
    pair.b.ended();
    let InUse(mut vi) = pair.b.vi.destroy().expect_err("it has not been disconnected");
    vi.disconnect();
    vi.receive.post(Descriptor::receive().with_context(1)).expect("receives may be posted");
    let InUse(mut vi) = vi.destroy().expect_err("a descriptor is posted");
    assert_eq!((vi.receive.posted(), vi.state()), (1, State::Idle));
    vi.disconnect();
    let InUse(mut vi) = vi.destroy().expect_err("a descriptor is not taken");
    assert_eq!(drain(&mut vi.receive).len(), 1);
    vi.send.post(Descriptor::send()).expect("it fails later");
    let InUse(mut vi) = vi.destroy().expect_err("a descriptor is not taken");
    assert_eq!(drain(&mut vi.send).len(), 1);
    vi.destroy().expect("nothing uses it any more");
}

/// 27. A completion queue in use by a VI cannot be destroyed: the attempt fails and returns the
///     queue, which still works. When the VI is gone, the queue can be destroyed at once.
pub fn s27_completion_queues_in_use_cannot_be_destroyed(run: &Run) {
    let plan = Plan::of(run.reliable_levels()[0]);
    let nic = run.fixture.nic(Side::Server);
    for _ in 0..20 {
        let queue = nic.completion_queue(8);
        let b = run.end_of(&nic, &plan, None, Some(&queue));
        let InUse(queue) = queue.destroy().expect_err("a VI has it");
        let mut pair = Pair { a: run.end(Side::Client, &plan), b };
        run.connect(&mut pair);
        let InUse(mut queue) = queue.destroy().expect_err("a VI has it");
        pair.b.receive(0, 100);
        pair.a.send(0, 10);
        assert_eq!(entry(&mut queue).vi, pair.b.vi.id());
        well(pair.b.vi.receive.done().expect("an entry has its descriptor"));
        let Pair { b, .. } = pair;
        let crate::ends::End { mut vi, .. } = b;
        vi.disconnect();
        vi.destroy().expect("nothing uses it");
        queue.destroy().expect("nothing has it any more");
    }
}
