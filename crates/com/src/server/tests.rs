//! Tests of the connections that the removal of an export wakes.

use super::connection::Connection;
use super::standing::Standing;
use crate::services::process;
use obvia_rpc::object_table::{Removed, SharedTable};
use obvia_via::Error;
use obvia_via::window::{self, Inbox, Outgoing, Peer, Relay, Window};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A relay that carries no messages. The relay calls one function when it is woken, and another
/// function when it is dropped.
struct Idle {
    woken: Box<dyn Fn() + Send + Sync>,
    dropped: Box<dyn Fn() + Send + Sync>,
}

impl std::fmt::Debug for Idle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Idle")
    }
}

impl Relay for Idle {
    fn send(&self, _: Outgoing<'_>) -> Result<(), Error> {
        Ok(())
    }
    fn receive(&self, _: &mut Inbox<'_>, _: Duration) -> Result<(), Error> {
        Ok(())
    }
    fn wake(&self) {
        (self.woken)();
    }
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }
    fn peer(&self) -> Peer {
        Peer::Process { pid: 1, uid: 0, serial: 1 }
    }
    fn end(&self) {}
}

impl Drop for Idle {
    fn drop(&mut self) {
        (self.dropped)();
    }
}

fn relayed(relay: Idle) -> Window {
    window::relayed(Box::new(relay), &window::Options::default()).unwrap()
}

/// Removes a target of which the connection of this window has a copy. Returns the removal.
fn removal(table: &SharedTable<u32>, window: &Window) -> Removed<u32> {
    let (index, generation) = table.insert(7);
    let watch = table.watch(window.alarm());
    table.copy(index, generation, &watch).unwrap();
    let removed = table.remove([(index, generation)]);
    assert_eq!(removed.len(), 1);
    removed
}

#[test]
#[cfg_attr(miri, ignore = "maps memory as Miri cannot")]
fn removals_wake_only_the_connections_that_have_copies() {
    const IDLE: usize = 50;
    const RELEASES: usize = 1000;
    let table = SharedTable::default();
    let counts: Vec<_> = (0..=IDLE).map(|_| Arc::new(AtomicUsize::new(0))).collect();
    let windows: Vec<_> = counts
        .iter()
        .map(|count| {
            let count = Arc::clone(count);
            let woken = Box::new(move || _ = count.fetch_add(1, Ordering::Relaxed));
            relayed(Idle { woken, dropped: Box::new(|| ()) })
        })
        .collect();
    let watches: Vec<_> = windows.iter().map(|window| table.watch(window.alarm())).collect();
    let (client, idle) = watches.split_last().unwrap();
    let (index, generation) = table.insert(0);
    for watch in idle {
        table.copy(index, generation, watch).unwrap();
        watch.revalidate(5, 1);
    }
    for _ in 0..RELEASES {
        let (index, generation) = table.insert(1);
        table.copy(index, generation, client).unwrap();
        drop(table.remove([(index, generation)]));
        // Removals of targets that the table does not contain wake no connection.
        drop(table.remove([(index, generation)]));
        drop(table.remove([]));
    }
    let woken =
        |counts: &[Arc<AtomicUsize>]| -> Vec<_> { counts.iter().map(|count| count.load(Ordering::Relaxed)).collect() };
    assert_eq!(woken(&counts[..IDLE]), [0; IDLE]);
    assert_eq!(woken(&counts[IDLE..]), [RELEASES]);
    assert!(idle.iter().all(|watch| watch.target() == 5 && watch.valid() == 1));
    drop(table.remove([(index, generation)]));
    assert_eq!(woken(&counts[..IDLE]), [1; IDLE]);
    assert!(idle.iter().all(|watch| watch.valid() == 0));
}

/// A target. When it is dropped, it records how often a connection has been woken before.
struct Recorder {
    woken: Arc<AtomicUsize>,
    at_drop: Arc<AtomicUsize>,
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.at_drop.store(self.woken.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// The drop of a target can take long or panic, so connections must be woken before it.
#[test]
#[cfg_attr(miri, ignore = "maps memory as Miri cannot")]
fn connections_are_woken_before_removed_targets_are_dropped() {
    let [woken, at_drop] = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&woken);
    let relayed =
        relayed(Idle { woken: Box::new(move || _ = count.fetch_add(1, Ordering::Relaxed)), dropped: Box::new(|| ()) });
    let table = SharedTable::default();
    let watch = table.watch(relayed.alarm());
    let (index, generation) = table.insert(Arc::new(Recorder { woken, at_drop: Arc::clone(&at_drop) }));
    drop(table.copy(index, generation, &watch).unwrap());
    drop(table.remove([(index, generation)]));
    assert_eq!(at_drop.load(Ordering::Relaxed), 1);
}

#[test]
#[cfg_attr(miri, ignore = "maps memory as Miri cannot")]
fn the_waking_thread_can_hold_the_last_reference_to_a_connection() {
    let (ended, is_ended) = mpsc::channel();
    let table = Arc::new(SharedTable::default());
    let window = Arc::new(Mutex::new(None));
    // The connection ends as soon as its alarm rings. When it ends, targets are removed, as at the
    // end of a client's last connection.
    let closing = Arc::clone(&window);
    let woken = Box::new(move || {
        let window = closing.lock().unwrap().take();
        drop(window);
    });
    let at_end = Arc::clone(&table);
    let dropped = Box::new(move || {
        drop(at_end.remove([at_end.insert(8)]));
        ended.send(()).unwrap();
    });
    let relayed = relayed(Idle { woken, dropped });
    let removed = removal(&table, &relayed);
    *window.lock().unwrap() = Some(relayed);
    let (returned, has_returned) = mpsc::channel();
    std::thread::spawn(move || {
        drop(removed);
        returned.send(()).unwrap();
    });
    let patience = Duration::from_secs(30);
    is_ended.recv_timeout(patience).expect("the connection ends while its alarm rings");
    has_returned.recv_timeout(patience).expect("the thread that rings the alarm waits for no lock of its own");
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn connections_are_not_listed_before_their_client_is_let_in() {
    let window = relayed(Idle { woken: Box::new(|| ()), dropped: Box::new(|| ()) });
    let exporter = process::runtime().unwrap().exporter();
    let _connection = Connection::new(exporter, &window, None, Standing::Uncounted);
    let (_, newest) = exporter.connections().newest(usize::MAX);
    assert!(newest.iter().all(|progress| progress.peer != window.peer()), "{newest:?}");
}
