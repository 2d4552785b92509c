//! A shop whose objects are marshaled by the rules of COM: by reference, by value, with a handler
//! in the client, and by references for calls over virtual interfaces.

mod cache;
mod point;
mod shop;
mod till;

obvia::include_idl!("shop");

pub use cache::register_cache;
pub use point::{Point, register_point};
pub use shop::{Shop, Stock};
pub use till::{Till, tills};
