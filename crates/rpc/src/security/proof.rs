//! Proofs: mutual authentication of the two ends of an unprotected connection, while the connection
//! is being established.
//!
//! The client sends *legs*, and the server answers each. First the ends exchange the tokens of a
//! security context, as in a bind, and ephemeral public keys. Once both ends have the context, each
//! *seals* the exchange: it sends a code, computed with the context's key, over all legs so far and
//! over the *place*. The place is the server's host: the client uses the host that it has called,
//! and the server uses the address at which the client reached it. A valid seal proves that the
//! peer knows the password, has seen the same legs, and uses the same place. A relay that forwards
//! an exchange to a server at another place gets no seal that is valid there, and cannot compute
//! one.
//!
//! The keys of packets follow from the context's key and from the secret that the two ephemeral
//! keys yield. An attacker who learns the password later does not have this secret, and so cannot
//! decrypt recorded packets.
//!
//! A leg is a header of eight bytes, a public key in the legs Begin and Made, a token, and zeros up
//! to a multiple of eight. Numbers are little endian.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 1 | version: 2 |
//! | 1 | 1 | the leg's kind: see [`LegKind`] |
//! | 2 | 1 | the mechanism in the first leg, else zero |
//! | 3 | 1 | the level of the packets' protection after the proof, in the first leg, else zero |
//! | 4 | 4 | the length of the token |

use super::ephemeral::{AgreedSecret, Ephemeral, PUBLIC_KEY, PublicKey};
use super::ntlm::TOKEN_MAX;
use super::packets::{Packets, Side};
use super::{Acceptor, AuthType, Authenticated, CODE_LENGTH, Level, Security, SecurityContext, SecurityError, Step};
use obvia_via::reliable::Guard;
use std::sync::Arc;

/// The length of a leg's header, in bytes.
const HEADER: usize = 8;
/// The version of legs.
const VERSION: u8 = 2;
/// The greatest length of a leg, in bytes.
pub const LEG_MAX: usize = HEADER + PUBLIC_KEY + TOKEN_MAX;

/// The level of a proof's security context. It is the same for every protection of packets, because
/// the context's key has to be secret in any case.
pub const CONTEXT_LEVEL: Level = Level::Integrity;

/// The first part of the client's sealed data. It distinguishes the seal from the server's seal,
/// and from other codes with the same key.
const CLIENT_SEAL: &[u8] = b"obvia proof, the client's seal\0";
/// The first part of the server's sealed data.
const SERVER_SEAL: &[u8] = b"obvia proof, the server's seal\0";

/// The kind of a leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LegKind {
    /// The client's first leg: its token begins a security context.
    Begin = 1,
    /// A further token of the context, which needs an answer.
    Token = 2,
    /// The server's last token, which may be empty: the server has the context.
    Made = 3,
    /// A seal.
    Seal = 4,
}

/// A parsed leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg<'a> {
    /// The leg's kind.
    pub leg_kind: LegKind,
    /// The mechanism in the first leg, else zero.
    pub kind: AuthType,
    /// The level of the packets' protection, in the first leg.
    pub level: Option<Level>,
    /// The sender's ephemeral public key, in the legs Begin and Made.
    pub key: Option<PublicKey>,
    /// The mechanism's token, or a seal.
    pub token: &'a [u8],
}

impl<'a> Leg<'a> {
    fn new(leg_kind: LegKind, token: &'a [u8]) -> Self {
        Self { leg_kind, kind: AuthType(0), level: None, key: None, token }
    }

    /// Reads a leg.
    ///
    /// # Errors
    ///
    /// [`SecurityError::Token`] with the reason why the leg is malformed, and
    /// [`SecurityError::Level`] for an unknown level.
    pub fn from_wire(bytes: &'a [u8]) -> Result<Self, SecurityError> {
        let wrong = |what| Err(SecurityError::Token(what));
        let Some((&[version, leg_kind, kind, level, l0, l1, l2, l3], rest)) = bytes.split_first_chunk::<HEADER>()
        else {
            return wrong("a leg of the proof is shorter than its header");
        };
        if version != VERSION {
            return wrong("the peer's proof has another version: both ends need the same release of obvia");
        }
        let leg_kind = match leg_kind {
            1 => LegKind::Begin,
            2 => LegKind::Token,
            3 => LegKind::Made,
            4 => LegKind::Seal,
            _ => return wrong("a leg of the proof is of an unknown kind"),
        };
        if [kind != 0, level != 0] != [leg_kind == LegKind::Begin; 2] {
            return wrong("the first leg of the proof lacks a mechanism or a level, or a later leg has one");
        }
        let known = [Level::Connect, Level::Integrity, Level::Privacy].into_iter().find(|known| *known as u8 == level);
        if leg_kind == LegKind::Begin && known.is_none() {
            return Err(SecurityError::Level(level));
        }
        let (key, rest) = if matches!(leg_kind, LegKind::Begin | LegKind::Made) {
            let Some((key, rest)) = rest.split_first_chunk() else {
                return wrong("a leg of the proof is shorter than its key");
            };
            (Some(*key), rest)
        } else {
            (None, rest)
        };
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        if length > TOKEN_MAX || rest.len() != length.next_multiple_of(8) {
            return wrong("a leg of the proof does not have the length in its header");
        }
        let (token, padding) = rest.split_at(length);
        if padding.iter().any(|byte| *byte != 0) {
            return wrong("the padding of a leg of the proof is not zero");
        }
        Ok(Self { leg_kind, kind: AuthType(kind), level: known, key, token })
    }

    /// Writes the leg. The token has at most [`TOKEN_MAX`] bytes.
    pub fn to_wire(self) -> Vec<u8> {
        let Self { leg_kind, kind, level, key, token } = self;
        let mut bytes = vec![VERSION, leg_kind as u8, kind.0, level.map_or(0, |level| level as u8)];
        bytes.extend((token.len() as u32).to_le_bytes());
        bytes.extend(key.as_slice().as_flattened());
        bytes.extend(token);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }
}

/// The transcript of all legs so far, and the place. Each leg contains the length of its token, so
/// that the concatenation of the legs is unambiguous.
#[derive(Debug)]
struct Transcript {
    place: String,
    legs: Vec<u8>,
}

impl Transcript {
    fn new(place: &str) -> Self {
        Self { place: place.to_owned(), legs: Vec::new() }
    }

    fn seal(&self, context: &dyn SecurityContext, purpose: &[u8]) -> Result<[u8; CODE_LENGTH], SecurityError> {
        context.code(&self.parts(purpose, &self.place_length()))
    }

    fn check(&self, context: &dyn SecurityContext, purpose: &[u8], seal: &[u8]) -> Result<(), SecurityError> {
        context.check_code(&self.parts(purpose, &self.place_length()), seal)
    }

    /// Creates the protection of packets, if the level demands it. The transcript must already
    /// contain the client's seal.
    fn guard(
        &self,
        context: &dyn SecurityContext,
        secret: &AgreedSecret,
        side: Side,
        level: Level,
    ) -> Result<Option<Guard>, SecurityError> {
        if level == Level::Connect {
            return Ok(None);
        }
        let (packets, moves) = Packets::new(context, secret, &self.legs, side, level)?;
        // The server creates its keys before it sends its seal. The client calls this function
        // after it has received the seal, so it knows that the server has the keys.
        Ok(Some(Guard { cipher: Box::new(packets), peer_has_keys: side == Side::Client, moves }))
    }

    fn place_length(&self) -> [u8; 8] {
        (self.place.len() as u64).to_le_bytes()
    }

    fn parts<'a>(&'a self, purpose: &'a [u8], place_length: &'a [u8; 8]) -> [&'a [u8]; 4] {
        [purpose, place_length, self.place.as_bytes(), &self.legs]
    }
}

/// The client's side of a proof.
#[derive(Debug)]
pub struct Prover {
    kind: AuthType,
    level: Level,
    context: Box<dyn SecurityContext>,
    transcript: Transcript,
    stage: Proving,
}

/// The client's next step after an answer.
#[derive(Debug)]
pub enum Next {
    /// The client has to send this leg.
    Leg(Vec<u8>),
    /// The proof is complete: the server has proved that it knows the password. If there is a
    /// guard, it protects packets from now on.
    Proved(Option<Guard>),
}

/// The progress of a client.
#[derive(Debug)]
enum Proving {
    /// The first leg was not sent yet.
    New,
    /// The security context is being established. `is_made` tells whether the client's side of the
    /// context is already established.
    Tokens { is_made: bool, own: Ephemeral },
    /// The server's seal is expected.
    Sealed { secret: AgreedSecret },
    /// The proof is over.
    Over,
}

impl Prover {
    /// Creates a proof for the server that was called at `place`. `context` must be new, and have
    /// the level [`CONTEXT_LEVEL`]. `level` is the protection of packets.
    #[must_use]
    pub fn new(Security { kind, context, .. }: Security, level: Level, place: &str) -> Self {
        Self { kind, level, context, transcript: Transcript::new(place), stage: Proving::New }
    }

    /// Returns the first leg.
    ///
    /// # Errors
    ///
    /// [`SecurityError`] if the security context fails, or the kernel provides no random numbers.
    pub fn begin(&mut self) -> Result<Vec<u8>, SecurityError> {
        let Step { token, is_done } = self.context.step(&[])?;
        let own = Ephemeral::draw()?;
        let (kind, level, key) = (self.kind, Some(self.level), Some(own.public_key()));
        self.stage = Proving::Tokens { is_made: is_done, own };
        Ok(self.record(Leg { leg_kind: LegKind::Begin, kind, level, key, token: &token }))
    }

    /// Processes the server's answer, and returns the next leg until both sides are authenticated.
    ///
    /// # Errors
    ///
    /// [`SecurityError`] if the answer is wrong. The proof is over then.
    pub fn answer(&mut self, answer: &[u8]) -> Result<Next, SecurityError> {
        let stage = std::mem::replace(&mut self.stage, Proving::Over);
        let Leg { leg_kind, key, token, .. } = Leg::from_wire(answer)?;
        match (stage, leg_kind, key) {
            (Proving::Tokens { is_made: false, own }, LegKind::Token, _) => {
                self.transcript.legs.extend(answer);
                let Step { token, is_done } = self.context.step(token)?;
                self.stage = Proving::Tokens { is_made: is_done, own };
                Ok(Next::Leg(self.record(Leg::new(LegKind::Token, &token))))
            }
            (Proving::Tokens { is_made, own }, LegKind::Made, Some(key)) => {
                self.transcript.legs.extend(answer);
                // The server's last token must complete the context, and needs no answer.
                let is_settled = if is_made {
                    token.is_empty()
                } else {
                    let last = self.context.step(token)?;
                    last.is_done && last.token.is_empty()
                };
                if !is_settled {
                    return Err(SecurityError::Token(
                        "the server ended the exchange before the client's security context was established",
                    ));
                }
                let seal = self.transcript.seal(&*self.context, CLIENT_SEAL)?;
                self.stage = Proving::Sealed { secret: own.agree(key)? };
                Ok(Next::Leg(self.record(Leg::new(LegKind::Seal, &seal))))
            }
            (Proving::Sealed { secret }, LegKind::Seal, _) => {
                self.transcript.check(&*self.context, SERVER_SEAL, token)?;
                Ok(Next::Proved(self.transcript.guard(&*self.context, &secret, Side::Client, self.level)?))
            }
            _ => Err(SecurityError::Token("the server sent an unexpected leg of the proof")),
        }
    }

    fn record(&mut self, leg: Leg<'_>) -> Vec<u8> {
        let bytes = leg.to_wire();
        self.transcript.legs.extend(&bytes);
        bytes
    }
}

/// The server's side of a proof.
#[derive(Debug)]
pub struct Verifier {
    acceptor: Arc<dyn Acceptor>,
    least: Level,
    transcript: Transcript,
    stage: Verifying,
}

/// The progress of a server.
#[derive(Debug)]
enum Verifying {
    /// The first leg is expected.
    Begin,
    /// The context is being established.
    Tokens(Wanted, Box<dyn SecurityContext>),
    /// The client's seal is expected.
    Made(Wanted, AgreedSecret, Box<dyn SecurityContext>),
    /// The proof is over.
    Over,
}

/// The contents of the client's first leg, apart from its token.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    kind: AuthType,
    level: Level,
    key: PublicKey,
}

/// The server's reaction to a leg.
#[derive(Debug)]
pub struct Verdict {
    /// The answer for the client.
    pub answer: Vec<u8>,
    /// The client's identity, once it is proved.
    pub proved: Option<Authenticated>,
    /// The protection of the packets that follow this answer.
    pub guard: Option<Guard>,
}

impl Verifier {
    /// Creates a proof for a client that called this server at `place`. Packets need at least the
    /// protection `least`.
    #[must_use]
    pub fn new(acceptor: Arc<dyn Acceptor>, least: Level, place: &str) -> Self {
        Self { acceptor, least, transcript: Transcript::new(place), stage: Verifying::Begin }
    }

    /// Processes a leg.
    ///
    /// # Errors
    ///
    /// [`SecurityError`] if the leg is wrong, the client is not authenticated, or the level of
    /// packets is below the minimum. The proof is over then.
    pub fn answer(&mut self, leg: &[u8]) -> Result<Verdict, SecurityError> {
        let stage = std::mem::replace(&mut self.stage, Verifying::Over);
        let Leg { leg_kind, kind, level, key, token } = Leg::from_wire(leg)?;
        let (wanted, context) = match (stage, leg_kind, level.zip(key)) {
            (Verifying::Begin, LegKind::Begin, Some((level, key))) => {
                if level < self.least {
                    return Err(SecurityError::Level(level as u8));
                }
                (Wanted { kind, level, key }, self.acceptor.accept(kind, CONTEXT_LEVEL)?)
            }
            (Verifying::Tokens(wanted, context), LegKind::Token, _) => (wanted, context),
            (Verifying::Made(Wanted { kind, level, .. }, secret, context), LegKind::Seal, _) => {
                self.transcript.check(&*context, CLIENT_SEAL, token)?;
                self.transcript.legs.extend(leg);
                let principal = Arc::new(context.principal().ok_or(SecurityError::NotReady)?.clone());
                let seal = self.transcript.seal(&*context, SERVER_SEAL)?;
                let guard = self.transcript.guard(&*context, &secret, Side::Server, level)?;
                let proved = Some(Authenticated { principal, kind, level });
                return Ok(Verdict { answer: Leg::new(LegKind::Seal, &seal).to_wire(), proved, guard });
            }
            _ => return Err(SecurityError::Token("the client sent an unexpected leg of the proof")),
        };
        self.transcript.legs.extend(leg);
        self.step(wanted, context, token)
    }

    /// Performs the next step of the context with the client's token.
    fn step(
        &mut self,
        wanted: Wanted,
        mut context: Box<dyn SecurityContext>,
        token: &[u8],
    ) -> Result<Verdict, SecurityError> {
        let Step { token, is_done } = context.step(token)?;
        let (answer, stage) = if is_done {
            let own = Ephemeral::draw()?;
            let made = Leg { key: Some(own.public_key()), ..Leg::new(LegKind::Made, &token) };
            (made, Verifying::Made(wanted, own.agree(wanted.key)?, context))
        } else {
            (Leg::new(LegKind::Token, &token), Verifying::Tokens(wanted, context))
        };
        let answer = answer.to_wire();
        self.transcript.legs.extend(&answer);
        self.stage = stage;
        Ok(Verdict { answer, proved: None, guard: None })
    }
}

#[cfg(test)]
mod tests;
