//! Relays between windows and associations. The messages of proxies and stubs in a window travel as
//! the standard's units.
//!
//! In a window's message, a number identifies the target, and the header holds the method's return
//! value. In units, a presentation context and an object UUID identify the target. The return value
//! is the last four bytes of a response's stub data, or is expressed by a fault. Arguments and
//! results are marshalled in the context's transfer syntax.

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

/// The properties of an interface that relays need.
#[derive(Clone, Copy, Debug)]
pub struct Interface {
    /// The format of the interface's messages.
    pub form: Form,
    /// The ORPC headers of calls, for an interface of objects. An interface of functions has no
    /// opnums for IUnknown's methods and no HRESULTs.
    pub objects: Option<&'static dyn CallHeaders>,
}

/// The format of an interface's messages.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Frames, with FLAT as the only transfer syntax.
    Frames,
    /// Frames, which this plan translates for the standard's transfer syntaxes.
    Planned(&'static Plan),
    /// NDR stub data that is marshalled by hand: frames contain it as [octets](put_octets).
    Octets,
}

/// ORPCTHIS and ORPCTHAT (MS-DCOM 2.2.13): the headers before the parameters and results of object
/// calls in the standard's transfer syntaxes. A relay calls the methods of this trait on the thread
/// that makes or executes the call.
pub trait CallHeaders: Send + Sync + fmt::Debug {
    /// Appends the header of a request.
    fn write_request(&self, stub: &mut Vec<u8>);
    /// Reads the header of a request. Returns the header's length in bytes.
    ///
    /// # Errors
    ///
    /// The status of the fault for the caller.
    fn read_request(&self, order: ByteOrder, stub: &[u8]) -> Result<usize, Status>;
    /// Returns the length in bytes of the context that a request in FLAT will carry, a multiple of
    /// 8; 0 if there is no context.
    fn context_length(&self) -> usize;
    /// Writes the context of a request in FLAT to `context`, which has exactly its length.
    fn write_context(&self, context: &mut [u8]);
    /// Reads the context of a request in FLAT.
    ///
    /// # Errors
    ///
    /// The status of the fault for the caller.
    fn read_context(&self, context: &[u8]) -> Result<(), Status>;
    /// Tells the implementation that the call whose request was read last has no response.
    fn forget(&self);
    /// Tells the implementation that the call whose request was read last has ended without
    /// [`Self::write_response`]. The relay calls this method on the thread that executed the call.
    fn end(&self);
    /// Appends the header of a response. `result` is the method's return value; `words` is the
    /// error information of a failed method, if its server has provided any.
    fn write_response(&self, result: u32, words: Option<Words>, stub: &mut Vec<u8>);
    /// Reads the header of a response. The stub data may be truncated. Returns the header's length
    /// in bytes, and the error information if there is any.
    ///
    /// # Errors
    ///
    /// The status that the caller gets instead of results.
    fn read_response(&self, order: ByteOrder, stub: &[u8]) -> Result<(usize, Option<Words>), Status>;
}

/// The address of a call's target in units.
#[derive(Clone, Debug)]
pub struct Route {
    /// The object's UUID.
    pub object: Option<Uuid>,
    /// The interface's syntax identifier.
    pub syntax: SyntaxId,
    /// The interface.
    pub interface: Interface,
    /// The transfer syntaxes to propose, the most preferred first. Identifiers that only inform the
    /// server, such as a fingerprint of the interface, come last.
    pub transfers: Vec<SyntaxId>,
}

/// The targets that a client can call.
pub trait Routes: Send + Sync + fmt::Debug {
    /// Returns the address of a target in units, or `None` for an unknown target.
    fn find(&self, target: TargetId) -> Option<Route>;
    /// Returns the interface for binds in a protocol whose units have no contexts: the client sends
    /// a bind as a call of this interface. Only obvia processes have the interface.
    fn bind_interface(&self) -> SyntaxId;
    /// Returns the group that all associations with the server join; 0 as long as there is none.
    fn group(&self) -> &AtomicU32;
}

/// A server's decisions about the requests of its clients.
pub trait Interfaces: Send + Sync + fmt::Debug {
    /// Returns the outcome of a proposed context.
    fn judge(&self, context: &Context) -> Outcome;
    /// Returns the target of a request by `caller`, and the properties of the interface. The relay
    /// caches the result.
    ///
    /// # Errors
    ///
    /// The status of the fault for the caller.
    fn find(
        &self,
        object: Option<Uuid>,
        interface: SyntaxId,
        caller: Option<&Authenticated>,
    ) -> Result<(TargetId, Interface), Status>;
    /// Checks whether the caller may make a call. The relay checks every call before it reads the
    /// arguments.
    ///
    /// # Errors
    ///
    /// The status of the fault for the caller.
    fn admit(&self, target: TargetId, opnum: u16, caller: Option<&Authenticated>) -> Result<(), Status>;
    /// Executes a call on one of the runtime's own interfaces, whose stub data is marshalled by
    /// hand. Returns the results in NDR little endian, or `None` for all other interfaces, which
    /// have targets.
    ///
    /// # Errors
    ///
    /// The status of the fault for the caller. If [`Status::is_before_arguments`] holds, the status
    /// tells the client that the call did not run.
    fn perform(&self, call: &IncomingCall<'_>) -> Option<Result<Vec<u8>, Status>>;
    /// Answers a bind or an alter_context that arrives as the parameters of a call on `interface`,
    /// in a protocol whose units have no contexts. Returns `None` if calls on this interface are
    /// not binds.
    fn answer_bind(&self, interface: SyntaxId, bind: &[u8]) -> Option<Vec<u8>>;
    /// Whether the server can forget the client without harm: the client has not begun to introduce
    /// itself, and the server keeps no state for it.
    fn is_dispensable(&self) -> bool;
    /// Tells the implementation that the calling thread, which serves a window, performs no call
    /// now. The implementation can free memory that the thread's last call has used.
    fn rest(&self) {}
    /// Starts a thread that serves a further window, which takes calls of the association while all
    /// other windows are busy.
    fn serve(self: Arc<Self>, lane: Window, attribution: Attribution);
}

/// The caller of the call that a window of an association delivered last. Calls of one association
/// may have different callers.
#[derive(Clone, Debug, Default)]
pub struct Attribution(Arc<Mutex<Option<Authenticated>>>);

impl Attribution {
    /// Returns the caller, if it was authenticated.
    pub fn maker(&self) -> Option<Authenticated> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, maker: Option<Authenticated>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = maker;
    }
}

/// The longest wait for a peer to read sent bytes, and for a server to answer a proposal of
/// contexts.
const PEER_TIMEOUT: Duration = Duration::from_secs(10);

fn limits(options: &Options) -> Limits {
    // Stub data in FLAT is a few bytes longer than its frame. Stub data in NDR64 is at most twice
    // as long.
    Limits { message_max: options.max_frame.saturating_mul(2), ..Limits::default() }
}

fn over(error: AssociationError) -> ViError {
    ViError::Relay { source: Box::new(error) }
}

/// Waits until the stream may be readable. Returns false after a timeout or an interruption.
fn wait(stream: &Stream, span: Duration) -> Result<bool, ViError> {
    match stream.wait(Deadline::Within(span).start()) {
        Ok(()) => Ok(true),
        Err(ViError::TimedOut | ViError::Cancelled) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The maximum number of successive receptions without a message for the receiving thread. After
/// this number, the thread checks its deadline and its interrupts again. Otherwise a peer could
/// keep the thread busy with units for which no thread waits.
const FILLS_MAX: usize = 1024;

/// Receives the available bytes without waiting. Returns whether there were any.
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
