//! Listening on networks, so that processes of other hosts reach this one.

mod sockets;

pub(super) use sockets::listen_on;

use super::built::told;
use super::protection::{demanded, level_of, protected};
use super::sequence::{End, Means, Wanted, complete};
use super::{ANY, Network, Opened, parse, parse_vi};
use crate::error::{Error, Result, code};
use crate::process;
use crate::server::{Exporter, accept_from};
use obvia_rpc::security::Level;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};

/// Formats an address for providers.
fn socket_text(binding: &StringBinding) -> String {
    let StringBinding { address, endpoint, .. } = binding;
    if address.contains(':') { format!("[{address}]:{endpoint}") } else { format!("{address}:{endpoint}") }
}

impl Network {
    /// Listens. Returns the binding with its actual endpoint, in the form for other processes.
    fn listen(&self, exporter: &'static Exporter, binding: StringBinding) -> Result<StringBinding> {
        let wanted = Wanted::of(&binding)?;
        let means = match wanted.sequence.means {
            Means::Nic(means) => means,
            Means::Stream => return self.listen_with_sockets(exporter, &wanted, binding, sockets::listen_for_streams),
            Means::Datagrams => {
                return self.listen_with_sockets(exporter, &wanted, binding, sockets::listen_for_datagrams);
            }
        };
        let here = if ANY.contains(&binding.address.as_str()) { None } else { binding.address.parse().ok() };
        let opened = self.nic(wanted, means, End::Here(here))?;
        self.listen_with(exporter, &opened, binding)
    }

    pub(super) fn listen_with_sockets(
        &self,
        exporter: &'static Exporter,
        wanted: &Wanted,
        binding: StringBinding,
        listen: impl FnOnce(&'static Exporter, &Wanted, &mut StringBinding) -> Result<()>,
    ) -> Result<StringBinding> {
        let mut binding = told(binding);
        listen(exporter, wanted, &mut binding)?;
        Self::lock(&self.heard).push(binding.clone());
        Ok(binding)
    }

    fn listen_with(
        &self,
        exporter: &'static Exporter,
        opened: &Opened,
        binding: StringBinding,
    ) -> Result<StringBinding> {
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
        accept_from(exporter, opened.nic.clone(), listener, least)?;
        Self::lock(&self.heard).push(binding.clone());
        Ok(binding)
    }

    /// Returns the bindings by which a peer that reaches this process at the address `local` can
    /// call it with at least this protection. Where the program listens on no such binding, the
    /// process listens on a port that the system chooses, since the holder of a reference must be
    /// able to call.
    pub(crate) fn bindings(
        &self,
        exporter: &'static Exporter,
        local: &str,
        least: Option<Level>,
    ) -> Vec<StringBinding> {
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
            let _ = protected(binding, least).map(|binding| self.listen_with(exporter, &opened, binding));
        }
        let standard = Self::lock(&self.standard).clone();
        for protocol in
            [ProtocolSequence::IpTcp, ProtocolSequence::IpUdp].into_iter().filter(|it| standard.contains(it))
        {
            let binding = protected(StringBinding::new(protocol, any, "0"), least);
            let _ = binding.map(|binding| self.listen(exporter, binding));
        }
        heard(self)
    }

    /// Opens endpoints of virtual interfaces for objects that are called over them: a named
    /// endpoint, or `ncacn_vi_udp` at each address at which this process listens on TCP and on no
    /// virtual interface. Thus no new address becomes reachable.
    pub(crate) fn listen_over_vi(&self, exporter: &'static Exporter, endpoint: &str) -> Result<()> {
        let heard = self.heard(None);
        // The greatest level of any listener applies to all bindings.
        let least = heard.iter().filter_map(level_of).max();
        // The lock is held until the process listens, so that no other thread does the same.
        let mut opened = Self::lock(&self.opened);
        if !endpoint.is_empty() {
            if !opened.iter().any(|known| known == endpoint) {
                if let Some(binding) = protected(parse_vi(endpoint)?, least) {
                    self.listen(exporter, binding)?;
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
                let _ = binding.map(|binding| self.listen(exporter, binding));
                opened.push(address);
            }
        }
        Ok(())
    }

    /// Listens so that clients which reach this host by a binding over TCP reach this process at
    /// the same address and with no less protection. The port is chosen by the system where the
    /// process has no such endpoint yet.
    pub(crate) fn listen_like(&self, exporter: &'static Exporter, binding: &StringBinding) -> Result<()> {
        // The lock is held until the process listens, so that no other thread does the same.
        let _opened = Self::lock(&self.opened);
        if !self.heard_like(binding).is_empty() {
            return Ok(());
        }
        let fresh = StringBinding::new(binding.protocol, binding.address.as_str(), "0");
        let fresh = protected(fresh, level_of(binding)).ok_or(code::E_INVALIDARG)?;
        self.listen(exporter, fresh).map(drop)
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
    let runtime = process::runtime()?;
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
    let heard = runtime.network().listen(runtime.exporter(), parsed);
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
