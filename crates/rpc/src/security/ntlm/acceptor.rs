//! The server's side of an exchange (MS-NLMP 3.2).

use super::message::{self, Authenticate, Challenge, Negotiate};
use super::{Established, Flags, Fresh, NtlmError, Side, TargetInfo, keys};
use crate::security::Principal;
use crate::security::credentials::{Accounts, uppercase};
use crate::security::secret::{Key, NtHash, hmac, utf16};
use hmac::Mac;
use std::ops::BitOr;
use zeroize::Zeroizing;

/// The names of a server, which the server sends to every client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerNames {
    /// The NetBIOS name: at most 15 characters in upper case.
    pub computer: String,
    /// The NetBIOS name of the domain.
    pub domain: String,
    /// The DNS name.
    pub dns_computer: String,
}

impl ServerNames {
    /// Creates the names of a server without a domain. The computer's name is also used as the
    /// domain's name.
    #[must_use]
    pub fn of_host(host: &str) -> Self {
        let first: String = host.split('.').next().unwrap_or_default().chars().take(15).collect();
        let computer = uppercase(&first);
        Self { domain: computer.clone(), computer, dns_computer: host.to_owned() }
    }
}

/// A server that waits for the client's proof.
#[derive(Debug)]
pub struct Acceptor {
    negotiate: Vec<u8>,
    challenge: Vec<u8>,
    number: [u8; 8],
    offered: Flags,
}

/// The length of the proof at the front of a response, in bytes (MS-NLMP 2.2.2.8).
const PROOF: usize = 16;
/// The length of the fixed part that follows the proof, in bytes (MS-NLMP 2.2.2.7).
const BLOB_FIXED: usize = 28;
/// The length of LM and NTLM 1 responses, in bytes.
const OLD_RESPONSE: usize = 24;

impl Acceptor {
    /// Processes a client's first message and creates the challenge.
    ///
    /// # Errors
    ///
    /// [`NtlmError`] if the message is malformed; [`NtlmError::Flags`] for missing capabilities.
    pub fn new(negotiate: &[u8], names: &ServerNames, fresh: &Fresh) -> Result<Self, NtlmError> {
        let asked = Negotiate::from_wire(negotiate)?.flags;
        // A client need not request the target information: the server sends it in any case.
        asked.require(Flags(Flags::REQUIRED.0 & !Flags::TARGET_INFO.0))?;
        let optional = [Flags::SIGN, Flags::SEAL, Flags::ALWAYS_SIGN, Flags::KEY_EXCHANGE, Flags::BITS_56];
        let optional = optional.into_iter().fold(Flags::REQUEST_TARGET, Flags::bitor);
        let offered = Flags::REQUIRED | Flags::TARGET_IS_SERVER | (asked & optional);
        let mut info = TargetInfo::default();
        info.set(TargetInfo::DOMAIN, utf16(&names.domain));
        info.set(TargetInfo::COMPUTER, utf16(&names.computer));
        info.set(TargetInfo::DNS_COMPUTER, utf16(&names.dns_computer));
        // A client that receives the time makes an integrity code.
        info.set(TargetInfo::TIME, fresh.time.to_le_bytes().to_vec());
        let (target, target_info) = (utf16(&names.computer), info.to_wire());
        let message =
            Challenge { flags: offered, challenge: fresh.challenge, target: &target, target_info: &target_info };
        Ok(Self { negotiate: negotiate.to_vec(), challenge: message.to_wire(), number: fresh.challenge, offered })
    }

    /// Returns the challenge.
    #[must_use]
    pub fn challenge(&self) -> &[u8] {
        &self.challenge
    }

    /// Processes the client's last message and verifies its proof.
    ///
    /// # Errors
    ///
    /// [`NtlmError`] if the message is malformed or was tampered with; [`NtlmError::Denied`] if the
    /// proof is wrong; [`NtlmError::Barred`] if too many earlier proofs for the user were wrong.
    pub fn finish(self, authenticate: &[u8], accounts: &dyn Accounts) -> Result<Established, NtlmError> {
        let message = Authenticate::from_wire(authenticate)?;
        let flags = message.flags & self.offered;
        // Fewer flags are required than in the first message, because some clients do not repeat
        // the flags that have been negotiated.
        flags.require(Flags::EXTENDED | Flags::BITS_128 | Flags::UNICODE)?;
        let ((base_key, has_mic), principal) = if is_anonymous(&message) {
            if !accounts.has_anonymous() {
                return Err(NtlmError::Denied);
            }
            ((Zeroizing::default(), false), Principal::default())
        } else {
            let (domain, user) = (&*message.domain, &*message.user);
            if accounts.barred_for(domain, user).is_some() {
                return Err(NtlmError::Barred);
            }
            let checked = self.check_response(&message, accounts);
            // Wrong proofs that were checked at the same time count, too. Otherwise a client could
            // try as many passwords at once as it has connections.
            if checked.is_ok() && accounts.barred_for(domain, user).is_some() {
                return Err(NtlmError::Barred);
            }
            // A malformed response is no guess of the password, and does not count.
            if matches!(checked, Ok(_) | Err(NtlmError::Denied)) {
                accounts.tried(domain, user, checked.is_ok());
            }
            (checked?, accounts.principal(domain, user))
        };
        let exported = exported_key(flags, &base_key, message.key)?;
        if has_mic {
            self.check_mic(&exported, authenticate, message.mic)?;
        }
        Ok(Established::new(Side::Server, principal, flags, &exported))
    }

    /// Verifies the response. Returns the base key, and whether an integrity code is required.
    fn check_response(&self, message: &Authenticate<'_>, accounts: &dyn Accounts) -> Result<(Key, bool), NtlmError> {
        let response = message.nt_response;
        let (proof, blob) = match response.split_first_chunk::<PROOF>() {
            Some((proof, blob)) if response.len() > OLD_RESPONSE => (proof, blob),
            _ => return Err(NtlmError::OldResponse { length: response.len() }),
        };
        let Some((fixed, attributes)) = blob.split_at_checked(BLOB_FIXED) else {
            return Err(NtlmError::Short { length: response.len() });
        };
        if fixed[..2] != [1, 1] {
            return Err(NtlmError::ResponseVersion { version: fixed[0] });
        }
        let info = TargetInfo::from_wire(attributes)?;
        // An unknown user takes the same time as a known one, so that timing does not reveal user
        // names.
        let known = accounts.hash(&message.domain, &message.user);
        let is_known = known.is_some();
        let hash = known.unwrap_or_else(|| NtHash::from_bytes([0; 16]));
        let key = keys::response_key(&hash, &message.domain, &message.user);
        let is_right = hmac(&key, &[&self.number, blob]).verify_slice(proof).is_ok();
        if !(is_known & is_right) {
            return Err(NtlmError::Denied);
        }
        // The proof covers the attributes, so an attacker cannot remove the flag that announces the
        // integrity code.
        Ok((keys::base_key(&key, proof), info.flags()? & TargetInfo::HAS_MIC != 0))
    }

    /// Verifies the integrity code over the three messages as received (MS-NLMP 3.2.5.1.2).
    fn check_mic(&self, key: &Key, authenticate: &[u8], mic: Option<[u8; 16]>) -> Result<(), NtlmError> {
        let mic = mic.ok_or(NtlmError::Integrity)?;
        let (before, behind) = message::around_mic(authenticate);
        let expected = hmac(key, &[&self.negotiate, &self.challenge, before, &[0; 16], behind]);
        expected.verify_slice(&mic).map_err(|_| NtlmError::Integrity)
    }
}

/// Whether the client is anonymous (MS-NLMP 3.2.5.1.2).
fn is_anonymous(message: &Authenticate<'_>) -> bool {
    message.user.is_empty() && message.nt_response.is_empty() && matches!(message.lm_response, [] | [0])
}

/// Returns the context's key. If a key exchange was negotiated, the client has chosen this key.
fn exported_key(flags: Flags, base_key: &Key, key: &[u8]) -> Result<Key, NtlmError> {
    if !flags.has(Flags::KEY_EXCHANGE) {
        return Ok(base_key.clone());
    }
    match key.try_into() {
        Ok(key) => Ok(keys::exchange(base_key, key)),
        Err(_) => Err(NtlmError::KeyLength { length: key.len() }),
    }
}
