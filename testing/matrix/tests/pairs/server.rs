//! The process that has the objects.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A process that serves the object under a name of its own.
pub(crate) struct Server {
    child: Child,
    pub(crate) name: String,
}

impl Server {
    pub(crate) fn start() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("matrix-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(env!("CARGO_BIN_EXE_matrix"));
        let mut child = command.arg(&name).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "serving\n");
        Self { child, name }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // At the end of its input it ends, and takes its name away.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
