//! Events: objects that call others which asked for it, by COM's connection points.
//!
//! An object that tells of events has a [`ConnectionPoint`] for each interface that it calls, and IConnectionPointContainer by
//! [`ConnectionPoints`]:
//!
//! ```ignore
//! #[implement(ITicker, IConnectionPointContainer)]
//! struct Ticker { prices: ConnectionPoint<IPriceEvents> }
//!
//! impl ConnectionPoints for Ticker_Impl {
//!     fn connection_points(&self) -> Vec<&dyn AnyPoint> { vec![&self.prices] }
//! }
//!
//! ticker.prices.fire(|sink| sink.OnPrice(name, price));
//! ```
//!
//! Whoever wants them gives it an object that has the interface, a *sink*, and is called for as long as it keeps the [`Connection`]:
//!
//! ```ignore
//! let connection = obvia::events::advise(&ticker, &IPriceEvents::from(Printer))?;
//! ```

pub(crate) mod connection;
mod enumerators;
pub(crate) mod objects;
mod point;
pub(crate) mod sinks;

pub use connection::{Connection, advise};
pub use idl::{
    CONNECTDATA, IConnectionPoint, IConnectionPoint_Impl, IConnectionPointContainer, IConnectionPointContainer_Impl,
    IEnumConnectionPoints, IEnumConnections,
};
pub use objects::ConnectionPoints;
pub use point::{AnyPoint, ConnectionPoint, Limits};

crate::include_idl! {
    /// What the compiler writes of `ocidl.idl`, which the code of files that import it refers to.
    #[doc(hidden)]
    pub mod idl = "ocidl"
}

// Objects of windows-core's break Miri's experimental rules of borrowing.
#[cfg(all(test, not(miri)))]
mod tests;
