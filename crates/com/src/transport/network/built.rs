//! The protocol sequences that this program was built with.

use super::sequence::{Sequence, Wanted};
use super::{dg, stream, udp};
use crate::types::error::{Error, Result, code};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};

/// The protocol sequences of this program, except shared memory. Each optional protocol sequence
/// has a file of its own, and its feature adds only that file.
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

impl Wanted {
    /// Returns the options of a binding.
    pub(crate) fn of(binding: &StringBinding) -> Result<Self> {
        Self::by(sequence_of(binding.protocol)?, binding)
    }
}

/// Whether this program was built with a protocol sequence. Shared memory is always available and
/// has no entry in the list.
pub(crate) fn is_built(protocol: ProtocolSequence) -> bool {
    protocol == ProtocolSequence::ViShm || sequence_of(protocol).is_ok()
}

/// Returns a protocol sequence that this program was built with.
pub(crate) fn sequence_of(protocol: ProtocolSequence) -> Result<&'static Sequence> {
    BUILT.iter().find(|sequence| sequence.protocol == protocol).ok_or_else(|| {
        let feature = protocol.name().trim_start_matches("ncacn_vi_");
        let text = format!("this program was built without {protocol}: build it with the feature `{feature}` of obvia");
        Error::new(code::E_INVALIDARG, text)
    })
}

/// Returns a binding without the options that concern one process alone. Bindings are sent in this
/// form, and received bindings are reduced to it.
pub(crate) fn for_peers(binding: StringBinding) -> StringBinding {
    match sequence_of(binding.protocol) {
        Ok(sequence) => sequence.for_peers(binding),
        // The binding cannot be used by this process at all, so its options do not matter.
        Err(_) => binding,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unbuilt_protocol_sequences_are_refused_with_their_feature() {
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
