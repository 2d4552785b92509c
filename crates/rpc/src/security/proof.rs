//! Proofs: how the two ends of a connection that protects nothing show each other who they are, when it is made.
//!
//! The client says *legs*, and the server answers each. The tokens of a security context go first, as in a bind. When both sides have the
//! context, each *seals* what was said: it sends a code by the context's key over every leg so far and over the *place*, which is the host where
//! the connection ends: the one that the client has called, and the one as which the server was called. So each learns that the other
//! knows the password, or that the one who does has seen these very legs and takes this to be the place: who passes somebody's exchange
//! on to a server at another place gets no seal that holds there, and can make none.
//!
//! A leg is a header of eight bytes, a token, and zeros up to a multiple of eight. Numbers are little endian.
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 1 | version: 1 |
//! | 1 | 1 | what it is: see [`Turn`] |
//! | 2 | 1 | the mechanism where it begins a proof, else zero |
//! | 3 | 1 | the level at which packets are protected from then on, where it begins a proof, else zero |
//! | 4 | 4 | bytes of the token |

use super::ntlm::TOKEN_MAX;
use super::packets::{Packets, Side};
use super::{Acceptor, AuthType, Authenticated, CODE_LENGTH, Level, Security, SecurityContext, SecurityError, Step};
use obvia_via::reliable::Guard;
use std::sync::Arc;

/// Bytes of a leg before its token.
const HEADER: usize = 8;
/// The version of legs.
const VERSION: u8 = 1;
/// The most bytes of a leg.
pub const LEG_MAX: usize = HEADER + TOKEN_MAX;

/// What the context of a proof has to be able to do, whatever the proof is for: its key is to be the two sides' own.
pub const CONTEXT_LEVEL: Level = Level::Integrity;

/// What the seals are for, so that none is taken for the other, or for anything else that the key is used for.
const CLIENT_SEAL: &[u8] = b"obvia proof, the client's seal\0";
const SERVER_SEAL: &[u8] = b"obvia proof, the server's seal\0";

/// What a leg is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Turn {
    /// The client's first: its token begins a security context.
    Begin = 1,
    /// A further token of the context, and the peer's turn.
    Token = 2,
    /// The server's last token, if any: it has the context.
    Made = 3,
    /// A seal.
    Seal = 4,
}

/// A leg, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leg<'a> {
    /// What it is.
    pub turn: Turn,
    /// The mechanism, of the first; else zero.
    pub kind: AuthType,
    /// How packets are to be protected, in the first.
    pub level: Option<Level>,
    /// What the mechanism says, or a seal.
    pub token: &'a [u8],
}

impl<'a> Leg<'a> {
    fn new(turn: Turn, token: &'a [u8]) -> Self {
        Self { turn, kind: AuthType(0), level: None, token }
    }

    /// Reads a leg.
    ///
    /// # Errors
    ///
    /// [`SecurityError::Token`]: what is wrong with it.
    pub fn from_wire(bytes: &'a [u8]) -> Result<Self, SecurityError> {
        let wrong = |what| Err(SecurityError::Token(what));
        let Some((&[version, turn, kind, level, l0, l1, l2, l3], rest)) = bytes.split_first_chunk::<HEADER>() else {
            return wrong("a leg of a proof ends before its header does");
        };
        if version != VERSION {
            return wrong("a leg of a proof is of an unknown version");
        }
        let turn = match turn {
            1 => Turn::Begin,
            2 => Turn::Token,
            3 => Turn::Made,
            4 => Turn::Seal,
            _ => return wrong("a leg of a proof is nothing that is known"),
        };
        if [kind != 0, level != 0] != [turn == Turn::Begin; 2] {
            return wrong("a leg of a proof names a mechanism or a level out of turn, or none in turn");
        }
        let known = [Level::Connect, Level::Integrity, Level::Privacy].into_iter().find(|known| *known as u8 == level);
        if turn == Turn::Begin && known.is_none() {
            return Err(SecurityError::Level(level));
        }
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        if length > TOKEN_MAX || rest.len() != length.next_multiple_of(8) {
            return wrong("a leg of a proof is not as long as it says");
        }
        let (token, padding) = rest.split_at(length);
        if padding.iter().any(|byte| *byte != 0) {
            return wrong("a leg of a proof has something behind its token");
        }
        Ok(Self { turn, kind: AuthType(kind), level: known, token })
    }

    /// Writes it. The token has [`TOKEN_MAX`] bytes at most.
    pub fn to_wire(self) -> Vec<u8> {
        let Self { turn, kind, level, token } = self;
        let mut bytes = vec![VERSION, turn as u8, kind.0, level.map_or(0, |level| level as u8)];
        bytes.extend((token.len() as u32).to_le_bytes());
        bytes.extend(token);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }
}

/// Every leg so far, as it went: each says how long it is.
#[derive(Debug)]
struct Said {
    place: String,
    legs: Vec<u8>,
}

impl Said {
    fn new(place: &str) -> Self {
        Self { place: place.to_owned(), legs: Vec::new() }
    }

    fn seal(&self, context: &dyn SecurityContext, purpose: &[u8]) -> Result<[u8; CODE_LENGTH], SecurityError> {
        context.code(&self.parts(purpose, &self.place_length()))
    }

    fn check(&self, context: &dyn SecurityContext, purpose: &[u8], seal: &[u8]) -> Result<(), SecurityError> {
        context.check_code(&self.parts(purpose, &self.place_length()), seal)
    }

    /// What packets are under, where they are to be protected. The client's seal has been said.
    fn guard(&self, context: &dyn SecurityContext, side: Side, level: Level) -> Result<Option<Guard>, SecurityError> {
        if level == Level::Connect {
            return Ok(None);
        }
        let cipher = Box::new(Packets::new(context, &self.legs, side, level)?);
        // The server has its keys before it says its seal.
        Ok(Some(Guard { cipher, peer_has_keys: side == Side::Client }))
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
    said: Said,
    stage: Proving,
}

/// What a client does after an answer.
#[derive(Debug)]
pub enum Next {
    /// It says this leg.
    Leg(Vec<u8>),
    /// Nothing: the server has proved that it knows the password, too. Packets are under this guard from now on, if under any.
    Proved(Option<Guard>),
}

/// How far a client has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proving {
    /// The context is being made; whether this side has it.
    Tokens { is_made: bool },
    /// The server's seal comes next.
    Sealed,
    /// Nothing comes any more.
    Over,
}

impl Prover {
    /// The proof by a security context that has not begun, and is for [`CONTEXT_LEVEL`], to the server that was called at a place. Packets are to be
    /// protected at this level.
    #[must_use]
    pub fn new(Security { kind, context, .. }: Security, level: Level, place: &str) -> Self {
        Self { kind, level, context, said: Said::new(place), stage: Proving::Tokens { is_made: false } }
    }

    /// The first leg.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn begin(&mut self) -> Result<Vec<u8>, SecurityError> {
        let Step { token, is_done } = self.context.step(&[])?;
        self.stage = Proving::Tokens { is_made: is_done };
        let (kind, level) = (self.kind, Some(self.level));
        Ok(self.say(Leg { turn: Turn::Begin, kind, level, token: &token }))
    }

    /// Takes the server's answer, and makes the next leg, until both sides have proved what they know.
    ///
    /// # Errors
    ///
    /// What is wrong with the answer. The proof is over then.
    pub fn answer(&mut self, answer: &[u8]) -> Result<Next, SecurityError> {
        let stage = std::mem::replace(&mut self.stage, Proving::Over);
        let Leg { turn, token, .. } = Leg::from_wire(answer)?;
        match (stage, turn) {
            (Proving::Tokens { is_made: false }, Turn::Token) => {
                self.said.legs.extend(answer);
                let Step { token, is_done } = self.context.step(token)?;
                self.stage = Proving::Tokens { is_made: is_done };
                Ok(Next::Leg(self.say(Leg::new(Turn::Token, &token))))
            }
            (Proving::Tokens { is_made }, Turn::Made) => {
                self.said.legs.extend(answer);
                // What the server says last has nothing to be answered.
                let is_settled = if is_made {
                    token.is_empty()
                } else {
                    let last = self.context.step(token)?;
                    last.is_done && last.token.is_empty()
                };
                if !is_settled {
                    return Err(SecurityError::Token("the server takes the exchange for over, and it is not"));
                }
                let seal = self.said.seal(&*self.context, CLIENT_SEAL)?;
                self.stage = Proving::Sealed;
                Ok(Next::Leg(self.say(Leg::new(Turn::Seal, &seal))))
            }
            (Proving::Sealed, Turn::Seal) => {
                self.said.check(&*self.context, SERVER_SEAL, token)?;
                Ok(Next::Proved(self.said.guard(&*self.context, Side::Client, self.level)?))
            }
            _ => Err(SecurityError::Token("an answer to a proof comes out of turn")),
        }
    }

    fn say(&mut self, leg: Leg<'_>) -> Vec<u8> {
        let bytes = leg.to_wire();
        self.said.legs.extend(&bytes);
        bytes
    }
}

/// The server's side of a proof.
#[derive(Debug)]
pub struct Verifier {
    acceptor: Arc<dyn Acceptor>,
    least: Level,
    said: Said,
    stage: Verifying,
}

/// How far a server has come.
#[derive(Debug)]
enum Verifying {
    /// The first leg comes next.
    Begin,
    /// The context is being made.
    Tokens(Wanted, Box<dyn SecurityContext>),
    /// The client's seal comes next.
    Made(Wanted, Box<dyn SecurityContext>),
    /// Nothing comes any more.
    Over,
}

/// What a client wants: its mechanism, and how packets are to be protected.
type Wanted = (AuthType, Level);

/// What a server has to say to a leg.
#[derive(Debug)]
pub struct Verdict {
    /// The answer.
    pub answer: Vec<u8>,
    /// Who the client is, when it has proved that.
    pub proved: Option<Authenticated>,
    /// What packets are under from then on, this answer to it excepted.
    pub guard: Option<Guard>,
}

impl Verifier {
    /// For a client that called this server at a place, and has to have packets protected at this level at least.
    #[must_use]
    pub fn new(acceptor: Arc<dyn Acceptor>, least: Level, place: &str) -> Self {
        Self { acceptor, least, said: Said::new(place), stage: Verifying::Begin }
    }

    /// Takes a leg.
    ///
    /// # Errors
    ///
    /// What is wrong with it, or that the client is not who it says. The proof is over then, and no further leg is taken.
    pub fn answer(&mut self, leg: &[u8]) -> Result<Verdict, SecurityError> {
        let stage = std::mem::replace(&mut self.stage, Verifying::Over);
        let Leg { turn, kind, level, token } = Leg::from_wire(leg)?;
        let (wanted, context) = match (stage, turn, level) {
            (Verifying::Begin, Turn::Begin, Some(level)) => {
                if level < self.least {
                    return Err(SecurityError::Level(level as u8));
                }
                ((kind, level), self.acceptor.accept(kind, CONTEXT_LEVEL)?)
            }
            (Verifying::Tokens(wanted, context), Turn::Token, _) => (wanted, context),
            (Verifying::Made((kind, level), context), Turn::Seal, _) => {
                self.said.check(&*context, CLIENT_SEAL, token)?;
                self.said.legs.extend(leg);
                let principal = Arc::new(context.principal().ok_or(SecurityError::NotReady)?.clone());
                let seal = self.said.seal(&*context, SERVER_SEAL)?;
                let guard = self.said.guard(&*context, Side::Server, level)?;
                let proved = Some(Authenticated { principal, kind, level });
                return Ok(Verdict { answer: Leg::new(Turn::Seal, &seal).to_wire(), proved, guard });
            }
            _ => return Err(SecurityError::Token("a leg of a proof comes out of turn")),
        };
        self.said.legs.extend(leg);
        self.step(wanted, context, token)
    }

    /// Takes the context a step further.
    fn step(
        &mut self,
        wanted: Wanted,
        mut context: Box<dyn SecurityContext>,
        token: &[u8],
    ) -> Result<Verdict, SecurityError> {
        let Step { token, is_done } = context.step(token)?;
        let turn = if is_done { Turn::Made } else { Turn::Token };
        let answer = Leg::new(turn, &token).to_wire();
        self.said.legs.extend(&answer);
        self.stage = if is_done { Verifying::Made(wanted, context) } else { Verifying::Tokens(wanted, context) };
        Ok(Verdict { answer, proved: None, guard: None })
    }
}

#[cfg(test)]
mod tests;
