//! The proof of a mark, by which a client shows on a connection that it is the process of an
//! earlier connection over another transport.
//!
//! Over the earlier connection, the server has sent its mark for the client, and the mark's key:
//! see [`own_calls::mark`](super::own_calls::mark). The key is all that a proof needs, so the
//! server sends the key only over shared memory, over an encrypted connection, or to a client on
//! the server's host. If a program on the server's host forwards a client's TCP connection to the
//! server, the client looks like a client of that host. Its key then also crosses the network
//! between the client and that program.
//!
//! On the new connection the client asks the server for a challenge, a random number that is valid
//! on this connection only. The proof is a code that is computed with the key from the challenge,
//! the server's OXID and the place at which the client has reached the server. A proof that was
//! read on a network is therefore not valid on another connection, and a server at another place
//! cannot use a proof that it receives. The server answers with another code, which shows that the
//! server knows the key, too.

use crate::types::identity::{endpoint_of, local_binding};
use obvia_rpc::security::code_of;
use obvia_rpc::string_binding::StringBinding;
use obvia_via::window::Peer;

/// The proof of a mark.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct MarkProof {
    /// The code that the client sends.
    pub(crate) code: u128,
    /// The code with which the server answers.
    pub(crate) confirmation: u128,
}

impl MarkProof {
    /// Computes the proof of a mark from the mark's key `key`. The server with the OXID `server`
    /// has sent the challenge, and the client has reached it at `place`.
    pub(crate) fn new(key: u128, challenge: u128, server: u64, place: &str) -> Self {
        let (challenge, server) = (challenge.to_le_bytes(), server.to_le_bytes());
        let code = |side: &[u8]| code_of(&key.to_le_bytes(), &[side, &challenge, &server, place.as_bytes()]);
        Self { code: code(b"client"), confirmation: code(b"server") }
    }
}

/// Returns the place at which the client has reached a server. Without a binding, the place is the
/// server's endpoint in the directory.
pub(crate) fn place_of(server: u64, binding: Option<&StringBinding>, peer: &Peer) -> String {
    match binding {
        None => local_binding(endpoint_of(server)).to_string(),
        Some(binding) => {
            let host = if let Peer::Host(host) = peer { host } else { "" };
            place_at(binding, host)
        }
    }
}

/// Returns the places at which the client `peer` can have reached this server. A client over a
/// network has reached the server at the host `local`. If `local` is not known, the result is empty
/// for such a client.
pub(crate) fn places_of(server: u64, listening: &[StringBinding], local: Option<&str>, peer: &Peer) -> Vec<String> {
    match (peer, local) {
        (Peer::Host(_), None) => Vec::new(),
        (Peer::Host(_), Some(local)) => listening.iter().map(|binding| place_at(binding, local)).collect(),
        (Peer::Process { .. }, _) => {
            let own = local_binding(endpoint_of(server)).to_string();
            listening.iter().map(|binding| place_at(binding, "")).chain([own]).collect()
        }
    }
}

fn place_at(binding: &StringBinding, host: &str) -> String {
    StringBinding::new(binding.protocol, host, binding.endpoint.as_str()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_rpc::string_binding::ProtocolSequence;

    #[test]
    fn proofs_are_valid_for_one_challenge_at_one_place_of_one_server() {
        let proof = MarkProof::new(1, 2, 3, "there");
        let others = [(9, 2, 3, "there"), (1, 9, 3, "there"), (1, 2, 9, "there"), (1, 2, 3, "elsewhere")];
        for (mark, challenge, server, place) in others {
            let other = MarkProof::new(mark, challenge, server, place);
            assert!(proof.code != other.code && proof.confirmation != other.confirmation);
        }
        assert!(proof.code != proof.confirmation && proof == MarkProof::new(1, 2, 3, "there"));
    }

    #[test]
    fn clients_and_servers_name_places_alike() {
        let binding = |protocol, host: &str, endpoint: &str| StringBinding::new(protocol, host, endpoint);
        let listening =
            [binding(ProtocolSequence::IpTcp, "0.0.0.0", "5000"), binding(ProtocolSequence::Lrpc, "", "name")];
        let far = Peer::Host("10.0.0.9".to_owned());
        let server = Peer::Host("10.0.0.1".to_owned());
        let dialled =
            |host: &str, endpoint| place_of(7, Some(&binding(ProtocolSequence::IpTcp, host, endpoint)), &server);
        let own = places_of(7, &listening, Some("10.0.0.1"), &far);
        assert!(own.contains(&dialled("server", "5000")) && !own.contains(&dialled("server", "5001")));
        // The client has connected to 10.0.0.1, but the server was reached at 10.0.0.2: the server
        // does not accept the client's place.
        assert!(!places_of(7, &listening, Some("10.0.0.2"), &far).contains(&dialled("server", "5000")));
        assert!(places_of(7, &listening, None, &far).is_empty());
        let near = Peer::Process { pid: 3, uid: 0, serial: 3 };
        let own = places_of(7, &listening, None, &near);
        assert!(own.contains(&place_of(7, None, &near)) && !own.contains(&place_of(8, None, &near)));
        assert!(own.contains(&place_of(7, Some(&listening[1]), &near)) && !own.contains(&dialled("server", "5000")));
    }
}
