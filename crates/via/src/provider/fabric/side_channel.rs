//! Messages between the two providers of a connection: the reason for its end, signs of life, and
//! questions whether an RDMA is allowed.
//!
//! Ordinary messages of the connection would consume receive descriptors of the peer's user, so the
//! providers do not use them. A connectionless endpoint sends its messages over the socket of its
//! introduction. An endpoint with a connection sends its messages as remote completion data of
//! writes to a word of the peer's memory, which consume no receive.

use super::endpoint::{Endpoint, RemoteRange, Work};
use super::registration::Page;
use crate::error::Ended;
use crate::spi::Intent;
use crate::{MemoryHandle, RemoteAddress};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::collections::VecDeque;
use std::ffi::c_void;
use std::net::SocketAddr;

/// The way by which this side's provider and the peer's exchange messages.
#[derive(Debug)]
pub(super) enum SideChannel {
    /// The two providers exchange no messages.
    None,
    /// The introduction's socket, whose end of file also shows that the peer's process is gone.
    Socket(SocketMessages),
    /// Writes to this address in the peer's memory, and the reason that the peer gave for the end
    /// of the connection.
    Writes(RemoteRange, Option<Ended>),
}

/// The message that is a sign of life.
const ALIVE: u8 = 1;
const REASONS: [(u8, Ended); 5] = [
    (2, Ended::ByPeer),
    (3, Ended::ReceiverNotReady),
    (4, Ended::TooLong),
    (5, Ended::Protection),
    (6, Ended::Violation),
];
const QUESTION: u8 = 8;
const VERDICT: u8 = 9;
const QUESTION_LENGTH: usize = 1 + 8 + 16 + 8 + 8 + 1;
const VERDICT_LENGTH: usize = 1 + 8 + 1;
/// The maximum number of the peer's questions that this side has not answered. The peer asks one
/// question at a time.
const QUESTIONS_MAX: usize = 4;

fn code_of(why: Option<Ended>) -> u8 {
    REASONS.iter().find(|(_, reason)| Some(*reason) == why).map_or(ALIVE, |(code, _)| *code)
}

fn reason_of(code: u8) -> Option<Ended> {
    REASONS.iter().find(|(reason, _)| *reason == code).map(|(_, why)| *why)
}

/// A question to the peer whether an RDMA is allowed. Some providers do not tell the initiator when
/// they refuse an RDMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// The number of the descriptor in its queue.
    pub(super) number: u64,
    pub(super) place: RemoteAddress,
    pub(super) length: u64,
    pub(super) intent: Intent,
}

impl Question {
    fn to_bytes(self) -> [u8; QUESTION_LENGTH] {
        let mut bytes = [0; QUESTION_LENGTH];
        bytes[0] = QUESTION;
        bytes[1..9].copy_from_slice(&self.number.to_le_bytes());
        bytes[9..25].copy_from_slice(&self.place.handle.to_bytes());
        bytes[25..33].copy_from_slice(&self.place.offset.to_le_bytes());
        bytes[33..41].copy_from_slice(&self.length.to_le_bytes());
        bytes[41] = u8::from(self.intent == Intent::Read);
        bytes
    }

    fn from_bytes(bytes: &[u8; QUESTION_LENGTH]) -> Self {
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let handle = MemoryHandle::from_bytes(std::array::from_fn(|byte| bytes[9 + byte]));
        Self {
            number: number(1),
            place: RemoteAddress { handle, offset: number(25) },
            length: number(33),
            intent: if bytes[41] == 0 { Intent::Write } else { Intent::Read },
        }
    }
}

/// A socket between the providers, and the messages that arrived on it.
#[derive(Debug)]
pub(super) struct SocketMessages {
    socket: OwnedFd,
    end_reason: Option<Ended>,
    // The bytes received so far of a message that is longer than a byte.
    arriving: Vec<u8>,
    questions: VecDeque<Question>,
    verdict: Option<(u64, bool)>,
    // Whether this side's question is unanswered.
    is_asking: bool,
}

impl SocketMessages {
    pub(super) fn new(socket: OwnedFd) -> Self {
        let (arriving, questions) = (Vec::new(), VecDeque::new());
        Self { socket, end_reason: None, arriving, questions, verdict: None, is_asking: false }
    }

    fn send(&self, bytes: &[u8]) {
        // An error means that the peer is gone, or that the socket is full because the peer has not
        // read for a long time. The end of the socket shows that a peer is gone.
        let _ = rustix::net::send(&self.socket, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    }

    /// Interprets received bytes. Returns `false` if the peer asks more questions than it may.
    fn take(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            self.arriving.push(*byte);
            let wanted = match self.arriving[0] {
                QUESTION => QUESTION_LENGTH,
                VERDICT => VERDICT_LENGTH,
                code => {
                    self.end_reason = self.end_reason.or_else(|| reason_of(code));
                    1
                }
            };
            if self.arriving.len() < wanted {
                continue;
            }
            if let Ok(question) = <&[u8; QUESTION_LENGTH]>::try_from(&self.arriving[..]) {
                if self.questions.len() >= QUESTIONS_MAX {
                    return false;
                }
                self.questions.push_back(Question::from_bytes(question));
            } else if let Ok(verdict) = <&[u8; VERDICT_LENGTH]>::try_from(&self.arriving[..]) {
                let number = u64::from_le_bytes(std::array::from_fn(|byte| verdict[1 + byte]));
                self.verdict = Some((number, verdict[9] != 0));
                self.is_asking = false;
            }
            self.arriving.clear();
        }
        true
    }

    /// Reads from the socket. Returns `true` if the connection is over: the socket has ended, or
    /// the peer broke the rules.
    fn receive(&mut self) -> bool {
        let mut bytes = [0; 256];
        loop {
            match rustix::net::recv(&self.socket, &mut bytes, RecvFlags::DONTWAIT) {
                Ok((0, _)) => return true,
                Ok((count, _)) => {
                    if !self.take(&bytes[..count]) {
                        return true;
                    }
                    // The caller processes these messages before more bytes are read.
                    return false;
                }
                Err(Errno::INTR) => {}
                Err(errno) => return errno != Errno::AGAIN,
            }
        }
    }
}

impl SideChannel {
    /// Returns the socket, which is readable when the peer has sent a message.
    pub(super) fn file(&self) -> Option<&OwnedFd> {
        match self {
            Self::Socket(messages) => Some(&messages.socket),
            _ => None,
        }
    }

    /// Returns the local address of the socket, where it is an IP address.
    pub(super) fn local(&self) -> Option<String> {
        let name = rustix::net::getsockname(self.file()?).ok()?;
        Some(SocketAddr::try_from(name).ok()?.to_string())
    }

    /// Returns the peer's reason for the end of the connection, if the peer gave one.
    pub(super) fn end_reason(&self) -> Option<Ended> {
        match self {
            Self::None => None,
            Self::Socket(messages) => messages.end_reason,
            Self::Writes(_, end_reason) => *end_reason,
        }
    }

    /// Interprets the completion data of a write by the peer's provider.
    pub(super) fn take_data(&mut self, data: u64) {
        if let Self::Writes(_, end_reason) = self {
            *end_reason = end_reason.or_else(|| reason_of(u8::try_from(data).ok()?));
        }
    }

    /// Reads the peer's messages. Returns `true` if the connection is over.
    pub(super) fn receive(&mut self) -> bool {
        if let Self::Socket(messages) = self { messages.receive() } else { false }
    }

    /// Asks the peer whether an RDMA is allowed. Returns `false` where the peer cannot be asked, or
    /// while an earlier question is unanswered. A busy peer may take long to answer.
    pub(super) fn question(&mut self, question: Question) -> bool {
        let Self::Socket(messages) = self else { return false };
        if std::mem::replace(&mut messages.is_asking, true) {
            return false;
        }
        messages.verdict = None;
        messages.send(&question.to_bytes());
        true
    }

    /// Answers the peer's questions.
    pub(super) fn answer(&mut self, allowed: impl Fn(Question) -> bool) {
        let Self::Socket(messages) = self else { return };
        while let Some(question) = messages.questions.pop_front() {
            let mut bytes = [VERDICT; VERDICT_LENGTH];
            bytes[1..9].copy_from_slice(&question.number.to_le_bytes());
            bytes[9] = u8::from(allowed(question));
            messages.send(&bytes);
        }
    }

    /// Whether the peer has answered that the RDMA of this descriptor is not allowed.
    pub(super) fn is_refused(&self, number: u64) -> bool {
        matches!(self, Self::Socket(messages) if messages.verdict == Some((number, false)))
    }

    /// Writes the reason for the end, or a sign of life, to the peer's memory. Returns `false` if
    /// the write is not possible now, or this side channel does not use writes.
    ///
    /// # Safety
    ///
    /// The page and the context must stay valid until the endpoint is closed.
    pub(super) unsafe fn post_write(
        &self,
        endpoint: &Endpoint,
        page: &Page,
        why: Option<Ended>,
        context: *mut c_void,
    ) -> bool {
        let Self::Writes(to, _) = self else { return false };
        let work = Work::Write { to: *to, data: Some(u64::from(code_of(why))) };
        // SAFETY: by the caller's promise, page and context stay valid.
        unsafe { endpoint.post(work, &[page.piece()], true, context) }.unwrap_or_default()
    }

    /// Tells the peer the reason for the end, if that is possible without waiting.
    ///
    /// # Safety
    ///
    /// As [`Self::post_write`].
    pub(super) unsafe fn send_end_reason(
        &self,
        endpoint: &Endpoint,
        page: Option<&Page>,
        why: Ended,
        context: *mut c_void,
    ) {
        match (self, page) {
            (Self::Socket(messages), _) => messages.send(&[code_of(Some(why))]),
            (Self::Writes(..), Some(page)) => {
                // SAFETY: by the caller's promise, page and context stay valid.
                let _ = unsafe { self.post_write(endpoint, page, Some(why), context) };
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Question, SideChannel, SocketMessages, VERDICT};
    use crate::error::Ended;
    use crate::spi::Intent;
    use crate::{MemoryHandle, RemoteAddress};
    use std::os::unix::net::UnixStream;

    fn messages() -> SocketMessages {
        SocketMessages::new(UnixStream::pair().unwrap().0.into())
    }

    #[test]
    fn side_channel_messages_are_parsed_in_any_fragments() {
        let place = RemoteAddress { handle: MemoryHandle([u64::MAX - 3, 77]), offset: 1 << 40 };
        let question = Question { number: 12, place, length: 99, intent: Intent::Read };
        let verdict = [VERDICT, 5, 0, 0, 0, 0, 0, 0, 1, 0];
        let sent = [&[1][..], &question.to_bytes(), &verdict, &[4]].concat();
        for size in 1..sent.len() {
            let mut messages = messages();
            assert!(sent.chunks(size).all(|bytes| messages.take(bytes)));
            assert_eq!(messages.questions.make_contiguous(), [question]);
            assert_eq!((messages.verdict, messages.end_reason), (Some(((1 << 56) + 5, false)), Some(Ended::TooLong)));
        }
    }

    #[test]
    fn a_slow_peer_gets_each_side_channel_question_once() {
        let (here, there) = UnixStream::pair().unwrap();
        there.set_nonblocking(true).unwrap();
        let (mut asks, mut answers) = (
            SideChannel::Socket(SocketMessages::new(here.into())),
            SideChannel::Socket(SocketMessages::new(there.into())),
        );
        let place = RemoteAddress { handle: MemoryHandle([1, 2]), offset: 0 };
        let question = |number| Question { number, place, length: 8, intent: Intent::Write };
        for number in 0..3 {
            assert!(asks.question(question(number)));
            // While the first question is unanswered, no later question is sent, not even one about
            // the next descriptor.
            assert!((0..10).all(|later| !asks.question(question(number + later % 2))));
            assert!(!answers.receive(), "no more than it may ask");
            answers.answer(|asked| asked != question(1));
            assert!(!asks.receive());
            assert_eq!(asks.is_refused(number), number == 1);
        }
    }

    #[test]
    fn too_many_side_channel_questions_are_a_violation() {
        let place = RemoteAddress { handle: MemoryHandle([0, 0]), offset: 0 };
        let question = Question { number: 0, place, length: 0, intent: Intent::Write }.to_bytes();
        let mut messages = messages();
        assert!((0..4).all(|_| messages.take(&question)));
        assert!(!messages.take(&question));
    }
}
