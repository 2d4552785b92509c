//! The client's side of an exchange (MS-NLMP 3.1).

use super::message::{self, Authenticate, Challenge, Negotiate};
use super::{Established, Flags, Fresh, NtlmError, Side, TargetInfo, keys};
use crate::security::Principal;
use crate::security::credentials::Credential;
use crate::security::secret::{hmac, hmac_value, utf16};
use hmac::Mac;
use zeroize::Zeroizing;

/// A client that waits for the server's challenge.
#[derive(Debug)]
pub struct Initiator {
    credential: Credential,
    principal: String,
    fresh: Fresh,
    wanted: Flags,
    offered: Flags,
    negotiate: Vec<u8>,
}

impl Initiator {
    /// Creates an exchange. `wanted` are the protections that the client requires ([`Flags::SIGN`],
    /// [`Flags::SEAL`]). `principal` is the server's expected name, or empty.
    #[must_use]
    pub fn new(credential: Credential, principal: &str, wanted: Flags, fresh: Fresh) -> Self {
        let optional = Flags::REQUEST_TARGET | Flags::SIGN | Flags::ALWAYS_SIGN | Flags::KEY_EXCHANGE | Flags::BITS_56;
        let offered = Flags::REQUIRED | optional | wanted;
        let negotiate = Negotiate { flags: offered }.to_wire();
        Self { credential, principal: principal.to_owned(), fresh, wanted, offered, negotiate }
    }

    /// Returns the first message.
    #[must_use]
    pub fn negotiate(&self) -> &[u8] {
        &self.negotiate
    }

    /// Processes the challenge. Returns the last message and the context.
    ///
    /// # Errors
    ///
    /// [`NtlmError`] if the challenge is malformed; [`NtlmError::Flags`] for missing capabilities
    /// of the server.
    pub fn answer(self, challenge: &[u8]) -> Result<(Vec<u8>, Established), NtlmError> {
        let received = Challenge::from_wire(challenge)?;
        received.flags.require(Flags::REQUIRED | self.wanted)?;
        let mut flags = received.flags & self.offered;
        let mut info = TargetInfo::from_wire(received.target_info)?;
        let (domain, user, response, base_key) = match &self.credential {
            Credential::Anonymous => {
                flags = flags | Flags::ANONYMOUS;
                (String::new(), String::new(), Vec::new(), Zeroizing::default())
            }
            Credential::User { domain, user, hash } => {
                let key = keys::response_key(hash, domain, user);
                let blob = self.blob(&mut info)?;
                let proof = hmac_value(&key, &[&received.challenge, &blob]);
                (domain.clone(), user.clone(), [&proof[..], &blob].concat(), keys::base_key(&key, &proof))
            }
        };
        let is_exchanged = flags.has(Flags::KEY_EXCHANGE);
        let exported = if is_exchanged { &self.fresh.key } else { &base_key };
        let handed_over = is_exchanged.then(|| keys::exchange(&base_key, exported));
        let message = Authenticate {
            flags,
            // With an integrity code, the LM response is all zeros (MS-NLMP 3.1.5.1.2).
            lm_response: if response.is_empty() { &[] } else { &[0; 24] },
            nt_response: &response,
            domain,
            user,
            workstation: String::new(),
            key: handed_over.as_ref().map_or(&[], |key| &key[..]),
            mic: Some([0; 16]),
        };
        let mut authenticate = message.to_wire();
        let mic = hmac(exported, &[&self.negotiate, challenge, &authenticate]).finalize().into_bytes();
        message::set_mic(&mut authenticate, &mic.into());
        Ok((authenticate, Established::new(Side::Client, Principal::default(), flags, exported)))
    }

    /// Returns the part of the response that the client's proof covers, in addition to the server's
    /// challenge: time, client challenge and target information (NTLMv2_CLIENT_CHALLENGE, MS-NLMP
    /// 2.2.2.7).
    fn blob(&self, info: &mut TargetInfo) -> Result<Vec<u8>, NtlmError> {
        let time = info.time()?.unwrap_or(self.fresh.time);
        info.set(TargetInfo::FLAGS, (info.flags()? | TargetInfo::HAS_MIC).to_le_bytes().to_vec());
        info.set(TargetInfo::CHANNEL, vec![0; 16]);
        if !self.principal.is_empty() {
            info.set(TargetInfo::PRINCIPAL, utf16(&self.principal));
        }
        Ok(blob(time, &self.fresh.challenge, &info.to_wire()))
    }
}

/// Encodes the part of the response that the client's proof covers (MS-NLMP 2.2.2.7).
pub(super) fn blob(time: u64, challenge: &[u8; 8], target_info: &[u8]) -> Vec<u8> {
    let version = [1, 1, 0, 0, 0, 0, 0, 0];
    [&version[..], &time.to_le_bytes(), challenge, &[0; 4], target_info, &[0; 4]].concat()
}
