//! Listening on networks, so that processes of other hosts reach this one.

mod sockets;

pub(crate) use sockets::listen_on;

use crate::server::{Exporter, accept_from};
use crate::transport::network::built::for_peers;
use crate::transport::network::protection::{demanded, level_of, protected};
use crate::transport::network::sequence::{End, Means, Wanted, complete};
use crate::transport::network::{ANY, Network, Opened, parse_vi};
use crate::types::error::{Error, Result, code};
use obvia_rpc::security::Level;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};

/// Formats an address for providers.
fn socket_text(binding: &StringBinding) -> String {
    let StringBinding { address, endpoint, .. } = binding;
    if address.contains(':') { format!("[{address}]:{endpoint}") } else { format!("{address}:{endpoint}") }
}

impl Exporter {
    /// Listens at a binding. Returns the binding with the actual endpoint, in the form in which
    /// other processes get it.
    pub(crate) fn listen(&'static self, binding: StringBinding) -> Result<StringBinding> {
        let wanted = Wanted::of(&binding)?;
        let means = match wanted.sequence.means {
            Means::Nic(means) => means,
            Means::Stream => return self.listen_with_sockets(&wanted, binding, sockets::listen_for_streams),
            Means::Datagrams => {
                return self.listen_with_sockets(&wanted, binding, sockets::listen_for_datagrams);
            }
        };
        let here = if ANY.contains(&binding.address.as_str()) { None } else { binding.address.parse().ok() };
        let opened = self.network().nic(wanted, means, End::Here(here))?;
        self.listen_with(&opened, binding)
    }

    pub(crate) fn listen_with_sockets(
        &'static self,
        wanted: &Wanted,
        binding: StringBinding,
        listen: impl FnOnce(&'static Self, &Wanted, &mut StringBinding) -> Result<()>,
    ) -> Result<StringBinding> {
        let mut binding = for_peers(binding);
        listen(self, wanted, &mut binding)?;
        Network::lock(&self.network().heard).push(binding.clone());
        Ok(binding)
    }

    fn listen_with(&'static self, opened: &Opened, binding: StringBinding) -> Result<StringBinding> {
        let least = demanded(&Wanted::of(&binding)?, &binding)?;
        let mut binding = for_peers(binding);
        complete(&mut binding);
        let listener = match opened.address.map(|address| address.to_string()) {
            None => opened.nic.listen(&socket_text(&binding))?,
            Some(own) if own == binding.address || ANY.contains(&binding.address.as_str()) => {
                binding.address = own;
                opened.nic.listen(&binding.endpoint)?
            }
            Some(own) => {
                let text =
                    format!("this process uses {} by the address {own}, not {}", binding.protocol, binding.address);
                return Err(Error::new(code::E_INVALIDARG, text));
            }
        };
        let address = listener.address();
        if let Some((_, port)) = address.rsplit_once(':') {
            port.clone_into(&mut binding.endpoint);
        }
        accept_from(self, opened, listener, least)?;
        Network::lock(&self.network().heard).push(binding.clone());
        Ok(binding)
    }

    /// Returns the bindings by which a peer can call this process with at least the protection
    /// `least`. `local` is the address at which the peer reaches this process. If the program
    /// listens on no such binding, this function listens on a port that the system chooses, since
    /// the holder of a reference must be able to call.
    pub(crate) fn bindings(&'static self, local: &str, least: Option<Level>) -> Vec<StringBinding> {
        let heard = |network: &Network| -> Vec<_> {
            let leads_here = |binding: &StringBinding| binding.address == local;
            let heard = network.bindings(Some(local)).into_iter().filter(leads_here);
            heard.filter_map(|binding| protected(binding, least)).collect()
        };
        let known = heard(self.network());
        if !known.is_empty() {
            return known;
        }
        // The greatest level of any listener applies to all bindings.
        let least = least.max(self.network().bindings(None).iter().filter_map(level_of).max());
        let nics = Network::lock(&self.network().nics).clone();
        let any = if local.contains(':') { "::" } else { "0.0.0.0" };
        for opened in nics {
            let options = opened.wanted.shared().to_vec();
            let binding = StringBinding { options, ..StringBinding::new(opened.wanted.sequence.protocol, any, "0") };
            // If listening fails, the peer learns at its first call that this process cannot be
            // reached.
            let _ = protected(binding, least).map(|binding| self.listen_with(&opened, binding));
        }
        let standard = Network::lock(&self.network().standard).clone();
        for protocol in
            [ProtocolSequence::IpTcp, ProtocolSequence::IpUdp].into_iter().filter(|it| standard.contains(it))
        {
            let binding = protected(StringBinding::new(protocol, any, "0"), least);
            let _ = binding.map(|binding| self.listen(binding));
        }
        heard(self.network())
    }

    /// Opens endpoints for objects that are called over virtual interfaces. If `endpoint` is not
    /// empty, opens only this endpoint. Otherwise opens an endpoint of `ncacn_vi_udp` at each
    /// address at which this process listens on TCP, but on no virtual interface. Thus no new
    /// address becomes reachable.
    pub(crate) fn listen_over_vi(&'static self, endpoint: &str) -> Result<()> {
        let heard = self.network().bindings(None);
        // The greatest level of any listener applies to all bindings.
        let least = heard.iter().filter_map(level_of).max();
        // The lock is held until the process listens, so that no other thread opens the same
        // endpoint.
        let mut opened = Network::lock(&self.network().opened);
        if !endpoint.is_empty() {
            if !opened.iter().any(|known| known == endpoint) {
                if let Some(binding) = protected(parse_vi(endpoint)?, least) {
                    self.listen(binding)?;
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
                // If an endpoint cannot be opened, this process does not try again. Calls then use
                // other bindings.
                let binding = protected(StringBinding::new(ProtocolSequence::ViUdp, address.as_str(), "0"), least);
                let _ = binding.map(|binding| self.listen(binding));
                opened.push(address);
            }
        }
        Ok(())
    }

    /// Makes this process reachable for clients that reach this host by a binding over TCP: at the
    /// same address, and with no less protection. If the process has no such endpoint yet, the
    /// system chooses the port.
    pub(crate) fn listen_like(&'static self, binding: &StringBinding) -> Result<()> {
        // The lock is held until the process listens, so that no other thread opens the same
        // endpoint.
        let _opened = Network::lock(&self.network().opened);
        if !self.network().bindings_like(binding).is_empty() {
            return Ok(());
        }
        let fresh = StringBinding::new(binding.protocol, binding.address.as_str(), "0");
        let fresh = protected(fresh, level_of(binding)).ok_or(code::E_INVALIDARG)?;
        self.listen(fresh).map(drop)
    }
}
