//! The process that has the objects.

use marshaling::IShop;
use obvia::marshaling::{Context, Flags};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A process with a shop.
pub(crate) struct Server {
    child: Child,
    pub(crate) shop: IShop,
}

impl Server {
    pub(crate) fn start(bindings: &[&str]) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("shop-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(env!("CARGO_BIN_EXE_shop-server"));
        command.arg(&name).args(bindings).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(std::io::Result::ok);
        assert!(lines.any(|line| line == "open"));
        Self { child, shop: obvia::connect(&name).unwrap() }
    }

    pub(crate) fn write(&self, context: Context, flags: Flags) -> obvia::Result<Vec<u8>> {
        self.shop.Write(context as u32, flags.number())
    }

    /// Waits until so many stocks are left: references are given back a little later.
    pub(crate) fn await_left(&self, count: i32) {
        let start = Instant::now();
        while self.shop.Left().unwrap() != count {
            assert!(start.elapsed() < PATIENCE, "{} stocks are left, not {count}", self.shop.Left().unwrap());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
