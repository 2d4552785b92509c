//! The clients' side of connections.

use super::idl::{IConnectionPoint, IConnectionPointContainer};
use crate::client::channels::sending;
use crate::types::agile::Agile;
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use crate::types::registry::{InterfaceInfo, Remote, register_module};
use windows_core::{IUnknown, Interface};

/// Connects a sink to an object, the source of events (AtlAdvise).
///
/// # Errors
///
/// E_NOINTERFACE for an object without connection points; CONNECT_E_NOCONNECTION when the object
/// has no connection point for the sink's interface; CONNECT_E_ADVISELIMIT or
/// CONNECT_E_CANNOTCONNECT when the object refuses the sink; otherwise as for every call.
pub fn advise<S: Interface, I: Remote>(source: &S, sink: &I) -> Result<Connection> {
    advise_by(&source.cast()?, I::INFO, &sink.cast()?)
}

/// As [`advise`], for a sink of the described interface.
///
/// # Errors
///
/// As for [`advise`].
pub fn advise_by(source: &IUnknown, info: &'static InterfaceInfo, sink: &IUnknown) -> Result<Connection> {
    register_module(info);
    let container = source.cast::<IConnectionPointContainer>().map_err(|error| {
        let error = Error::from(error);
        if error.code() == code::E_NOINTERFACE {
            return Error::new(code::E_NOINTERFACE, "the object has no connection points, so it fires no events");
        }
        error
    })?;
    let point = Agile::new(&container.FindConnectionPoint(&info.iid)?)?;
    let cookie = point.get().Advise(Some(sink))?;
    Ok(Connection { point: Some(point), cookie })
}

/// The connection of a sink to a source. The connection ends when this value is dropped. If the
/// source is gone, the connection has ended already.
#[derive(Debug)]
#[must_use = "the connection ends when this is dropped"]
pub struct Connection {
    /// The connection point; `None` after the end.
    point: Option<Agile<IConnectionPoint>>,
    cookie: u32,
}

impl Connection {
    /// Returns the number that the connection point gave the connection.
    pub fn cookie(&self) -> u32 {
        self.cookie
    }

    /// Ends the connection and returns the result (AtlUnadvise).
    ///
    /// # Errors
    ///
    /// CONNECT_E_NOCONNECTION if the source has ended the connection before; otherwise as for every
    /// call. If the deadline passes before the call is sent, the function makes the call once more,
    /// for at most five seconds. It then returns RPC_E_TIMEOUT even if the second call succeeds.
    pub fn unadvise(mut self) -> Result<()> {
        let Some(point) = self.point.take() else { return Ok(()) };
        let (ended, is_unsent) = sending(|| point.get().Unadvise(self.cookie));
        if is_unsent && ended.as_ref().is_err_and(|error| error.code() == code::RPC_E_TIMEOUT) {
            // The call was not sent, so the drop of this value makes it again. A call that was sent
            // is not repeated, because the source may have given the cookie to another sink.
            self.point = Some(point);
        }
        ended
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(point) = self.point.take() {
            // The drop ignores errors; `unadvise` reports them.
            let _ = deadline::to_clean_up(|| point.get().Unadvise(self.cookie));
        }
    }
}
