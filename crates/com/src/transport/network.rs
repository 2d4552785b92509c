//! Networks: the protocol sequences by which this process reaches others and is reached, besides
//! the shared memory of its host.

pub(crate) mod built;
mod dg;
#[cfg(feature = "fabric")]
mod fabric;
pub(crate) mod protection;
pub(crate) mod sequence;
pub(crate) mod stream;
mod udp;
#[cfg(feature = "xdp")]
mod xdp;

use crate::access::Protection;
use crate::protocol::binding::Transfers;
use crate::transport::network::sequence::port;
use crate::transport::routes::Targets;
use crate::types::error::{Error, Result, code};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::names::addresses;
use obvia_via::provider::shm::Directory;
use obvia_via::stream::Stream;
use obvia_via::window::{self, Options, Window};
use obvia_via::{Deadline, Error as ViError, Nic};
use sequence::{End, Means, NicMeans, Wanted};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) use built::for_peers;
pub(crate) use protection::{level_of, protected};

/// The open NICs, and the addresses on which the process listens.
#[derive(Default)]
pub(crate) struct Network {
    pub(crate) nics: Mutex<Vec<Opened>>,
    // The standard protocol sequences by which this process calls others.
    pub(crate) standard: Mutex<Vec<ProtocolSequence>>,
    activities: dg::Activities,
    // The bindings on which the process listens, in the form for other processes.
    pub(crate) heard: Mutex<Vec<StringBinding>>,
    // The bindings and addresses at which this process has opened, or tried to open, endpoints for
    // objects that are called over virtual interfaces.
    pub(crate) opened: Mutex<Vec<String>>,
}

/// A NIC with its options, and the address that it is bound to, if any.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) wanted: Wanted,
    pub(crate) nic: Nic,
    pub(crate) address: Option<IpAddr>,
    /// The number of file descriptors that a server needs for each connection.
    pub(crate) descriptors: u64,
}

/// Parses a string binding from a user.
pub(crate) fn parse(text: &str) -> Result<StringBinding> {
    text.parse().map_err(|why| Error::new(code::E_INVALIDARG, format!("`{text}` is not a string binding: {why}")))
}

/// Parses a string binding of virtual interfaces over a network from a user.
pub(crate) fn parse_vi(text: &str) -> Result<StringBinding> {
    let binding = parse(text)?;
    if Wanted::of(&binding)?.is_over_vi() {
        return Ok(binding);
    }
    let text = format!("`{text}` does not lead over virtual interfaces: {} has none", binding.protocol);
    Err(Error::new(code::E_INVALIDARG, text))
}

/// Returns the options of a binding to a peer. The binding must have an endpoint.
fn wanted(binding: &StringBinding) -> Result<Wanted> {
    if binding.endpoint.is_empty() {
        return Err(Error::new(code::E_INVALIDARG, format!("the binding `{binding}` has no endpoint: add [PORT]")));
    }
    Wanted::of(binding)
}

/// Whether this program was built with the protocol sequence of this name.
pub(crate) fn is_built(name: &str) -> bool {
    ProtocolSequence::ALL.into_iter().any(|known| known.name() == name && built::is_built(known))
}

/// Connects to a server at a binding of a standard protocol sequence.
pub(crate) fn stream_to(directory: &Directory, binding: &StringBinding, deadline: Deadline) -> Result<Stream> {
    wanted(binding)?;
    stream::open(directory, binding, deadline)
}

/// Whether a string binding has a standard protocol sequence.
pub(crate) fn is_standard(text: &str) -> bool {
    let is_standard = |wanted: Wanted| matches!(wanted.sequence.means, Means::Stream | Means::Datagrams);
    parse(text).is_ok_and(|binding| Wanted::of(&binding).is_ok_and(is_standard))
}

/// Whether calls by a binding are datagrams, without connections.
pub(crate) fn has_no_connections(binding: &StringBinding) -> bool {
    Wanted::of(binding).is_ok_and(|wanted| matches!(wanted.sequence.means, Means::Datagrams))
}

/// Returns an empty set of target descriptions for a binding of a standard protocol sequence.
/// `None` for a binding of virtual interfaces.
pub(crate) fn targets_of(binding: &StringBinding) -> Result<Option<Targets>> {
    let wanted = Wanted::of(binding)?;
    match wanted.sequence.means {
        Means::Stream => Ok(Some(Targets::new(stream::transfers(&wanted)?, protection::protection(&wanted, binding)?))),
        Means::Datagrams => Ok(Some(Targets::new(Transfers::NDR, None))),
        Means::Nic(_) => Ok(None),
    }
}

/// Returns the protection with which this process authenticates at a binding of virtual interfaces.
/// `None` for other bindings, and for bindings without protection.
pub(crate) fn proof_of(binding: &StringBinding) -> Result<Option<Protection>> {
    let wanted = Wanted::of(binding)?;
    if wanted.is_over_vi() { protection::protection(&wanted, binding) } else { Ok(None) }
}

/// The greatest number of NICs that a process opens. Bindings in received references may make the
/// process open NICs as well.
const NICS_MAX: usize = 16;

/// The addresses in bindings that mean every address of this host.
pub(crate) const ANY: [&str; 3] = ["", "0.0.0.0", "::"];

impl Network {
    pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a NIC for an end of a connection, or for a listener: an open NIC whose options fit,
    /// or a new one.
    pub(crate) fn nic(&self, wanted: Wanted, means: NicMeans, end: End) -> Result<Opened> {
        // Each connection has its own protection, so connections with different protection share a
        // NIC.
        let mut wanted = wanted.without_protection();
        let sequence = wanted.sequence;
        (means.settle)(&mut wanted, end)?;
        let mut nics = Self::lock(&self.nics);
        if let Some(known) = nics.iter().find(|opened| opened.wanted.serves(&wanted)) {
            return Ok(known.clone());
        }
        if let Some(what) = nics.iter().find_map(|opened| opened.wanted.collides(&wanted)) {
            let text = format!("this process already uses {what} by {} with other options", sequence.protocol);
            return Err(Error::new(code::E_INVALIDARG, text));
        }
        if nics.len() >= NICS_MAX {
            let text = format!(
                "{}: this process already has {NICS_MAX} NICs open, each with its own options",
                sequence.protocol
            );
            return Err(Error::new(code::E_OUTOFMEMORY, text));
        }
        let (nic, address) =
            (means.open)(&wanted).map_err(|error| error.with_detail(|why| format!("{}: {why}", sequence.protocol)))?;
        let opened = Opened { wanted, nic, address, descriptors: means.descriptors };
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
        for place in addresses(&binding.address, port(binding)?, deadline)? {
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

    /// Connects to a process by an association, or prepares calls as datagrams.
    pub(crate) fn associate(
        &self,
        directory: &Directory,
        binding: &StringBinding,
        targets: &Arc<Targets>,
        options: &Options,
        deadline: Deadline,
    ) -> Result<Window> {
        let window = if let Means::Datagrams = wanted(binding)?.sequence.means {
            self.activities.connect(binding, targets, options, deadline)?
        } else {
            stream::connect(directory, binding, targets, options, deadline)?
        };
        let mut standard = Self::lock(&self.standard);
        if !standard.contains(&binding.protocol) {
            standard.push(binding.protocol);
        }
        Ok(window)
    }

    /// Returns the bindings of this process that have the host and the protocol sequence of another
    /// binding, and no less protection.
    pub(crate) fn bindings_like(&self, binding: &StringBinding) -> Vec<StringBinding> {
        let is_like = |known: &StringBinding| {
            known.protocol == binding.protocol
                && known.address == binding.address
                && level_of(known) >= level_of(binding)
        };
        self.bindings(Some(&binding.address)).into_iter().filter(is_like).collect()
    }

    /// Returns the bindings of this process for a peer that reaches this process at the address
    /// `local`. `local` replaces the addresses that mean every address of this host ([`ANY`]).
    pub(crate) fn bindings(&self, local: Option<&str>) -> Vec<StringBinding> {
        let mut heard = Self::lock(&self.heard).clone();
        for binding in &mut heard {
            if let Some(local) = local.filter(|_| ANY.contains(&binding.address.as_str())) {
                local.clone_into(&mut binding.address);
            }
        }
        heard
    }
}
