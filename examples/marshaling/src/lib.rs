//! A shop whose objects travel by the rules of COM: as references that are written down, as copies, with a cache in the client, and as objects that are
//! called over virtual interfaces, wherever the shop is reached.

mod cache;
mod point;
mod shop;
mod till;

obvia::include_idl!("shop");

pub use cache::register_cache;
pub use point::{Point, register_point};
pub use shop::{Shop, Stock};
pub use till::{Till, tills};
