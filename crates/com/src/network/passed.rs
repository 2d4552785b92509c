//! Sockets that a process was started with: systemd's socket activation (sd_listen_fds(3)).

use super::{Wanted, parse, stream};
use crate::error::{Error, Result, code};
use crate::runtime::Runtime;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use rustix::fd::{FromRawFd, OwnedFd, RawFd};
use rustix::io::{FdFlags, fcntl_setfd};
use std::path::Path;
use std::sync::Once;

/// The number of the first one.
const FIRST: RawFd = 3;
/// The most that are taken.
const SOCKETS_MAX: RawFd = 64;

/// Lets processes of other hosts connect, as [`crate::listen`], by the sockets that this process was started with, such as systemd passes to a
/// service which has a socket unit. `binding` is `ncacn_ip_tcp:` with options alone, which hold for all of them: `ncacn_ip_tcp:[,security=integrity]`.
/// Returns the bindings, with the addresses and ports of the sockets: none where the process was started with none.
///
/// # Errors
///
/// As for [`crate::listen`]; E_INVALIDARG for a binding that names an address or a port, and for what is no socket that is listened on over TCP.
pub fn listen_passed(binding: &str) -> Result<Vec<String>> {
    let runtime = Runtime::of_process()?;
    let parsed = parse(binding)?;
    let has_place = !parsed.address.is_empty() || !parsed.endpoint.is_empty();
    if parsed.protocol != ProtocolSequence::IpTcp || has_place {
        let text = format!("`{binding}`: where sockets lead is known; write ncacn_ip_tcp:, and options in brackets");
        return Err(Error::new(code::E_INVALIDARG, text));
    }
    let wanted = Wanted::of(&parsed)?;
    let listen = |socket| {
        let listen =
            |runtime, wanted: &Wanted, binding: &mut StringBinding| stream::listen_on(runtime, wanted, binding, socket);
        Ok(runtime.network().listen_with_sockets(runtime, &wanted, parsed.clone(), listen)?.to_string())
    };
    sockets().into_iter().map(listen).collect()
}

/// The sockets, for who asks first.
fn sockets() -> Vec<OwnedFd> {
    static TAKEN: Once = Once::new();
    let mut taken = Vec::new();
    TAKEN.call_once(|| {
        let number = |variable| std::env::var(variable).ok()?.parse::<u32>().ok();
        // A process that has this one's environment is meant by none of it.
        if number("LISTEN_PID") != Some(std::process::id()) {
            return;
        }
        let count = number("LISTEN_FDS").and_then(|count| RawFd::try_from(count).ok()).unwrap_or(0);
        let numbers = FIRST..FIRST + count.min(SOCKETS_MAX);
        let is_open = |number: &RawFd| Path::new(&format!("/proc/self/fd/{number}")).exists();
        taken = numbers.take_while(is_open).map(own).collect();
    });
    taken
}

fn own(number: RawFd) -> OwnedFd {
    // SAFETY: it is open, who started this process says that it is this process's, and it is taken once.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    // Servers that this process starts have no use for it, and would keep the port.
    let _ = fcntl_setfd(&socket, FdFlags::CLOEXEC);
    socket
}
