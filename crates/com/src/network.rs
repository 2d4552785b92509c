//! Networks: the protocol sequences by which this process reaches others and is reached, besides
//! the shared memory of its host.

mod dg;
#[cfg(feature = "fabric")]
mod fabric;
mod passed;
mod protection;
mod sequence;
mod stream;
mod udp;
#[cfg(feature = "xdp")]
mod xdp;

use crate::binding::Transfers;
use crate::error::{Error, Result, code};
use crate::routes::Targets;
use crate::runtime::Runtime;
use crate::security::Protection;
use crate::server::accept_from;
use obvia_rpc::security::Level;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::stream::Stream;
use obvia_via::window::{self, Options, Window};
use obvia_via::{Deadline, Error as ViError, Nic};
use protection::demanded;
use sequence::{End, Means, NicMeans, Wanted};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use passed::listen_passed;
pub(crate) use protection::{level_of, protected};
pub(crate) use sequence::told;

/// The open NICs, and the addresses on which the process listens.
#[derive(Default)]
pub(crate) struct Network {
    nics: Mutex<Vec<Opened>>,
    // The standard protocol sequences by which this process calls others.
    standard: Mutex<Vec<ProtocolSequence>>,
    activities: dg::Activities,
    // The bindings on which the process listens, in the form for other processes.
    heard: Mutex<Vec<StringBinding>>,
    // The endpoints that were opened, or tried, for objects called over virtual interfaces.
    opened: Mutex<Vec<String>>,
}

/// A NIC with its options, and its address where it has only one.
#[derive(Clone)]
struct Opened {
    wanted: Wanted,
    nic: Nic,
    address: Option<IpAddr>,
}

/// Parses a string binding from a user.
pub(crate) fn parse(text: &str) -> Result<StringBinding> {
    text.parse().map_err(|why| Error::new(code::E_INVALIDARG, format!("`{text}` is no string binding: {why}")))
}

/// Parses a string binding of virtual interfaces over a network from a user.
pub(crate) fn parse_vi(text: &str) -> Result<StringBinding> {
    let binding = parse(text)?;
    if Wanted::of(&binding)?.is_over_vi() {
        return Ok(binding);
    }
    let text = format!("`{text}` leads over no virtual interface: {} does not", binding.protocol);
    Err(Error::new(code::E_INVALIDARG, text))
}

/// Formats an address for providers.
fn socket_text(binding: &StringBinding) -> String {
    let StringBinding { address, endpoint, .. } = binding;
    if address.contains(':') { format!("[{address}]:{endpoint}") } else { format!("{address}:{endpoint}") }
}

/// Returns the port in a binding.
fn port(binding: &StringBinding) -> Result<u16> {
    let why = "the endpoint is no port, a number up to 65535";
    binding.endpoint.parse().map_err(|_| Error::new(code::E_INVALIDARG, format!("`{binding}`: {why}")))
}

/// Completes a binding for listening: all addresses, and a port that the system chooses.
fn complete(binding: &mut StringBinding) {
    for (part, default) in [(&mut binding.address, "0.0.0.0"), (&mut binding.endpoint, "0")] {
        if part.is_empty() {
            default.clone_into(part);
        }
    }
}

/// Resolves the addresses in a binding; at least one.
fn places(binding: &StringBinding) -> Result<Vec<SocketAddr>> {
    let bad = |why: &str| Error::new(code::E_INVALIDARG, format!("`{binding}`: {why}"));
    match (binding.address.as_str(), port(binding)?).to_socket_addrs().map(Vec::from_iter) {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(bad("the host's name has no address")),
        Err(_) => Err(bad("the host's name is not known")),
    }
}

/// Returns the options of a binding to a peer, which must have an endpoint.
fn wanted(binding: &StringBinding) -> Result<Wanted> {
    if binding.endpoint.is_empty() {
        return Err(Error::new(code::E_INVALIDARG, format!("the binding `{binding}` names no endpoint: [PORT]")));
    }
    Wanted::of(binding)
}

/// Whether this program was built with the protocol sequence of this name.
pub(crate) fn is_built(name: &str) -> bool {
    ProtocolSequence::ALL.into_iter().any(|known| known.name() == name && sequence::is_built(known))
}

/// Connects to a server at a binding of a standard protocol sequence.
pub(crate) fn stream_to(runtime: &Runtime, binding: &StringBinding, deadline: Deadline) -> Result<Stream> {
    wanted(binding)?;
    stream::open(runtime, binding, deadline)
}

/// Whether a string binding has a standard protocol sequence.
pub(crate) fn is_standard(text: &str) -> bool {
    let is_standard = |wanted: Wanted| matches!(wanted.sequence.means, Means::Stream | Means::Datagrams);
    parse(text).is_ok_and(|binding| Wanted::of(&binding).is_ok_and(is_standard))
}

/// Whether calls by a binding use no connections.
pub(crate) fn has_no_connections(binding: &StringBinding) -> bool {
    Wanted::of(binding).is_ok_and(|wanted| matches!(wanted.sequence.means, Means::Datagrams))
}

/// Returns an empty set of target descriptions where connections to a binding are associations.
pub(crate) fn targets_of(binding: &StringBinding) -> Result<Option<Targets>> {
    let wanted = Wanted::of(binding)?;
    match wanted.sequence.means {
        Means::Stream => Ok(Some(Targets::new(stream::transfers(&wanted)?, protection::protection(&wanted, binding)?))),
        Means::Datagrams => Ok(Some(Targets::new(Transfers::NDR, None))),
        Means::Nic(_) => Ok(None),
    }
}

/// Returns the protection for authenticating at a binding where connections are virtual interfaces.
pub(crate) fn proof_of(binding: &StringBinding) -> Result<Option<Protection>> {
    let wanted = Wanted::of(binding)?;
    if wanted.is_over_vi() { protection::protection(&wanted, binding) } else { Ok(None) }
}

/// The greatest number of NICs that a process opens. Bindings in received references may open NICs
/// as well.
const NICS_MAX: usize = 16;

/// The addresses that stand for every address of this host.
const ANY: [&str; 3] = ["", "0.0.0.0", "::"];

impl Network {
    fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a NIC for an end: an open one that fits, or a new one.
    fn nic(&self, wanted: Wanted, means: NicMeans, end: End) -> Result<Opened> {
        // The protection belongs to each connection, and connections with different protection
        // share a NIC.
        let mut wanted = wanted.without_protection();
        let sequence = wanted.sequence;
        (means.settle)(&mut wanted, end)?;
        let mut nics = Self::lock(&self.nics);
        if let Some(known) = nics.iter().find(|opened| opened.wanted.serves(&wanted)) {
            return Ok(known.clone());
        }
        if let Some(what) = nics.iter().find_map(|opened| opened.wanted.collides(&wanted)) {
            let text = format!("this process uses {what} by {} already, with other options", sequence.protocol);
            return Err(Error::new(code::E_INVALIDARG, text));
        }
        if nics.len() >= NICS_MAX {
            let text =
                format!("{}: this process has {NICS_MAX} NICs open, with as many sets of options", sequence.protocol);
            return Err(Error::new(code::E_OUTOFMEMORY, text));
        }
        let (nic, address) =
            (means.open)(&wanted).map_err(|error| error.told(|why| format!("{}: {why}", sequence.protocol)))?;
        let opened = Opened { wanted, nic, address };
        nics.push(opened.clone());
        Ok(opened)
    }

    /// Connects to a process by a virtual interface.
    pub(crate) fn connect(&self, binding: &StringBinding, options: &Options, deadline: Deadline) -> Result<Window> {
        let (wanted, deadline) = (wanted(binding)?, deadline.start());
        let Means::Nic(means) = wanted.sequence.means else {
            return Err(code::E_UNEXPECTED.into());
        };
        let mut failed = Error::from(code::RPC_S_SERVER_UNAVAILABLE);
        for place in places(binding)? {
            let nic = self.nic(wanted.clone(), means, End::Peer(place))?.nic;
            match window::connect(&nic, &place.to_string(), options, deadline) {
                Ok(window) => return Ok(window),
                // Another address of the host may work.
                Err(error @ (ViError::NotFound { .. } | ViError::System { .. })) => failed = error.into(),
                Err(error) => return Err(error.into()),
            }
        }
        Err(failed)
    }

    /// Connects to a process by an association, or for calls without one.
    pub(crate) fn associate(
        &self,
        runtime: &'static Runtime,
        binding: &StringBinding,
        targets: &Arc<Targets>,
        options: &Options,
        deadline: Deadline,
    ) -> Result<Window> {
        let window = if let Means::Datagrams = wanted(binding)?.sequence.means {
            self.activities.connect(binding, targets, options)?
        } else {
            stream::connect(runtime, binding, targets, options, deadline)?
        };
        let mut standard = Self::lock(&self.standard);
        if !standard.contains(&binding.protocol) {
            standard.push(binding.protocol);
        }
        Ok(window)
    }

    /// Listens. Returns the binding with its actual endpoint, in the form for other processes.
    fn listen(&self, runtime: &'static Runtime, binding: StringBinding) -> Result<StringBinding> {
        let wanted = Wanted::of(&binding)?;
        let means = match wanted.sequence.means {
            Means::Nic(means) => means,
            Means::Stream => return self.listen_with_sockets(runtime, &wanted, binding, stream::listen),
            Means::Datagrams => return self.listen_with_sockets(runtime, &wanted, binding, dg::listen),
        };
        let here = if ANY.contains(&binding.address.as_str()) { None } else { binding.address.parse().ok() };
        let opened = self.nic(wanted, means, End::Here(here))?;
        self.listen_with(runtime, &opened, binding)
    }

    fn listen_with_sockets(
        &self,
        runtime: &'static Runtime,
        wanted: &Wanted,
        binding: StringBinding,
        listen: impl FnOnce(&'static Runtime, &Wanted, &mut StringBinding) -> Result<()>,
    ) -> Result<StringBinding> {
        let mut binding = told(binding);
        listen(runtime, wanted, &mut binding)?;
        Self::lock(&self.heard).push(binding.clone());
        Ok(binding)
    }

    fn listen_with(&self, runtime: &'static Runtime, opened: &Opened, binding: StringBinding) -> Result<StringBinding> {
        let least = demanded(&Wanted::of(&binding)?, &binding)?;
        let mut binding = told(binding);
        complete(&mut binding);
        let listener = match opened.address.map(|address| address.to_string()) {
            None => opened.nic.listen(&socket_text(&binding))?,
            Some(own) if own == binding.address || ANY.contains(&binding.address.as_str()) => {
                binding.address = own;
                opened.nic.listen(&binding.endpoint)?
            }
            Some(own) => {
                let text = format!("{} is used by its address {own} here, not {}", binding.protocol, binding.address);
                return Err(Error::new(code::E_INVALIDARG, text));
            }
        };
        let address = listener.address();
        if let Some((_, port)) = address.rsplit_once(':') {
            port.clone_into(&mut binding.endpoint);
        }
        accept_from(runtime, opened.nic.clone(), listener, least)?;
        Self::lock(&self.heard).push(binding.clone());
        Ok(binding)
    }

    /// Returns the bindings by which a peer that reaches this process at the address `local` can
    /// call it with at least this protection. Where the program listens on no such binding, the
    /// process listens on a port that the system chooses, since the holder of a reference must be
    /// able to call.
    pub(crate) fn bindings(&self, runtime: &'static Runtime, local: &str, least: Option<Level>) -> Vec<StringBinding> {
        let heard = |network: &Self| -> Vec<_> {
            let leads_here = |binding: &StringBinding| binding.address == local;
            let heard = network.heard(Some(local)).into_iter().filter(leads_here);
            heard.filter_map(|binding| protected(binding, least)).collect()
        };
        let known = heard(self);
        if !known.is_empty() {
            return known;
        }
        // The greatest level of any listener applies to all bindings.
        let least = least.max(self.heard(None).iter().filter_map(level_of).max());
        let nics = Self::lock(&self.nics).clone();
        let any = if local.contains(':') { "::" } else { "0.0.0.0" };
        for opened in nics {
            let options = opened.wanted.shared().to_vec();
            let binding = StringBinding { options, ..StringBinding::new(opened.wanted.sequence.protocol, any, "0") };
            // If listening fails, the peer learns at its first call that this process cannot be
            // reached.
            let _ = protected(binding, least).map(|binding| self.listen_with(runtime, &opened, binding));
        }
        let standard = Self::lock(&self.standard).clone();
        for protocol in
            [ProtocolSequence::IpTcp, ProtocolSequence::IpUdp].into_iter().filter(|it| standard.contains(it))
        {
            let binding = protected(StringBinding::new(protocol, any, "0"), least);
            let _ = binding.map(|binding| self.listen(runtime, binding));
        }
        heard(self)
    }

    /// Opens endpoints of virtual interfaces for objects that are called over them: a named
    /// endpoint, or `ncacn_vi_udp` at each address at which this process listens on TCP and on no
    /// virtual interface. Thus no new address becomes reachable.
    pub(crate) fn listen_over_vi(&self, runtime: &'static Runtime, endpoint: &str) -> Result<()> {
        let heard = self.heard(None);
        // The greatest level of any listener applies to all bindings.
        let least = heard.iter().filter_map(level_of).max();
        // The lock is held until the process listens, so that no other thread does the same.
        let mut opened = Self::lock(&self.opened);
        if !endpoint.is_empty() {
            if !opened.iter().any(|known| known == endpoint) {
                if let Some(binding) = protected(parse_vi(endpoint)?, least) {
                    self.listen(runtime, binding)?;
                }
                opened.push(endpoint.to_owned());
            }
            return Ok(());
        }
        let is_over_vi = |binding: &StringBinding| Wanted::of(binding).is_ok_and(|wanted| wanted.is_over_vi());
        let (over_vi, others): (Vec<_>, Vec<_>) = heard.into_iter().partition(is_over_vi);
        for StringBinding { address, .. } in
            others.into_iter().filter(|other| other.protocol == ProtocolSequence::IpTcp)
        {
            let leads_there = |way: &StringBinding| way.address == address || ANY.contains(&way.address.as_str());
            if !over_vi.iter().any(leads_there) && !opened.contains(&address) {
                // If an endpoint cannot be opened, there is no further attempt: calls use another
                // binding.
                let binding = protected(StringBinding::new(ProtocolSequence::ViUdp, address.as_str(), "0"), least);
                let _ = binding.map(|binding| self.listen(runtime, binding));
                opened.push(address);
            }
        }
        Ok(())
    }

    /// Listens so that clients which reach this host by a binding over TCP reach this process at
    /// the same address and with no less protection. The port is chosen by the system where the
    /// process has no such endpoint yet.
    pub(crate) fn listen_like(&self, runtime: &'static Runtime, binding: &StringBinding) -> Result<()> {
        // The lock is held until the process listens, so that no other thread does the same.
        let _opened = Self::lock(&self.opened);
        if !self.heard_like(binding).is_empty() {
            return Ok(());
        }
        let fresh = StringBinding::new(binding.protocol, binding.address.as_str(), "0");
        let fresh = protected(fresh, level_of(binding)).ok_or(code::E_INVALIDARG)?;
        self.listen(runtime, fresh).map(drop)
    }

    /// Returns the bindings of this process with the host and protocol sequence of another binding
    /// and no less protection.
    pub(crate) fn heard_like(&self, binding: &StringBinding) -> Vec<StringBinding> {
        let is_like = |known: &StringBinding| {
            known.protocol == binding.protocol
                && known.address == binding.address
                && level_of(known) >= level_of(binding)
        };
        self.heard(Some(&binding.address)).into_iter().filter(is_like).collect()
    }

    /// Returns the bindings of this process for a peer that reaches it at the address `local`.
    pub(crate) fn heard(&self, local: Option<&str>) -> Vec<StringBinding> {
        let mut heard = Self::lock(&self.heard).clone();
        for binding in &mut heard {
            if let Some(local) = local.filter(|_| ANY.contains(&binding.address.as_str())) {
                local.clone_into(&mut binding.address);
            }
        }
        heard
    }
}

/// Listens on a network, so that processes of other hosts can connect to the exports of this
/// process: `ncacn_vi_udp:0.0.0.0[5555]`. Without an endpoint the system chooses one. Returns the
/// binding with the actual endpoint.
///
/// Other virtual interfaces are `ncacn_vi_xdp` and `ncacn_vi_fabric`, in programs built with the
/// features `xdp` and `fabric`; docs/xdp.md and docs/fabric.md describe their options.
/// `ncacn_ip_tcp` and `ncalrpc:[NAME]` are standard protocol sequences: every DCE/RPC client can
/// call the [interfaces of functions](crate::serve_interface) there, in NDR or NDR64.
/// `ncadg_ip_udp` is another one, for calls in NDR: docs/dg.md. Between two obvia processes calls
/// use FLAT, unless the option `transfer` of either end is `ndr` or `ndr64`. A process may listen
/// on several bindings, and its references contain all of them. Options that concern this process
/// alone, such as `interface=eth0` or `fault=loss=5%`, are not in the returned binding. They apply
/// to every connection of the protocol sequence whose binding does not set them.
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
    let runtime = Runtime::of_process()?;
    let parsed = parse(binding)?;
    if parsed.protocol == ProtocolSequence::ViShm {
        if parsed.endpoint.is_empty() || !parsed.address.is_empty() || !parsed.options.is_empty() {
            let text =
                format!("`{binding}`: shared memory is listened on by a name and nothing else: ncacn_vi_shm:[NAME]");
            return Err(Error::new(code::E_INVALIDARG, text));
        }
        runtime.listen_by_name(&parsed.endpoint)?;
        return Ok(parsed.to_string());
    }
    let heard = runtime.network().listen(runtime, parsed);
    let heard = heard.map_err(|error| {
        if error.detail().is_some_and(|why| why.contains(binding)) {
            error
        } else {
            error.told(|why| {
                if why.is_empty() {
                    format!("listening on `{binding}`")
                } else {
                    format!("listening on `{binding}`: {why}")
                }
            })
        }
    });
    Ok(heard?.to_string())
}
