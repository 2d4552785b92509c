//! `ncacn_vi_udp`. The option `fault` simulates network faults. [`super::protection`] has the other
//! options.

use super::sequence::{Means, NicMeans, OF_CLIENTS, Open, SHARED, Sequence, Wanted, any};
use crate::access::log_refused_host;
use crate::types::error::Result;
use obvia_rpc::string_binding::ProtocolSequence;
use obvia_via::provider::udp;

/// The number of file descriptors that a connection needs: for its socket, and for the two bells
/// that end waits to receive and to send.
const DESCRIPTORS: u64 = 3;

pub(super) const SEQUENCE: Sequence = Sequence {
    protocol: ProtocolSequence::ViUdp,
    shared: &[SHARED],
    own: &["fault", OF_CLIENTS[0], OF_CLIENTS[1]],
    alone: None,
    means: Means::Nic(NicMeans { settle: any, open, descriptors: DESCRIPTORS }),
};

fn open(wanted: &Wanted) -> Result<Open> {
    let options =
        udp::Options { fault: wanted.fault()?, refusal_observer: Some(log_refused_host), ..udp::Options::default() };
    Ok((udp::open(&options)?, None))
}
