//! Tests of connection points within one process. `testing/torture/tests/events.rs` has tests
//! across processes and hosts.

use super::idl::IConnectionPointContainer;
use super::*;
use crate::IUnknown;
use crate::Interface;
use crate::code;
use crate::types::deadline;
use crate::types::error::Result;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::time::{Duration, Instant};
use windows_core::ComObject;

// The sinks have an existing interface, in which `Unadvise(n)` is the event `n`.
use super::idl::IConnectionPoint as ISink;

type OnEvent = Box<dyn Fn(u32) -> Result<()> + Send + Sync>;

#[obvia::object(IConnectionPoint)]
struct Sink(OnEvent);

impl IConnectionPoint_Impl for Sink_Impl {
    fn GetConnectionInterface(&self) -> Result<crate::GUID> {
        Err(code::E_NOTIMPL.into())
    }
    fn GetConnectionPointContainer(&self) -> Result<IConnectionPointContainer> {
        Err(code::E_NOTIMPL.into())
    }
    fn Advise(&self, _: Option<&IUnknown>) -> Result<u32> {
        Err(code::E_NOTIMPL.into())
    }
    fn Unadvise(&self, event: u32) -> Result<()> {
        (self.0)(event)
    }
    fn EnumConnections(&self) -> Result<IEnumConnections> {
        Err(code::E_NOTIMPL.into())
    }
}

fn sink(on_event: impl Fn(u32) -> Result<()> + Send + Sync + 'static) -> ISink {
    Sink(Box::new(on_event)).into()
}

/// Returns a sink, and the list to which the sink adds the events that it receives.
fn noting() -> (ISink, Arc<Mutex<Vec<u32>>>) {
    let got = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&got);
    let note = move |event| {
        noted.lock().unwrap().push(event);
        Ok(())
    };
    (sink(note), got)
}

#[obvia::object(IConnectionPointContainer)]
struct Source {
    events: ConnectionPoint<ISink>,
    enumerators: ConnectionPoint<IEnumConnections>,
}

impl ConnectionPoints for Source_Impl {
    fn connection_points(&self) -> Vec<&dyn AnyPoint> {
        vec![&self.events, &self.enumerators]
    }
}

fn source() -> (ComObject<Source>, IConnectionPointContainer) {
    let made = ComObject::new(Source { events: ConnectionPoint::new(), enumerators: ConnectionPoint::new() });
    let container = made.to_interface();
    (made, container)
}

#[test]
fn sinks_are_called_until_their_connection_ends() {
    let (source, container) = source();
    let ((one, first), (other, second)) = (noting(), noting());
    assert_eq!(source.events.fire(|sink| sink.Unadvise(1)), 0, "there is nobody");
    let kept = advise(&container, &one).unwrap();
    let ended = advise(&container, &other).unwrap();
    assert_ne!(kept.cookie(), ended.cookie());
    assert_eq!(source.events.fire(|sink| sink.Unadvise(2)), 2);
    ended.unadvise().unwrap();
    assert_eq!(source.events.fire(|sink| sink.Unadvise(3)), 1);
    drop(kept);
    assert_eq!(source.events.fire(|sink| sink.Unadvise(4)), 0);
    assert_eq!((&*first.lock().unwrap(), &*second.lock().unwrap()), (&vec![2, 3], &vec![2]));
}

#[test]
fn event_connections_need_a_point_and_a_sink_of_the_interface() {
    let (source, container) = source();
    let stranger: IUnknown = sink(|_| Ok(())).cast().unwrap();
    let refused = container.FindConnectionPoint(&IUnknown::IID).unwrap_err();
    assert_eq!(refused.code(), code::CONNECT_E_NOCONNECTION);
    let point = container.FindConnectionPoint(&IEnumConnections::IID).unwrap();
    let refused = point.Advise(Some(&stranger)).unwrap_err();
    assert_eq!(refused.code(), code::CONNECT_E_CANNOTCONNECT);
    assert!(refused.to_string().contains("IEnumConnections"), "{refused}");
    assert_eq!(point.Advise(None).unwrap_err().code(), code::E_POINTER);
    assert_eq!(point.Unadvise(1).unwrap_err().code(), code::CONNECT_E_NOCONNECTION);
    let (sink, _) = noting();
    let cookie = source.events.advise(&sink).unwrap();
    source.events.unadvise(cookie).unwrap();
    assert_eq!(source.events.unadvise(cookie).unwrap_err().code(), code::CONNECT_E_NOCONNECTION);
    let refused = advise(&sink, &sink).unwrap_err();
    assert_eq!(refused.code(), code::E_NOINTERFACE);
}

#[test]
fn sinks_over_the_limit_are_refused() {
    let point = ConnectionPoint::<ISink>::with_limits(Limits { sinks: 2, ..Limits::default() });
    let (sink, _) = noting();
    let first = point.advise(&sink).unwrap();
    point.advise(&sink).unwrap();
    assert_eq!(point.advise(&sink).unwrap_err().code(), code::CONNECT_E_ADVISELIMIT);
    point.unadvise(first).unwrap();
    point.advise(&sink).unwrap();
    assert_eq!(point.sinks(), 2);
}

#[test]
fn connection_points_and_connections_are_enumerated() {
    let (source, container) = source();
    let all = container.EnumConnectionPoints().unwrap();
    assert!(crate::Agile::new(&all).is_ok(), "it may go to others");
    let (points, count) = all.Next(3).unwrap();
    assert_eq!(count, 2, "there are no more");
    let iids = points.with(|points| {
        let points = points.iter().take(2).map(|point| point.as_ref().unwrap());
        points.map(|point| point.GetConnectionInterface().unwrap()).collect::<Vec<_>>()
    });
    assert_eq!(iids, [ISink::IID, IEnumConnections::IID]);
    let point = container.FindConnectionPoint(&ISink::IID).unwrap();
    assert_eq!(point.GetConnectionPointContainer().unwrap(), container);

    let (sink, _) = noting();
    let cookies = [0; 3].map(|_| source.events.advise(&sink).unwrap());
    let all = point.EnumConnections().unwrap();
    assert!(crate::Agile::new(&all).is_ok(), "it may go to others");
    let told = |all: &IEnumConnections, room| {
        let (data, count) = all.Next(room).unwrap();
        data.with(|data| data.iter().take(count as usize).map(|one| one.dwCookie()).collect::<Vec<_>>())
    };
    all.Skip(1).unwrap();
    let other = all.Clone().unwrap();
    assert_eq!(told(&all, 1), cookies[1..2]);
    assert_eq!(told(&all, 9), cookies[2..]);
    assert_eq!(told(&other, 9), cookies[1..]);
    all.Reset().unwrap();
    assert_eq!(told(&all, 2), cookies[..2]);
    // From here on, `Next` is called through the vtable, as C and C++ programs call it.
    let (mut room, mut fetched) = ([std::ptr::null_mut::<c_void>(); 4], 9);
    // SAFETY: there is room for two CONNECTDATA.
    let next = |room: *mut *mut c_void, count, fetched| unsafe {
        (all.vtable().Next)(all.as_raw(), count, room.cast(), fetched)
    };
    assert_eq!((next(room.as_mut_ptr(), 2, &raw mut fetched), fetched), (code::S_FALSE, 1));
    // SAFETY: the reference was counted for the caller.
    drop(unsafe { IUnknown::from_raw(room[0]) });
    assert_eq!((next(room.as_mut_ptr(), 1, &raw mut fetched), fetched), (code::S_FALSE, 0));
    assert_eq!(next(room.as_mut_ptr(), 2, std::ptr::null_mut()), code::E_POINTER);
}

#[test]
fn a_sink_can_disconnect_during_its_event() {
    let (source, container) = source();
    let kept = Arc::new(Mutex::new(None));
    let own = Arc::clone(&kept);
    let end = move |_| {
        let connection: Option<Connection> = own.lock().unwrap().take();
        connection.unwrap().unadvise()
    };
    *kept.lock().unwrap() = Some(advise(&container, &sink(end)).unwrap());
    let (other, got) = noting();
    source.events.advise(&other).unwrap();
    assert_eq!(source.events.fire(|sink| sink.Unadvise(1)), 2);
    assert_eq!(source.events.fire(|sink| sink.Unadvise(2)), 1);
    assert_eq!(*got.lock().unwrap(), [1, 2]);
}

#[test]
fn dead_and_unresponsive_sinks_are_disconnected() {
    let limits = Limits { unanswered: 2, ..Limits::default() };
    let point = ConnectionPoint::<ISink>::with_limits(limits);
    let (last, got) = noting();
    let failing = point.advise(&sink(|_| Err(code::E_FAIL.into()))).unwrap();
    point.advise(&sink(|_| Err(code::RPC_E_DISCONNECTED.into()))).unwrap();
    point.advise(&sink(|_| Err(code::RPC_E_TIMEOUT.into()))).unwrap();
    let seldom = point.advise(&sink(|n| if n % 2 == 0 { Err(code::RPC_E_TIMEOUT.into()) } else { Ok(()) })).unwrap();
    point.advise(&last).unwrap();
    let (taken, left): (Vec<_>, Vec<_>) = (0..4).map(|n| (point.fire(|sink| sink.Unadvise(n)), point.sinks())).unzip();
    assert_eq!((taken, left), (vec![1, 2, 1, 2], vec![4, 3, 3, 3]));
    assert_eq!(*got.lock().unwrap(), [0, 1, 2, 3]);
    point.unadvise(failing).unwrap();
    point.unadvise(seldom).unwrap();
}

#[test]
fn sinks_stay_connected_if_the_callers_deadline_left_them_no_time() {
    let point = ConnectionPoint::<ISink>::with_limits(Limits { unanswered: 1, ..Limits::default() });
    point.advise(&sink(|_| Err(code::RPC_E_TIMEOUT.into()))).unwrap();
    deadline::limit_to(Some(Instant::now()));
    let left = [0, 1].map(|n| (point.fire(|sink| sink.Unadvise(n)), point.sinks()));
    deadline::limit_to(None);
    assert_eq!(left, [(0, 1); 2]);
    assert_eq!((point.fire(|sink| sink.Unadvise(2)), point.sinks()), (0, 0));
}

#[test]
fn events_are_fired_while_sinks_connect_and_disconnect() {
    let (point, is_over) = (ConnectionPoint::<ISink>::new(), Arc::new(AtomicBool::new(false)));
    let (always, got) = noting();
    point.advise(&always).unwrap();
    let barrier = Arc::new(Barrier::new(5));
    let others: Vec<_> = (0..4)
        .map(|_| {
            let (point, barrier, is_over) = (point.clone(), Arc::clone(&barrier), Arc::clone(&is_over));
            std::thread::spawn(move || {
                let called = Arc::new(AtomicUsize::new(0));
                let counting = Arc::clone(&called);
                let own = crate::Agile::new(&sink(move |_| {
                    counting.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                }))
                .unwrap();
                barrier.wait();
                while !is_over.load(Ordering::Relaxed) || called.load(Ordering::Relaxed) == 0 {
                    let cookie = point.advise(own.get()).unwrap();
                    std::thread::yield_now();
                    point.unadvise(cookie).unwrap();
                }
            })
        })
        .collect();
    barrier.wait();
    let end = Instant::now() + Duration::from_secs(30);
    let mut fired = 0;
    while fired < 1000 || others.iter().any(|other| !other.is_finished()) {
        assert!(Instant::now() < end, "each of the others is called now and then");
        point.fire(|sink| sink.Unadvise(fired));
        fired += 1;
        is_over.store(fired >= 1000, Ordering::Relaxed);
    }
    for other in others {
        other.join().unwrap();
    }
    assert_eq!(*got.lock().unwrap(), (0..fired).collect::<Vec<_>>());
    assert_eq!(point.sinks(), 1);
}

#[test]
fn posting_never_blocks_and_a_full_queue_drops_its_oldest_event() {
    let limits = Limits { queued: 3, ..Limits::default() };
    let point = ConnectionPoint::<ISink>::with_limits(limits);
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let (tell, told) = mpsc::channel();
    let slow = sink(move |event| {
        tell.send(event).unwrap();
        wait.lock().unwrap().recv().unwrap();
        Ok(())
    });
    let (quick_tell, quick_told) = mpsc::channel();
    let quick = sink(move |event| {
        quick_tell.send(event).unwrap();
        Ok(())
    });
    let cookie = point.advise(&slow).unwrap();
    point.advise(&quick).unwrap();
    let within = Duration::from_secs(30);
    let post = |n| point.post(move |sink| sink.Unadvise(n));
    assert_eq!(post(0), 0);
    assert_eq!((told.recv_timeout(within), quick_told.recv_timeout(within)), (Ok(0), Ok(0)), "both are called");
    for n in 1..=5 {
        // The queue of the slow sink takes the events 1, 2 and 3. Then 4 and 5 displace 1 and 2.
        assert_eq!(post(n), usize::from(n > 3), "{n}");
        assert_eq!(quick_told.recv_timeout(within), Ok(n), "nobody waits for the slow one");
    }
    for n in 3..=5 {
        go.send(()).unwrap();
        assert_eq!(told.recv_timeout(within), Ok(n));
    }
    // Events that wait for a sink are dropped when the sink's connection ends.
    post(6);
    point.unadvise(cookie).unwrap();
    go.send(()).unwrap();
    assert_eq!(quick_told.recv_timeout(within), Ok(6));
    drop((slow, point));
    assert!(told.recv_timeout(within).is_err(), "nothing more came, and nobody keeps the sink");
}
