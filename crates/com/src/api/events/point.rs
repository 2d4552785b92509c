//! The sources' side of connection points.

use super::sinks::{Limits, Point};
use crate::types::error::Result;
use crate::types::registry::Remote;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use windows_core::IUnknown;

/// A connection point: the sinks for one interface's events. Clones refer to the same connection
/// point, and any thread may use them.
pub struct ConnectionPoint<I: Remote> {
    point: Arc<Point>,
    interface: PhantomData<fn(&I)>,
}

impl<I: Remote> ConnectionPoint<I> {
    /// Makes a connection point without sinks.
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    /// Makes a connection point without sinks, with these limits.
    pub fn with_limits(limits: Limits) -> Self {
        Self { point: Point::new(I::INFO, limits), interface: PhantomData }
    }

    /// Connects a sink, which is called from now on. Returns the cookie for ending the connection.
    ///
    /// # Errors
    ///
    /// CONNECT_E_CANNOTCONNECT for an object that lacks the interface, or that belongs to a thread;
    /// CONNECT_E_ADVISELIMIT when there are too many sinks; the error of the query if an object of
    /// another process cannot be queried.
    pub fn advise(&self, sink: &I) -> Result<u32> {
        self.point.advise(&sink.cast()?)
    }

    /// Ends a connection: no further call of the sink begins. A call that is in progress may still
    /// run.
    ///
    /// # Errors
    ///
    /// CONNECT_E_NOCONNECTION for an unknown cookie.
    pub fn unadvise(&self, cookie: u32) -> Result<()> {
        self.point.unadvise(cookie)
    }

    /// Returns the number of connected sinks.
    pub fn sinks(&self) -> usize {
        self.point.count()
    }

    /// Calls every connected sink in turn, on this thread. Returns the number of sinks whose method
    /// succeeded; failures of the method have no effect on the source.
    ///
    /// Each call has a time limit of its own. A sink is disconnected if its process or object is
    /// gone, or if the sink has repeatedly not answered in time. No lock is held during the calls:
    /// any thread, including the sinks, may connect and disconnect sinks.
    pub fn fire(&self, event: impl Fn(&I) -> Result<()>) -> usize {
        self.point.fire(&|sink| event(typed(sink)))
    }

    /// Calls every connected sink as [`fire`](Self::fire) does, but without waiting: each sink has
    /// a queue, and a thread that calls the sink while the queue has events. Posted events reach a
    /// sink in order. Returns the number of sinks that lost an event: a full queue drops its oldest
    /// event, and a sink for which the system starts no thread loses all queued events.
    pub fn post(&self, event: impl Fn(&I) -> Result<()> + Send + Sync + 'static) -> usize {
        self.point.post(&(Arc::new(move |sink: &IUnknown| event(typed(sink))) as _))
    }
}

/// Returns a sink's pointer with the type of its interface.
fn typed<I: Remote>(pointer: &IUnknown) -> &I {
    // SAFETY: an interface's type is a transparent wrapper of a pointer, as IUnknown is, and the
    // pointer was queried by the interface's IID.
    unsafe { &*std::ptr::from_ref(pointer).cast() }
}

impl<I: Remote> Clone for ConnectionPoint<I> {
    fn clone(&self) -> Self {
        Self { point: Arc::clone(&self.point), interface: PhantomData }
    }
}

impl<I: Remote> Default for ConnectionPoint<I> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Remote> fmt::Debug for ConnectionPoint<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionPoint")
            .field("interface", &self.point.info.name)
            .field("sinks", &self.sinks())
            .finish()
    }
}

mod sealed {
    pub trait Sealed {
        fn point(&self) -> &std::sync::Arc<super::Point>;
    }
}

/// A [`ConnectionPoint`] of any interface.
pub trait AnyPoint: sealed::Sealed {}

impl<I: Remote> sealed::Sealed for ConnectionPoint<I> {
    fn point(&self) -> &Arc<Point> {
        &self.point
    }
}

impl<I: Remote> AnyPoint for ConnectionPoint<I> {}
