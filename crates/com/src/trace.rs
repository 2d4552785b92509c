//! Traces: what programs send and receive by the standard's protocols, in a file for Wireshark.
//!
//! A program whose environment names a trace ([`VARIABLE`]) appends to it what goes over its streams of `ncacn_ip_tcp` and `ncalrpc`, in
//! whichever language it is written; `obvia trace` sets the variable. Calls by virtual interfaces are not in traces: what they cost does
//! not depend on whether one is written. The first connection through shared memory says so on the standard error, lest an empty trace be taken for silence.

use crate::error::Result;
use obvia_via::wrap::SharedCapture;
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;

/// The environment variable with the path of the trace.
pub const VARIABLE: &str = SharedCapture::VARIABLE;
/// The environment variable with the number of bytes after which processes stop writing to the trace; without it that is 1 GiB.
pub const LIMIT_VARIABLE: &str = SharedCapture::LIMIT_VARIABLE;

/// Makes an empty trace, which only this user can read and write. What is in it may be secret: see the levels at which calls are
/// protected.
///
/// # Errors
///
/// When there is such a file already, or it cannot be made.
pub fn create(path: &Path) -> Result<()> {
    Ok(SharedCapture::create(path)?)
}

/// Tells whoever has a trace written, once, that calls go by a way that is not in it.
pub(crate) fn note_shared_memory() {
    static TOLD: OnceLock<()> = OnceLock::new();
    TOLD.get_or_init(|| {
        if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
            let text = "calls through shared memory are not in the trace";
            // Where nobody hears it, nobody misses it.
            let _ = writeln!(io::stderr(), "obvia: process {}: {text} {}", std::process::id(), path.display());
        }
    });
}
