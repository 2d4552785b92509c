//! Sockets that a process inherits from its parent: systemd's socket activation (sd_listen_fds(3)).

use super::{Wanted, listening, parse};
use crate::error::{Error, Result, code};
use crate::process;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use rustix::fd::{FromRawFd, OwnedFd, RawFd};
use rustix::io::{FdFlags, fcntl_setfd};
use std::path::Path;
use std::sync::Once;

/// The first inherited file descriptor.
const FIRST: RawFd = 3;
/// The greatest number of inherited sockets.
const SOCKETS_MAX: RawFd = 64;

/// Listens, as [`crate::listen`], on the sockets that this process was started with, such as those
/// that systemd passes to a service with a socket unit. `binding` is `ncacn_ip_tcp:` with options
/// only, which apply to all sockets: `ncacn_ip_tcp:[,security=integrity]`. Returns the bindings
/// with the addresses and ports of the sockets; none where the process inherited no sockets.
///
/// # Errors
///
/// As for [`crate::listen`]; E_INVALIDARG for a binding with an address or a port, and for a
/// descriptor that is no listening TCP socket.
pub fn listen_passed(binding: &str) -> Result<Vec<String>> {
    let runtime = process::runtime()?;
    let parsed = parse(binding)?;
    let has_place = !parsed.address.is_empty() || !parsed.endpoint.is_empty();
    if parsed.protocol != ProtocolSequence::IpTcp || has_place {
        let text = format!("`{binding}`: where sockets lead is known; write ncacn_ip_tcp:, and options in brackets");
        return Err(Error::new(code::E_INVALIDARG, text));
    }
    let wanted = Wanted::of(&parsed)?;
    let listen = |socket| {
        let listen = |exporter, wanted: &Wanted, binding: &mut StringBinding| {
            listening::listen_on(exporter, wanted, binding, socket)
        };
        Ok(runtime.network().listen_with_sockets(runtime.exporter(), &wanted, parsed.clone(), listen)?.to_string())
    };
    sockets().into_iter().map(listen).collect()
}

/// Returns the inherited sockets at the first call, and none afterwards.
fn sockets() -> Vec<OwnedFd> {
    static TAKEN: Once = Once::new();
    let mut taken = Vec::new();
    TAKEN.call_once(|| {
        let number = |variable| std::env::var(variable).ok()?.parse::<u32>().ok();
        // A child that merely inherited the environment must not use the variables.
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
    // SAFETY: the descriptor is open, the parent has declared it to be this process's, and it is
    // taken once.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    // Servers that this process starts do not need the socket, and would keep the port in use.
    let _ = fcntl_setfd(&socket, FdFlags::CLOEXEC);
    socket
}
