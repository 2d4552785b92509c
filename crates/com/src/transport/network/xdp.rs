//! `ncacn_vi_xdp`. These options concern this process alone: `interface`, by default selected by
//! the address of the peer or of this process; `mode`, `native` or `generic`, by default the better
//! one that works; and `fault`, which simulates network faults. [`super::protection`] has the other
//! options.

use super::sequence::{End, Means, NicMeans, OF_CLIENTS, Open, SHARED, Sequence, Wanted};
use crate::access::log_refused_host;
use crate::types::error::{Error, Result, code};
use obvia_rpc::string_binding::ProtocolSequence;
use obvia_via::Nic;
use obvia_via::provider::xdp::{self, Mode, Options, Xdp};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

/// The number of file descriptors that a connection needs: for the bell of its frames, and for the
/// two bells that end waits to receive and to send.
const DESCRIPTORS: u64 = 3;

pub(super) const SEQUENCE: Sequence = Sequence {
    protocol: ProtocolSequence::ViXdp,
    shared: &[SHARED],
    own: &["interface", "mode", "fault", OF_CLIENTS[0], OF_CLIENTS[1]],
    alone: Some("interface"),
    means: Means::Nic(NicMeans { settle, open, descriptors: DESCRIPTORS }),
};

fn bad(text: impl Into<String>) -> Error {
    Error::new(code::E_INVALIDARG, text)
}

/// Selects a network interface unless the options name one: the interface by which the kernel
/// reaches the peer, or the interface with the address to listen on.
fn settle(wanted: &mut Wanted, end: End) -> Result<()> {
    if !wanted.value("interface").is_empty() {
        return Ok(());
    }
    let address = match end {
        End::Peer(SocketAddr::V4(peer)) => Some(way_to(peer.into())?),
        End::Here(Some(IpAddr::V4(address))) => Some(address),
        End::Here(None) => None,
        End::Peer(SocketAddr::V6(_)) | End::Here(Some(IpAddr::V6(_))) => {
            return Err(bad("ncacn_vi_xdp supports only IPv4 addresses"));
        }
    };
    let interfaces = xdp::interfaces()?;
    let mut suitable = interfaces.iter().filter(|(_, own)| address.is_none_or(|address| address == *own));
    let which = match (suitable.next(), suitable.next(), address) {
        (Some((name, _)), None, _) => name.clone(),
        (None, _, Some(address)) => {
            let text = format!(
                "no Ethernet interface has {address} as its first address: name the interface by \
                    [,interface=NAME]"
            );
            return Err(bad(text));
        }
        (None, _, None) => {
            return Err(bad("ncacn_vi_xdp needs an Ethernet interface with an IPv4 address, and none is up"));
        }
        (Some(_), Some(_), _) => {
            let names: Vec<_> = interfaces.iter().map(|(name, _)| name.as_str()).collect();
            return Err(bad(format!(
                "several Ethernet interfaces are suitable, {}: name one by [,interface=NAME]",
                names.join(", ")
            )));
        }
    };
    wanted.choose("interface", which);
    Ok(())
}

/// Returns the address of this host from which the kernel would send to a peer. No packet is sent.
fn way_to(peer: SocketAddr) -> Result<Ipv4Addr> {
    let asked = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| {
        socket.connect(peer)?;
        socket.local_addr()
    });
    match asked {
        Ok(SocketAddr::V4(own)) => Ok(*own.ip()),
        Ok(SocketAddr::V6(_)) => Err(bad("ncacn_vi_xdp supports only IPv4 addresses")),
        Err(error) => {
            let text = format!("there is no route to {}: {error}", peer.ip());
            Err(Error::new(code::RPC_S_SERVER_UNAVAILABLE, text))
        }
    }
}

fn open(wanted: &Wanted) -> Result<Open> {
    let mode = match wanted.value("mode") {
        "" => None,
        "native" => Some(Mode::Native),
        "generic" => Some(Mode::Generic),
        other => return Err(bad(format!("mode={other} is unknown: expected native or generic"))),
    };
    let options = Options {
        mode,
        fault: wanted.fault()?,
        refusal_observer: Some(log_refused_host),
        ..Options::new(wanted.value("interface"))
    };
    let xdp = Xdp::open(&options)?;
    Ok((Nic::open(Box::new(xdp.provider())), Some(xdp.address().into())))
}
