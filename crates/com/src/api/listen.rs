//! Listening on networks, and on sockets that a process inherits from its parent: systemd's socket
//! activation (sd_listen_fds(3)).

use crate::server::listening::listen_on;
use crate::services::process;
use crate::transport::network::parse;
use crate::transport::network::sequence::Wanted;
use crate::types::error::{Error, Result, code};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use rustix::fd::{FromRawFd, OwnedFd, RawFd};
use rustix::io::{FdFlags, fcntl_setfd};
use std::path::Path;
use std::sync::Once;

/// Listens on a network, so that processes of other hosts can connect to the exports of this
/// process: `ncacn_vi_udp:0.0.0.0[5555]`. If the binding has no endpoint, the system chooses one.
/// Returns the binding with the actual endpoint.
///
/// Other virtual interfaces are `ncacn_vi_xdp` and `ncacn_vi_fabric`, in programs built with the
/// features `xdp` and `fabric`; docs/xdp.md and docs/fabric.md describe their options.
/// `ncacn_ip_tcp` and `ncalrpc:[NAME]` are standard protocol sequences: every DCE/RPC client can
/// call the [interfaces of functions](crate::serve_interface) there, in NDR or NDR64.
/// `ncadg_ip_udp` is another standard protocol sequence, for calls in NDR: docs/dg.md. Between two
/// obvia processes calls use FLAT, unless the option `transfer` of either end is `ndr` or `ndr64`.
/// A process may listen on several bindings, and its references contain all of them. Options that
/// concern this process alone, such as `interface=eth0` or `fault=loss=5%`, are not in the returned
/// binding. These options apply to every connection of the protocol sequence, unless the
/// connection's own binding sets them.
///
/// Processes of this host reach the exports without this call. `ncacn_vi_shm:[NAME]` gives this
/// process a further name, to which clients of its interfaces of functions can [bind](crate::bind).
///
/// Every client that reaches the address can call every exported object, unless authentication is
/// required: `ncacn_ip_tcp:[5555,security=privacy]` accepts only calls of clients that have
/// [accounts](crate::security::set_accounts) and encrypt their calls. The other levels are
/// `integrity`, for signed calls, and `connect`, for authenticated connections. `ncacn_vi_fabric`
/// supports only `connect`.
///
/// # Errors
///
/// RPC_S_DUPLICATE_ENDPOINT for a name in use; E_INVALIDARG for an invalid binding, for security
/// without accounts, or for a protocol sequence that this program was built without; the system's
/// error where the address is not available.
///
/// ```no_run
/// # fn main() -> obvia::Result<()> {
/// let binding = obvia::listen("ncacn_vi_udp:0.0.0.0[5555]")?;
/// println!("listening on {binding}");
/// # Ok(())
/// # }
/// ```
pub fn listen(binding: &str) -> Result<String> {
    let runtime = process::runtime()?;
    let parsed = parse(binding)?;
    if parsed.protocol == ProtocolSequence::ViShm {
        if parsed.endpoint.is_empty() || !parsed.address.is_empty() || !parsed.options.is_empty() {
            let text = format!(
                "`{binding}`: a binding of shared memory has a name and nothing else: write ncacn_vi_shm:[NAME]"
            );
            return Err(Error::new(code::E_INVALIDARG, text));
        }
        runtime.listen_by_name(&parsed.endpoint)?;
        return Ok(parsed.to_string());
    }
    let heard = runtime.exporter().listen(parsed);
    let heard = heard.map_err(|error| {
        if error.detail().is_some_and(|why| why.contains(binding)) {
            error
        } else {
            error.with_detail(|why| {
                if why.is_empty() {
                    format!("cannot listen on `{binding}`")
                } else {
                    format!("cannot listen on `{binding}`: {why}")
                }
            })
        }
    });
    Ok(heard?.to_string())
}

/// The first inherited file descriptor.
const FIRST: RawFd = 3;
/// The greatest number of inherited sockets.
const SOCKETS_MAX: RawFd = 64;

/// Listens as [`crate::listen`] does, but on the sockets that this process was started with, such
/// as those that systemd passes to a service with a socket unit. `binding` is `ncacn_ip_tcp:` with
/// options only, which apply to all sockets: `ncacn_ip_tcp:[,security=integrity]`. Returns the
/// bindings with the addresses and ports of the sockets; none if the process inherited no sockets,
/// or if an earlier call has taken them.
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
        let text = format!(
            "`{binding}`: passed sockets have their addresses already: write ncacn_ip_tcp:, and only \
            options in brackets"
        );
        return Err(Error::new(code::E_INVALIDARG, text));
    }
    let wanted = Wanted::of(&parsed)?;
    let listen = |socket| {
        let listen =
            |exporter, wanted: &Wanted, binding: &mut StringBinding| listen_on(exporter, wanted, binding, socket);
        Ok(runtime.exporter().listen_with_sockets(&wanted, parsed.clone(), listen)?.to_string())
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
    // SAFETY: the descriptor is open, the parent has declared that it belongs to this process, and
    // `sockets` takes it only once, at its first call.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    // Servers that this process starts do not need the socket, and would keep the port in use.
    let _ = fcntl_setfd(&socket, FdFlags::CLOEXEC);
    socket
}
