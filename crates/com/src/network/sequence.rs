//! Protocol sequences that this program was built with: which options they have, and how a NIC of each is opened.

use super::udp;
use crate::error::{Error, Result, code};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::Nic;
use std::net::{IpAddr, SocketAddr};

/// The one list of what there is. Each has a file of its own, which is the only thing that its feature brings.
const BUILT: &[Sequence] = &[
    #[cfg(feature = "fabric")]
    super::fabric::SEQUENCE,
    #[cfg(feature = "xdp")]
    super::xdp::SEQUENCE,
    udp::SEQUENCE,
];

/// How a protocol sequence is had.
pub(super) struct Sequence {
    pub(super) protocol: ProtocolSequence,
    /// Options that the two ends must agree on, with what holds where nothing is said. They are part of what peers are told.
    pub(super) shared: &'static [(&'static str, &'static str)],
    /// Options that are this process's own affair, and that nobody else is told.
    pub(super) own: &'static [&'static str],
    /// The option whose value names something that takes one NIC only.
    pub(super) alone: Option<&'static str>,
    /// Says which of several NICs it has to be for an end, where the options leave that open.
    pub(super) settle: fn(&mut Wanted, End) -> Result<()>,
    /// Opens a NIC. The address is that of the NIC, where it has one and not all of this host.
    pub(super) open: fn(&Wanted) -> Result<(Nic, Option<IpAddr>)>,
}

/// What a NIC is to be near to.
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// A peer.
    Peer(SocketAddr),
    /// An address of this host; none for any.
    Here(Option<IpAddr>),
}

/// What a NIC is opened for, and with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) protocol: ProtocolSequence,
    /// Options that both ends must agree on, without those that say what holds anyway; by name.
    shared: Vec<(String, String)>,
    own: Vec<(String, String)>,
}

impl Sequence {
    fn is_own(&self, option: &str) -> bool {
        self.own.contains(&option)
    }

    /// Whether an option says what would hold without it.
    fn is_idle(&self, (option, value): &(String, String)) -> bool {
        self.shared.contains(&(option.as_str(), value.as_str()))
    }
}

impl Wanted {
    /// What a binding asks for.
    pub(super) fn of(binding: &StringBinding) -> Result<Self> {
        let sequence = sequence_of(binding.protocol)?;
        let known = |option: &str| sequence.is_own(option) || sequence.shared.iter().any(|(known, _)| *known == option);
        if let Some((option, _)) = binding.options.iter().find(|(option, _)| !known(option)) {
            let text = format!("{} has no option `{option}`", binding.protocol);
            return Err(Error::new(code::E_INVALIDARG, text));
        }
        let (own, mut shared): (Vec<_>, Vec<_>) =
            binding.options.iter().cloned().partition(|(option, _)| sequence.is_own(option));
        shared.retain(|option| !sequence.is_idle(option));
        shared.sort();
        Ok(Self { protocol: binding.protocol, shared, own })
    }

    /// The options that peers are told.
    pub(super) fn shared(&self) -> &[(String, String)] {
        &self.shared
    }

    /// The value of an option, or what holds where nothing is said; empty for nothing.
    pub(super) fn value(&self, option: &str) -> &str {
        let said = self.shared.iter().chain(&self.own).find(|(known, _)| known == option);
        said.map(|(_, value)| value.as_str())
            .or_else(|| {
                let idle = sequence_of(self.protocol).ok()?.shared.iter().find(|(known, _)| *known == option)?;
                Some(idle.1)
            })
            .unwrap_or_default()
    }

    /// Says more of what this process wants.
    #[cfg_attr(not(feature = "xdp"), expect(dead_code, reason = "only some protocol sequences have to"))]
    pub(super) fn choose(&mut self, option: &str, value: String) {
        self.own.push((option.to_owned(), value));
    }

    /// Whether a NIC that was opened with this serves whoever wants `other`. Peers know nothing of the options of this process,
    /// and whoever names none takes what is there.
    pub(super) fn serves(&self, other: &Self) -> bool {
        self.protocol == other.protocol
            && self.shared == other.shared
            && other.own.iter().all(|option| self.own.contains(option))
    }

    /// What both can not have at a time, if there is such a thing.
    pub(super) fn collides(&self, other: &Self) -> Option<&str> {
        let alone = sequence_of(self.protocol).ok().filter(|_| self.protocol == other.protocol)?.alone?;
        Some(self.value(alone)).filter(|value| *value == other.value(alone))
    }

    /// What conditions are put on the network on purpose, as in `fault=loss=5%`.
    pub(super) fn fault(&self) -> Result<Option<obvia_via::wrap::Conditions>> {
        Some(self.value("fault")).filter(|text| !text.is_empty()).map(|text| Ok(text.parse()?)).transpose()
    }
}

/// A protocol sequence that this program was built with.
pub(super) fn sequence_of(protocol: ProtocolSequence) -> Result<&'static Sequence> {
    BUILT.iter().find(|sequence| sequence.protocol == protocol).ok_or_else(|| {
        let feature = protocol.name().trim_start_matches("ncacn_vi_");
        let text = format!("this program was built without {protocol}: build it with the feature `{feature}` of obvia");
        Error::new(code::E_INVALIDARG, text)
    })
}

/// A binding as others are told it, and as it is taken from others: without options that are a process's own affair.
pub(crate) fn told(mut binding: StringBinding) -> StringBinding {
    if let Ok(sequence) = sequence_of(binding.protocol) {
        binding.options.retain(|option| !sequence.is_own(&option.0) && !sequence.is_idle(option));
    }
    binding
}

/// Where any NIC does.
pub(super) fn any(_: &mut Wanted, _: End) -> Result<()> {
    Ok(())
}
