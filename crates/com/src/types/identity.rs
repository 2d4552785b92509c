//! Identities of processes: their OXIDs, the names of their endpoints, and their users.

use crate::types::error::{Error, Result, code};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::window::Peer;

/// Draws a random number that is unique among processes: the OXID of a process, for example.
pub(crate) fn draw() -> Result<u64> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| Error::new(code::E_FAIL, format!("generating a process identity: {error}")))?;
    Ok(u64::from_le_bytes(bytes))
}

/// Draws a random number that peers cannot guess.
pub(crate) fn draw_wide() -> Result<u128> {
    Ok(u128::from(draw()?) << 64 | u128::from(draw()?))
}

/// The greatest number of attempts to draw an identifier that no ping set has.
pub(crate) const DRAWS: usize = 16;

/// Draws the identifier of a ping set: a number of 16 bits that is not 0. Some existing clients
/// send only 16 bits of an identifier.
pub(crate) fn draw_set() -> Result<u64> {
    Ok((draw()? & u64::from(u16::MAX)).max(1))
}

/// Returns the bindings in the order of preference, the best first.
pub(crate) fn in_order(bindings: &[StringBinding]) -> impl Iterator<Item = &StringBinding> {
    let of = |protocol| bindings.iter().filter(move |binding| binding.protocol == protocol);
    ProtocolSequence::ALL.into_iter().flat_map(of)
}

/// Returns the name of a process's endpoint in the directory.
pub(crate) fn endpoint_of(oxid: u64) -> String {
    format!("oxid-{oxid:016x}")
}

/// Returns the OXID of the process whose endpoint has this name in the directory. `None` for a name
/// of another form.
pub(crate) fn oxid_of(endpoint: &str) -> Option<u64> {
    let oxid = u64::from_str_radix(endpoint.strip_prefix("oxid-")?, 16).ok()?;
    (endpoint_of(oxid) == endpoint).then_some(oxid)
}

/// Returns the string binding by which processes of this host reach an endpoint in the directory.
pub(crate) fn local_binding(endpoint: impl Into<String>) -> StringBinding {
    StringBinding::new(ProtocolSequence::ViShm, endpoint, "")
}

/// Whether a peer is a process of this user, or of the superuser, who could control this process
/// anyway. Some calls are refused to other peers, since processes of other users can be connected
/// as well.
pub(crate) fn is_of_own_user(peer: &Peer) -> bool {
    let own = rustix::process::geteuid().as_raw();
    matches!(peer, Peer::Process { uid, .. } if [own, 0].contains(uid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
    fn only_the_own_user_and_root_can_have_servers_started() {
        let own = rustix::process::geteuid().as_raw();
        let process = |uid| Peer::Process { pid: 7, uid, serial: 7 };
        assert!(is_of_own_user(&process(own)) && is_of_own_user(&process(0)));
        for other in [process(own + 1), process(Peer::NOBODY), Peer::Host("127.0.0.1".to_owned())] {
            assert!(!is_of_own_user(&other), "{other:?}");
        }
    }
}
