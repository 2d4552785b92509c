//! Tests of connections that end during a wake-up.

use super::clients::Clients;
use obvia_via::Error;
use obvia_via::window::{self, Inbox, Outgoing, Peer, Relay, Window};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A relay that drops its window as soon as its alarm rings, and that calls `wake_all` when it is
/// dropped, as an association's relay does.
struct ClosingRelay {
    clients: Arc<Clients>,
    window: Arc<Mutex<Option<Window>>>,
    ended: mpsc::Sender<()>,
}

impl std::fmt::Debug for ClosingRelay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ClosingRelay")
    }
}

impl Relay for ClosingRelay {
    fn send(&self, _: Outgoing<'_>) -> Result<(), Error> {
        Ok(())
    }
    fn receive(&self, _: &mut Inbox<'_>, _: Duration) -> Result<(), Error> {
        Ok(())
    }
    fn wake(&self) {
        let window = self.window.lock().unwrap().take();
        drop(window);
    }
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }
    fn peer(&self) -> Peer {
        Peer::Process { pid: 1, uid: 0, serial: 1 }
    }
    fn end(&self) {}
}

impl Drop for ClosingRelay {
    fn drop(&mut self) {
        self.clients.wake_all();
        self.ended.send(()).unwrap();
    }
}

#[test]
#[cfg_attr(miri, ignore = "maps memory as Miri cannot")]
fn the_waking_thread_can_hold_the_last_reference_to_a_connection() {
    let (ended, is_ended) = mpsc::channel();
    let clients = Arc::new(Clients::default());
    let window = Arc::new(Mutex::new(None));
    let relay = ClosingRelay { clients: Arc::clone(&clients), window: Arc::clone(&window), ended };
    let relayed = window::relayed(Box::new(relay), &window::Options::default()).unwrap();
    clients.watch(relayed.alarm());
    *window.lock().unwrap() = Some(relayed);
    let (woken, is_woken) = mpsc::channel();
    std::thread::spawn(move || {
        clients.wake_all();
        clients.wake_all();
        woken.send(()).unwrap();
    });
    let patience = Duration::from_secs(30);
    is_ended.recv_timeout(patience).expect("the connection ends while everybody is woken");
    is_woken.recv_timeout(patience).expect("nobody waits for a lock of their own");
}
