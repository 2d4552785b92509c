//! Events: calls of the objects (sinks) that clients have registered, by COM's connection points.
//!
//! An object with events has a [`ConnectionPoint`] for each interface that it calls, and implements
//! IConnectionPointContainer by [`ConnectionPoints`]:
//!
//! ```ignore
//! #[obvia::object(ITicker, IConnectionPointContainer)]
//! struct Ticker { prices: ConnectionPoint<IPriceEvents> }
//!
//! impl ConnectionPoints for Ticker_Impl {
//!     fn connection_points(&self) -> Vec<&dyn AnyPoint> { vec![&self.prices] }
//! }
//!
//! ticker.prices.fire(|sink| sink.OnPrice(name, price));
//! ```
//!
//! A client passes an object with the interface, a *sink*, which is called while the client keeps
//! the [`Connection`]:
//!
//! ```ignore
//! let connection = obvia::events::advise(&ticker, &IPriceEvents::from(Printer))?;
//! ```

pub(crate) mod connection;
mod enumerators;
pub(crate) mod objects;
mod point;
pub(crate) mod sinks;

/// The code that the compiler generates from `ocidl.idl`. Code that is generated from other files,
/// if they import `ocidl.idl`, refers to this module.
#[doc(hidden)]
pub use crate::marshal::own_idl::events as idl;
pub use connection::{Connection, advise};
pub use idl::{
    CONNECTDATA, IConnectionPoint, IConnectionPoint_Impl, IConnectionPointContainer, IConnectionPointContainer_Impl,
    IEnumConnectionPoints, IEnumConnections,
};
pub use objects::ConnectionPoints;
pub use point::{AnyPoint, ConnectionPoint};
pub use sinks::Limits;

// The tests do not run under Miri, whose experimental borrowing rules reject the objects of
// windows-core.
#[cfg(all(test, not(miri)))]
mod tests;
