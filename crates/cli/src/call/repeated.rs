//! A call that is prepared once and made many times, by several threads.

use super::by_name::{self, Member};
use super::{Method, Target, iids, locate, reply};
use crate::describe::Described;
use obvia::{Error, IDispatch, code, dynamic};
use obvia_idl::frames::Flaw;
use std::sync::Arc;

/// A prepared call, with its method, object and arguments.
#[derive(Clone)]
pub(crate) enum Repeated {
    /// A call by the frames of a described interface.
    ByFrames(Arc<ByFrames>),
    /// A call by the member's name.
    ByName(Arc<Target>),
}

/// A call with the frame of its request.
pub(crate) struct ByFrames {
    method: Method<'static>,
    object: dynamic::Object,
    request: Vec<u8>,
}

impl Repeated {
    /// Finds the method and its object, and lays out the arguments.
    ///
    /// # Errors
    ///
    /// The errors of the call itself, except those that the method returns.
    pub(crate) fn prepare(target: Target) -> anyhow::Result<Self> {
        if let Some(object) = by_name::object(&target)? {
            let found = Member::find(&target, object)?;
            found.map_err(|error| by_name::not_found(by_name::last(&target), &error))?;
            return Ok(Self::ByName(Arc::new(target)));
        }
        let (described, method, object) = locate(&target)?;
        // Leaked once for each command: the frames borrow the description until the process ends.
        let described: &'static Described = Box::leak(Box::new(described));
        let method = Method::new(described, method)?;
        let request = method.request(&iids(&target, &method))?;
        Ok(Self::ByFrames(Arc::new(ByFrames { method, object, request })))
    }

    /// Returns the name of the method.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::ByFrames(call) => call.method.name(),
            Self::ByName(target) => by_name::last(target).to_owned(),
        }
    }

    /// Opens a connection of this thread.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, or no longer has the member.
    pub(crate) fn connect(&self) -> obvia::Result<Connected> {
        match self {
            Self::ByFrames(call) => {
                call.object.reach()?;
                let call = Arc::clone(call);
                Ok(Connected::ByFrames { call, reply: Vec::new(), checked: Vec::new(), has_checked: false })
            }
            Self::ByName(target) => {
                let object = obvia::connect::<IDispatch>(&target.name)?;
                let found = Member::find(target, object);
                found.map_err(|error| Error::new(code::E_FAIL, format!("{error:#}")))?.map(Connected::ByName)
            }
        }
    }

    /// Asks whether the server still answers.
    ///
    /// # Errors
    ///
    /// If the server does not answer.
    pub(crate) fn probe(&self) -> obvia::Result<()> {
        match self {
            Self::ByFrames(call) => call.object.reach(),
            Self::ByName(target) => obvia::connect::<IDispatch>(&target.name).map(drop),
        }
    }
}

/// A thread's connection, over which the thread repeats the call.
pub(crate) enum Connected {
    /// A connection for calls by frames.
    ByFrames {
        /// The call.
        call: Arc<ByFrames>,
        /// The frame of the last reply.
        reply: Vec<u8>,
        /// The last reply that was checked. An equal reply needs no check.
        checked: Vec<u8>,
        /// Whether `checked` holds a reply. A reply with objects is never held, because its objects
        /// must be released each time.
        has_checked: bool,
    },
    /// A connection for calls by name.
    ByName(Member),
}

impl Connected {
    /// Makes the call, and checks its results. Objects among the results are released.
    ///
    /// # Errors
    ///
    /// If the method or the call fails, or if the reply does not match the interface.
    pub(crate) fn call(&mut self) -> obvia::Result<()> {
        match self {
            Self::ByName(member) => member.call().map(drop),
            Self::ByFrames { call, reply, checked, has_checked } => {
                let method = call.method.plan().method;
                if method.oneway {
                    return call.object.call_oneway(method.opnum, &call.request);
                }
                let result = call.object.call_into(method.opnum, &call.request, reply)?;
                if result.is_err() {
                    // A server of another implementation may return objects even though the method
                    // failed. `check` releases the objects. An error of `check` is ignored, because
                    // the HRESULT says more.
                    if !reply.is_empty() {
                        let _ = call.check(reply);
                    }
                    return Err(result.into());
                }
                if *has_checked && reply == checked {
                    return Ok(());
                }
                *has_checked = !call.check(reply)?;
                std::mem::swap(reply, checked);
                Ok(())
            }
        }
    }
}

impl ByFrames {
    /// Checks the frame of a reply, and releases the objects in it. Returns whether there are any.
    fn check(&self, reply: &[u8]) -> obvia::Result<bool> {
        let frames = &self.method.frames;
        let outer = |index: usize| frames.number(&self.request, index);
        let wrong = |flaw: Flaw| {
            let text = format!("{}: the reply does not match the interface: {flaw}", self.method.name());
            Error::new(code::RPC_E_INVALID_DATA, text)
        };
        let found = frames.check(false, reply, &outer).map_err(wrong)?;
        let has_objects = found.slots.iter().any(|slot| slot.iid.is_some());
        if has_objects {
            // Dropping the results releases the objects in them.
            drop(reply::results(&self.method, &self.object, &self.request, reply).map_err(wrong)?);
        }
        Ok(has_objects)
    }
}
