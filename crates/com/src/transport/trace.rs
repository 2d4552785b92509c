//! Traces: the packets of a program's standard protocols, in a file for Wireshark.
//!
//! A program whose environment names a trace ([`VARIABLE`]) appends the packets of its
//! `ncacn_ip_tcp` and `ncalrpc` streams to the file, whatever its programming language. The command
//! `obvia trace` sets the variable. Calls over virtual interfaces are not traced, and a trace does
//! not change their cost. The first connection through shared memory reports on the standard error
//! that its calls are not traced, so that an empty trace is not mistaken for the absence of calls.

use crate::types::error::Result;
use obvia_via::wrap::SharedCapture;
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

/// The environment variable with the path of the trace.
pub const VARIABLE: &str = SharedCapture::VARIABLE;
/// The environment variable with the number of bytes after which processes stop writing to the
/// trace; the default is 1 GiB.
pub const LIMIT_VARIABLE: &str = SharedCapture::LIMIT_VARIABLE;

/// Makes an empty trace that only this user can read and write, since its contents may be secret:
/// see the protection levels of calls.
///
/// # Errors
///
/// If the file exists already, or cannot be made.
pub fn create(path: &Path) -> Result<()> {
    Ok(SharedCapture::create(path)?)
}

/// Reports once, on the standard error, that calls through shared memory are not traced.
pub(crate) fn note_shared_memory() {
    static TOLD: OnceLock<()> = OnceLock::new();
    TOLD.get_or_init(|| {
        if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
            let text = "calls through shared memory are not in the trace";
            // Without a standard error the report is lost.
            let _ = writeln!(io::stderr(), "obvia: process {}: {text} {}", std::process::id(), path.display());
        }
    });
}
