//! Protocol sequences that this program was built with: which options they have, and what connections of each are made by.

use super::protection::{OF_CLIENTS, SECURITY};
use super::{dg, stream, udp};
use crate::error::{Error, Result, code};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::Nic;
use obvia_via::wrap::Conditions;
use std::net::{IpAddr, SocketAddr};

/// The one list of what there is. Each has a file of its own, which is the only thing that its feature brings.
const BUILT: &[Sequence] = &[
    #[cfg(feature = "fabric")]
    super::fabric::SEQUENCE,
    #[cfg(feature = "xdp")]
    super::xdp::SEQUENCE,
    udp::SEQUENCE,
    stream::LRPC,
    stream::TCP,
    dg::SEQUENCE,
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
    /// What connections are made by.
    pub(super) means: Means,
}

/// What connections of a protocol sequence are made by.
#[derive(Clone, Copy)]
pub(super) enum Means {
    /// A NIC, whose VIs carry windows.
    Nic(NicMeans),
    /// A socket, on which the units of an association follow one another.
    Stream,
    /// A socket for datagrams, each of which says what it is about.
    Datagrams,
}

/// How a NIC is had.
#[derive(Clone, Copy)]
pub(super) struct NicMeans {
    /// Says which of several NICs it has to be for an end, where the options leave that open.
    pub(super) settle: fn(&mut Wanted, End) -> Result<()>,
    /// Opens a NIC.
    pub(super) open: fn(&Wanted) -> Result<Open>,
}

/// A NIC, and its address where it has one and not all of this host.
pub(super) type Open = (Nic, Option<IpAddr>);

/// What a NIC is to be near to.
#[cfg_attr(not(feature = "xdp"), expect(dead_code, reason = "only some protocol sequences look"))]
#[derive(Clone, Copy, Debug)]
pub(super) enum End {
    /// A peer.
    Peer(SocketAddr),
    /// An address of this host; none for any.
    Here(Option<IpAddr>),
}

/// What a NIC is opened for, and with.
#[derive(Clone)]
pub(super) struct Wanted {
    pub(super) sequence: &'static Sequence,
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

    /// What holds where nothing is said of an option; empty for nothing.
    fn idle(&self, option: &str) -> &str {
        self.shared.iter().find(|(known, _)| *known == option).map_or("", |(_, value)| value)
    }

    fn told(&self, mut binding: StringBinding) -> StringBinding {
        binding.options.retain(|option| !self.is_own(&option.0) && !self.is_idle(option));
        binding
    }
}

impl Wanted {
    /// What a binding asks for.
    pub(super) fn of(binding: &StringBinding) -> Result<Self> {
        Self::by(sequence_of(binding.protocol)?, binding)
    }

    fn by(sequence: &'static Sequence, binding: &StringBinding) -> Result<Self> {
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

    /// The same without how calls are protected, which is no business of a NIC's.
    pub(super) fn without_protection(mut self) -> Self {
        self.shared.retain(|(option, _)| option != SECURITY);
        self.own.retain(|(option, _)| !OF_CLIENTS.contains(&option.as_str()));
        self
    }

    /// Whether connections are virtual interfaces over a network.
    pub(super) fn is_over_vi(&self) -> bool {
        matches!(self.sequence.means, Means::Nic(_))
    }

    /// The options that peers are told.
    pub(super) fn shared(&self) -> &[(String, String)] {
        &self.shared
    }

    /// The value of an option, or what holds where nothing is said; empty for nothing.
    pub(super) fn value(&self, option: &str) -> &str {
        let said = self.shared.iter().chain(&self.own).find(|(known, _)| known == option);
        said.map_or_else(|| self.sequence.idle(option), |(_, value)| value)
    }

    /// Says more of what this process wants.
    #[cfg_attr(not(feature = "xdp"), expect(dead_code, reason = "only some protocol sequences have to"))]
    pub(super) fn choose(&mut self, option: &str, value: String) {
        self.own.push((option.to_owned(), value));
    }

    /// Whether a NIC that was opened with this serves whoever wants `other`. Peers know nothing of the options of this process,
    /// and whoever names none takes what is there.
    pub(super) fn serves(&self, other: &Self) -> bool {
        self.sequence.protocol == other.sequence.protocol
            && self.shared == other.shared
            && other.own.iter().all(|option| self.own.contains(option))
    }

    /// What the two cannot both have, if there is such a thing.
    pub(super) fn collides(&self, other: &Self) -> Option<&str> {
        let alone = self.sequence.alone.filter(|_| self.sequence.protocol == other.sequence.protocol)?;
        Some(self.value(alone)).filter(|value| *value == other.value(alone))
    }

    /// What conditions are put on the network on purpose, as in `fault=loss=5%`.
    pub(super) fn fault(&self) -> Result<Option<Conditions>> {
        Some(self.value("fault")).filter(|text| !text.is_empty()).map(|text| Ok(text.parse()?)).transpose()
    }
}

/// Whether this program was built with a protocol sequence. Shared memory is always there, and has nothing to be listed.
pub(super) fn is_built(protocol: ProtocolSequence) -> bool {
    protocol == ProtocolSequence::ViShm || sequence_of(protocol).is_ok()
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
pub(crate) fn told(binding: StringBinding) -> StringBinding {
    match sequence_of(binding.protocol) {
        Ok(sequence) => sequence.told(binding),
        // Nobody here could act on its options.
        Err(_) => binding,
    }
}

/// Where any NIC does.
pub(super) fn any(_: &mut Wanted, _: End) -> Result<()> {
    Ok(())
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
    fn a_nic_serves_whoever_does_not_know_its_own_options() {
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
    fn what_takes_one_nic_is_told_apart() {
        assert_eq!(wanted(",interface=a").collides(&wanted(",interface=a,fault=loss=5%")), Some("a"));
        assert_eq!(wanted(",interface=a").collides(&wanted(",interface=b")), None);
    }

    #[test]
    fn others_are_told_what_they_must_know_and_nothing_else() {
        for (options, theirs) in [
            ("", ""),
            (",interface=a,provider=shm,fault=loss=5%", ",provider=shm"),
            (",provider=tcp,quality=bad", ",quality=bad"),
        ] {
            assert_eq!(SEQUENCE.told(binding(options)), binding(theirs), "{options}");
        }
    }

    #[test]
    fn options_have_values() {
        let said = wanted(",provider=shm,fault=loss=5%");
        let values = ["provider", "quality", "fault", "interface"].map(|option| said.value(option));
        assert_eq!(values, ["shm", "good", "loss=5%", ""]);
        assert!(said.fault().unwrap().is_some() && wanted("").fault().unwrap().is_none());
        assert!(wanted(",fault=loss=500%").fault().is_err());
    }

    #[test]
    fn options_that_nobody_knows_are_refused_by_name() {
        let Err(error) = Wanted::by(&SEQUENCE, &binding(",color=red")) else { panic!("color is an option") };
        assert!(error.to_string().contains("ncacn_vi_fabric has no option `color`"), "{error}");
    }

    #[test]
    fn what_was_not_built_is_refused_with_what_it_takes() {
        for protocol in [ProtocolSequence::ViFabric, ProtocolSequence::ViXdp, ProtocolSequence::ViUdp] {
            let feature = protocol.name().trim_start_matches("ncacn_vi_");
            let is_built = [("fabric", cfg!(feature = "fabric")), ("xdp", cfg!(feature = "xdp")), ("udp", true)]
                .contains(&(feature, true));
            let outcome = sequence_of(protocol).map(|sequence| sequence.protocol).map_err(|error| error.to_string());
            match outcome {
                Ok(found) => assert!(is_built && found == protocol, "{protocol}"),
                Err(why) => assert!(!is_built && why.contains(&format!("the feature `{feature}` of obvia")), "{why}"),
            }
        }
    }
}
