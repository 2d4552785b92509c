//! Protocol sequences: their options, and how their connections are made.

use crate::types::error::{Error, Result, code};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::Nic;
use obvia_via::wrap::Conditions;
use std::net::{IpAddr, SocketAddr};

/// The option with the protection level of calls.
pub(crate) const SECURITY: &str = "security";
/// The option `security` with its default value, for [`Sequence::shared`].
pub(crate) const SHARED: (&str, &str) = (SECURITY, NO_SECURITY);
/// The other options for protection, which concern clients only.
pub(crate) const OF_CLIENTS: [&str; 2] = ["auth", "spn"];
/// The value of the option `security` for no protection.
pub(crate) const NO_SECURITY: &str = "none";

/// A protocol sequence with its properties.
pub(crate) struct Sequence {
    pub(crate) protocol: ProtocolSequence,
    /// The options that both ends must agree on, with their defaults. They are part of the bindings
    /// for peers.
    pub(crate) shared: &'static [(&'static str, &'static str)],
    /// The options that concern this process alone and are not sent to peers.
    pub(crate) own: &'static [&'static str],
    /// The option whose value names a resource that only one NIC can use.
    pub(crate) alone: Option<&'static str>,
    /// The kind of socket or NIC that carries the connections.
    pub(crate) means: Means,
}

/// The kind of socket or NIC that carries the connections of a protocol sequence.
#[derive(Clone, Copy)]
pub(crate) enum Means {
    /// A NIC whose VIs carry windows.
    Nic(NicMeans),
    /// A socket that carries the PDUs of an association.
    Stream,
    /// A socket for self-contained datagrams.
    Datagrams,
}

/// The functions that select and open a NIC.
#[derive(Clone, Copy)]
pub(crate) struct NicMeans {
    /// Selects one of several NICs for an end, where the options leave the choice open.
    pub(crate) settle: fn(&mut Wanted, End) -> Result<()>,
    /// Opens a NIC.
    pub(crate) open: fn(&Wanted) -> Result<Open>,
    /// The number of file descriptors that a server needs for each connection.
    pub(crate) descriptors: u64,
}

/// A NIC, and the address that it is bound to; `None` for all addresses of this host.
pub(crate) type Open = (Nic, Option<IpAddr>);

/// The end of a connection or listener for which a NIC is selected.
#[cfg_attr(not(feature = "xdp"), expect(dead_code, reason = "only some protocol sequences look"))]
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// A connection to the peer at this address.
    Peer(SocketAddr),
    /// A listener at this address of this host; `None` for all addresses.
    Here(Option<IpAddr>),
}

/// The protocol sequence and the options of a binding or a NIC.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub(crate) sequence: &'static Sequence,
    /// The options that both ends must agree on, without those at their defaults, sorted by name.
    shared: Vec<(String, String)>,
    own: Vec<(String, String)>,
}

impl Sequence {
    fn is_own(&self, option: &str) -> bool {
        self.own.contains(&option)
    }

    /// Whether an option has its default value.
    fn is_idle(&self, (option, value): &(String, String)) -> bool {
        self.shared.contains(&(option.as_str(), value.as_str()))
    }

    /// Returns the default of an option. Empty if the option has none.
    fn idle(&self, option: &str) -> &str {
        self.shared.iter().find(|(known, _)| *known == option).map_or("", |(_, value)| value)
    }

    /// Returns a binding without the options that concern one process alone.
    pub(crate) fn for_peers(&self, mut binding: StringBinding) -> StringBinding {
        binding.options.retain(|option| !self.is_own(&option.0) && !self.is_idle(option));
        binding
    }
}

impl Wanted {
    /// Returns the options of a binding of this protocol sequence.
    pub(crate) fn by(sequence: &'static Sequence, binding: &StringBinding) -> Result<Self> {
        let is_shared = |option: &str| sequence.shared.iter().any(|(known, _)| *known == option);
        let (own, mut shared): (Vec<_>, Vec<_>) =
            binding.options.iter().cloned().partition(|(option, _)| sequence.is_own(option));
        if let Some((option, _)) = shared.iter().find(|(option, _)| !is_shared(option)) {
            let text = format!("{} has no option `{option}`", binding.protocol);
            return Err(Error::new(code::E_INVALIDARG, text));
        }
        shared.retain(|option| !sequence.is_idle(option));
        shared.sort();
        shared.dedup();
        Ok(Self { sequence, shared, own })
    }

    /// Returns the options without those for protection, which do not concern a NIC.
    pub(crate) fn without_protection(mut self) -> Self {
        self.shared.retain(|(option, _)| option != SECURITY);
        self.own.retain(|(option, _)| !OF_CLIENTS.contains(&option.as_str()));
        self
    }

    /// Whether connections are virtual interfaces over a network.
    pub(crate) fn is_over_vi(&self) -> bool {
        matches!(self.sequence.means, Means::Nic(_))
    }

    /// Returns the options that are sent to peers.
    pub(crate) fn shared(&self) -> &[(String, String)] {
        &self.shared
    }

    /// Returns the value of an option, or its default. Empty if the option has neither.
    pub(crate) fn value(&self, option: &str) -> &str {
        let said = self.shared.iter().chain(&self.own).find(|(known, _)| known == option);
        said.map_or_else(|| self.sequence.idle(option), |(_, value)| value)
    }

    /// Sets an option of this process.
    #[cfg_attr(not(feature = "xdp"), expect(dead_code, reason = "only some protocol sequences have to"))]
    pub(crate) fn choose(&mut self, option: &str, value: String) {
        self.own.push((option.to_owned(), value));
    }

    /// Whether a NIC with these options can serve connections with the options `other`. The shared
    /// options must be the same, and the NIC must have every option of this process that `other`
    /// has. A binding from a peer has no options of this process.
    pub(crate) fn serves(&self, other: &Self) -> bool {
        self.sequence.protocol == other.sequence.protocol
            && self.shared == other.shared
            && other.own.iter().all(|option| self.own.contains(option))
    }

    /// Returns the resource that both sets of options name, but that only one NIC can use; `None`
    /// if there is no such resource.
    pub(crate) fn collides(&self, other: &Self) -> Option<&str> {
        let alone = self.sequence.alone.filter(|_| self.sequence.protocol == other.sequence.protocol)?;
        Some(self.value(alone)).filter(|value| *value == other.value(alone))
    }

    /// Returns the network conditions to simulate, as in `fault=loss=5%`. `None` without the
    /// option.
    pub(crate) fn fault(&self) -> Result<Option<Conditions>> {
        Some(self.value("fault")).filter(|text| !text.is_empty()).map(|text| Ok(text.parse()?)).transpose()
    }
}

/// Accepts any NIC: the `settle` function where the choice does not matter.
pub(crate) fn any(_: &mut Wanted, _: End) -> Result<()> {
    Ok(())
}

/// Returns the port in a binding.
pub(crate) fn port(binding: &StringBinding) -> Result<u16> {
    let why = "the endpoint is not a port, a number up to 65535";
    binding.endpoint.parse().map_err(|_| Error::new(code::E_INVALIDARG, format!("`{binding}`: {why}")))
}

/// Completes a binding for listening. A missing address becomes all addresses, and a missing
/// endpoint becomes a port that the system chooses.
pub(crate) fn complete(binding: &mut StringBinding) {
    for (part, default) in [(&mut binding.address, "0.0.0.0"), (&mut binding.endpoint, "0")] {
        if part.is_empty() {
            default.clone_into(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static SEQUENCE: Sequence = Sequence {
        protocol: ProtocolSequence::ViFabric,
        shared: &[("provider", "tcp"), ("quality", "good")],
        own: &["interface", "fault"],
        alone: Some("interface"),
        means: Means::Stream,
    };

    fn binding(options: &str) -> StringBinding {
        format!("ncacn_vi_fabric:h[7{options}]").parse().unwrap()
    }

    fn wanted(options: &str) -> Wanted {
        Wanted::by(&SEQUENCE, &binding(options)).unwrap_or_else(|error| panic!("{options}: {error}"))
    }

    #[test]
    fn a_nic_serves_bindings_without_its_local_options() {
        let open = wanted(",interface=a,provider=shm,fault=loss=5%");
        for other in [",provider=shm", ",interface=a,provider=shm", ",provider=shm,quality=good,fault=loss=5%"] {
            assert!(open.serves(&wanted(other)), "{other}");
        }
        for other in ["", ",provider=tcp", ",provider=shm,interface=b", ",provider=shm,quality=bad"] {
            assert!(!open.serves(&wanted(other)), "{other}");
        }
        assert!(wanted("").serves(&wanted(",provider=tcp")));
        assert!(wanted(",provider=shm,quality=bad").serves(&wanted(",quality=bad,provider=shm")));
    }

    #[test]
    fn bindings_with_different_options_for_one_interface_collide() {
        assert_eq!(wanted(",interface=a").collides(&wanted(",interface=a,fault=loss=5%")), Some("a"));
        assert_eq!(wanted(",interface=a").collides(&wanted(",interface=b")), None);
    }

    #[test]
    fn bindings_for_peers_omit_local_options() {
        for (options, theirs) in [
            ("", ""),
            (",interface=a,provider=shm,fault=loss=5%", ",provider=shm"),
            (",provider=tcp,quality=bad", ",quality=bad"),
        ] {
            assert_eq!(SEQUENCE.for_peers(binding(options)), binding(theirs), "{options}");
        }
    }

    #[test]
    fn binding_options_have_values() {
        let said = wanted(",provider=shm,fault=loss=5%");
        let values = ["provider", "quality", "fault", "interface"].map(|option| said.value(option));
        assert_eq!(values, ["shm", "good", "loss=5%", ""]);
        assert!(said.fault().unwrap().is_some() && wanted("").fault().unwrap().is_none());
        assert!(wanted(",fault=loss=500%").fault().is_err());
    }

    #[test]
    fn unknown_binding_options_are_refused_by_name() {
        let Err(error) = Wanted::by(&SEQUENCE, &binding(",color=red")) else { panic!("color is an option") };
        assert!(error.to_string().contains("ncacn_vi_fabric has no option `color`"), "{error}");
    }
}
