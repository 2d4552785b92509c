//! Connection points as objects have them.

use super::sinks::Point;
use crate::error::Result;
use crate::registry::Remote;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;
use windows_core::IUnknown;

/// How much a connection point takes upon itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many sinks there may be; the next one is CONNECT_E_ADVISELIMIT. 1024.
    pub sinks: usize,
    /// How long a sink may take for one event. 5 seconds.
    pub timeout: Duration,
    /// How many events in a row a sink may fail to answer in time until its connection ends. 3.
    pub unanswered: u32,
    /// How many [posted](ConnectionPoint::post) events may wait for a sink; where there would be more, it loses the oldest. 256.
    pub queued: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { sinks: 1024, timeout: Duration::from_secs(5), unanswered: 3, queued: 256 }
    }
}

/// The sinks for one interface's events, and the way to call them. Copies are the same connection point, and any thread may use them.
pub struct ConnectionPoint<I: Remote> {
    point: Arc<Point>,
    interface: PhantomData<fn(&I)>,
}

impl<I: Remote> ConnectionPoint<I> {
    /// A connection point without sinks.
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    /// The same, with other limits.
    pub fn with_limits(limits: Limits) -> Self {
        Self { point: Point::new(I::INFO, limits), interface: PhantomData }
    }

    /// Connects a sink: it is called from now on. Returns the cookie by which the connection is ended.
    ///
    /// # Errors
    ///
    /// CONNECT_E_CANNOTCONNECT for an object that lacks the interface, or that belongs to a thread; CONNECT_E_ADVISELIMIT when there are
    /// too many; as for every call when the object is in another process, and cannot be asked.
    pub fn advise(&self, sink: &I) -> Result<u32> {
        self.point.advise(&sink.cast()?)
    }

    /// Ends a connection: no further call of the sink begins. One that is under way may still run.
    ///
    /// # Errors
    ///
    /// CONNECT_E_NOCONNECTION where there is none by this cookie.
    pub fn unadvise(&self, cookie: u32) -> Result<()> {
        self.point.unadvise(cookie)
    }

    /// How many sinks are connected.
    pub fn sinks(&self) -> usize {
        self.point.count()
    }

    /// Calls every sink that is connected now, one after the other, on this thread. Returns how many took it: an event whose method fails
    /// is the sink's own affair.
    ///
    /// Each call has a time limit of its own. A sink whose process or object is gone is disconnected, and so is one that has not answered in
    /// time too often. Nothing is locked meanwhile: sinks may connect and disconnect any, themselves too, by any thread.
    pub fn fire(&self, event: impl Fn(&I) -> Result<()>) -> usize {
        self.point.fire(&|sink| event(typed(sink)))
    }

    /// Has every sink that is connected now called as by [`fire`](Self::fire), but does not wait for it: each sink has a queue, and a thread that
    /// calls it while there is something in it. Posted events reach a sink in their order. Returns how many sinks lost an event: where a
    /// queue is full, its oldest makes room.
    pub fn post(&self, event: impl Fn(&I) -> Result<()> + Send + Sync + 'static) -> usize {
        self.point.post(&(Arc::new(move |sink: &IUnknown| event(typed(sink))) as _))
    }
}

/// A sink's pointer as one to its interface.
fn typed<I: Remote>(pointer: &IUnknown) -> &I {
    // SAFETY: an interface's type is transparent around a pointer, as IUnknown's is, and this one was asked for by the interface's IID.
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

/// A [`ConnectionPoint`], whatever its interface.
pub trait AnyPoint: sealed::Sealed {}

impl<I: Remote> sealed::Sealed for ConnectionPoint<I> {
    fn point(&self) -> &Arc<Point> {
        &self.point
    }
}

impl<I: Remote> AnyPoint for ConnectionPoint<I> {}
