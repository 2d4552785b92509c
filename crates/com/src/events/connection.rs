//! Connections as those have them who are called.

use super::idl::{IConnectionPoint, IConnectionPointContainer};
use crate::agile::Agile;
use crate::error::{Error, Result, code};
use crate::registry::{InterfaceInfo, Remote, register_module};
use crate::thread::with_timeout;
use std::time::Duration;
use windows_core::{IUnknown, Interface};

/// How long the end of a connection may take, where nobody says otherwise.
const END_TIMEOUT: Duration = Duration::from_secs(5);

/// Has a sink called when an object, the source, tells of events (AtlAdvise).
///
/// # Errors
///
/// E_NOINTERFACE for an object without connection points; CONNECT_E_NOCONNECTION when it has none for the sink's interface; why it
/// takes no further sink; otherwise as for every call.
pub fn advise<S: Interface, I: Remote>(source: &S, sink: &I) -> Result<Connection> {
    advise_by(&source.cast()?, I::INFO, &sink.cast()?)
}

/// As [`advise`], for a sink of the interface described.
///
/// # Errors
///
/// As for [`advise`].
pub fn advise_by(source: &IUnknown, info: &'static InterfaceInfo, sink: &IUnknown) -> Result<Connection> {
    register_module(info);
    let container = source.cast::<IConnectionPointContainer>().map_err(|error| {
        let error = Error::from(error);
        if error.code() == code::E_NOINTERFACE {
            return Error::new(code::E_NOINTERFACE, "the object has no connection points: it tells of no events");
        }
        error
    })?;
    let point = Agile::new(&container.FindConnectionPoint(&info.iid)?)?;
    let cookie = point.get().Advise(Some(sink))?;
    Ok(Connection { point: Some(point), cookie })
}

/// A sink's connection with a source, which ends with this value. When the source is gone, there is nothing to end.
#[derive(Debug)]
#[must_use = "the connection ends at once when nobody keeps it"]
pub struct Connection {
    /// Until it has ended.
    point: Option<Agile<IConnectionPoint>>,
    cookie: u32,
}

impl Connection {
    /// The number that the connection point knows it by.
    pub fn cookie(&self) -> u32 {
        self.cookie
    }

    /// Ends the connection, and says whether that came about (AtlUnadvise).
    ///
    /// # Errors
    ///
    /// CONNECT_E_NOCONNECTION where the source has ended it before; otherwise as for every call.
    pub fn unadvise(mut self) -> Result<()> {
        self.point.take().map_or(Ok(()), |point| point.get().Unadvise(self.cookie))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(point) = self.point.take() {
            // Whoever wants to know why calls `unadvise`.
            let _ = with_timeout(END_TIMEOUT, || point.get().Unadvise(self.cookie));
        }
    }
}
