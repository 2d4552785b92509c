//! Relays between windows and associations: calls that proxies and stubs see as messages in memory go as the standard's units.
//!
//! A message of a window says whom it is for by a number, and how it ended by its header. Units say the first by a presentation
//! context and an object UUID, the second by a fault, or by the last four bytes of a response's stub data. Arguments and results are laid out in the
//! transfer syntax of the context.

mod client;
pub(crate) mod exchange;
mod server;
pub(crate) mod translation;

pub use client::client;
pub use server::server;
pub use translation::{octets, put_octets};

use super::pdu::{Context, Outcome};
use super::{AssociationError, IncomingCall, Input, Limits};
use crate::octets::ByteOrder;
use crate::security::Authenticated;
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};
use crate::vi_call::{TargetId, Words};
use obvia_ndr::ndr::Plan;
use obvia_via::stream::Stream;
use obvia_via::window::{Options, Window};
use obvia_via::{Deadline, Error as ViError};
use std::fmt;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What relays have to know of an interface.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// What its messages are like.
    pub form: Form,
    /// What is said beside the arguments and results of calls, if it is an interface of objects. One of functions has no opnums for
    /// IUnknown's methods, and no HRESULTs.
    pub objects: Option<&'static dyn CallHeaders>,
}

/// What the messages of an interface are like.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Frames, in FLAT and nothing else.
    Frames,
    /// Frames, and this in the standard's transfer syntaxes.
    Planned(&'static Plan),
    /// Stub data in NDR that is written and read by hand: frames have it as [octets](put_octets).
    Octets,
}

/// ORPCTHIS and ORPCTHAT (MS-DCOM 2.2.13): what stands before the parameters and the results of calls of objects, in the standard's transfer
/// syntaxes. Each is called by the thread that makes the call or performs it.
pub trait CallHeaders: Send + Sync + fmt::Debug {
    /// Appends what stands before a request's parameters.
    fn write_request(&self, stub: &mut Vec<u8>);
    /// Reads that. Returns its length in bytes.
    ///
    /// # Errors
    ///
    /// The status of the fault that is the answer.
    fn read_request(&self, order: ByteOrder, stub: &[u8]) -> Result<usize, Status>;
    /// How many bytes the context of a request in FLAT has, a multiple of 8; 0 where the caller has said nothing.
    fn context_length(&self) -> usize;
    /// Writes the context, into as many bytes.
    fn write_context(&self, context: &mut [u8]);
    /// Reads the context of a request in FLAT.
    ///
    /// # Errors
    ///
    /// The status of the fault that is the answer.
    fn read_context(&self, context: &[u8]) -> Result<(), Status>;
    /// The call whose request was read last waits for no response.
    fn forget(&self);
    /// The call whose request was read last has ended without [`Self::write_response`], on the thread that performed it.
    fn end(&self);
    /// Appends what stands before a response's results, of a method that returned this. Where it failed, and its server says why, with words.
    fn write_response(&self, result: u32, words: Option<Words>, stub: &mut Vec<u8>);
    /// Reads that, of stub data that may end anywhere. Returns its length in bytes, and words if there are any.
    ///
    /// # Errors
    ///
    /// What the caller is told instead of results.
    fn read_response(&self, order: ByteOrder, stub: &[u8]) -> Result<(usize, Option<Words>), Status>;
}

/// How units name the target of a call.
#[derive(Clone, Debug)]
pub struct Route {
    /// Which object.
    pub object: Option<Uuid>,
    /// Its interface's name.
    pub syntax: SyntaxId,
    /// Its interface.
    pub interface: Interface,
    /// The transfer syntaxes that calls of it may go in, the best first, and whatever else a context is to propose.
    pub transfers: Vec<SyntaxId>,
}

/// What a client knows about the targets of its calls.
pub trait Routes: Send + Sync + fmt::Debug {
    /// How units name a target; `None` for one that there is not.
    fn find(&self, target: TargetId) -> Option<Route>;
    /// The interface whose calls settle, between processes of this program's, what binds do, where units have no contexts.
    fn settler(&self) -> SyntaxId;
    /// The association group of all associations with the server; 0 as long as there is none.
    fn group(&self) -> &AtomicU32;
}

/// What a server has to say about what its client asks for.
pub trait Interfaces: Send + Sync + fmt::Debug {
    /// What becomes of a context that the client proposes.
    fn judge(&self, context: &Context) -> Outcome;
    /// Whom a request is for that is made in a context of this interface, by this caller where it has been authenticated. What is found is
    /// remembered.
    ///
    /// # Errors
    ///
    /// The status of the fault that is the answer.
    fn find(
        &self,
        object: Option<Uuid>,
        interface: SyntaxId,
        caller: Option<&Authenticated>,
    ) -> Result<(TargetId, Interface), Status>;
    /// Whether the maker of a call may make it: asked of each, before anything of its arguments is looked at.
    ///
    /// # Errors
    ///
    /// The status of the fault that is the answer.
    fn admit(&self, target: TargetId, opnum: u16, caller: Option<&Authenticated>) -> Result<(), Status>;
    /// Performs a call of an interface of the runtime's own, whose stub data is written by hand: the results, in NDR little endian. `None`
    /// for all others, which have targets.
    fn perform(&self, call: &IncomingCall<'_>) -> Option<Result<Vec<u8>, Status>>;
    /// Answers a bind or an alter_context that comes as the parameters of a call of this interface, where units have no contexts. `None` where
    /// that settles nothing.
    fn settle(&self, interface: SyntaxId, bind: &[u8]) -> Option<Vec<u8>>;
    /// Has a thread serve a further window, by which another call of the association is taken while all others are busy.
    fn serve(self: Arc<Self>, lane: Window, attribution: Attribution);
}

/// Who made the call that a window of an association has brought last: different calls may have different makers.
#[derive(Clone, Debug, Default)]
pub struct Attribution(Arc<Mutex<Option<Authenticated>>>);

impl Attribution {
    /// Who made the call, if its maker has been authenticated.
    pub fn maker(&self) -> Option<Authenticated> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, maker: Option<Authenticated>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = maker;
    }
}

/// How long a peer may take to read what it is sent, and a server to accept a context.
const PATIENCE: Duration = Duration::from_secs(10);

fn limits(options: &Options) -> Limits {
    // Stub data is longer than its frame by a few bytes in FLAT, and by as much again at most in NDR64.
    Limits { message_max: options.max_frame.saturating_mul(2), ..Limits::default() }
}

fn over(error: AssociationError) -> ViError {
    ViError::Relay { source: Box::new(error) }
}

/// Waits until there may be something to receive. False when the time is over, or the thread is wanted for something else.
fn wait(stream: &Stream, span: Duration) -> Result<bool, ViError> {
    match stream.wait(Deadline::Within(span).start()) {
        Ok(()) => Ok(true),
        Err(ViError::TimedOut | ViError::Cancelled) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Takes what there is to receive. Whether there was something.
fn fill(stream: &Stream, input: &mut Input) -> Result<bool, ViError> {
    match stream.receive(input.room(), Deadline::Within(Duration::ZERO)) {
        Ok(count) => {
            input.filled(count);
            Ok(true)
        }
        Err(ViError::TimedOut) => Ok(false),
        Err(error) => Err(error),
    }
}
