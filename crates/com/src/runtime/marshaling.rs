//! References to objects that marshal themselves, or that have handlers in clients (IMarshal and
//! IStdMarshalInfo).

pub(crate) mod custom;
mod flags;
mod handler;
mod interfaces;
pub(crate) mod received;
mod stream;
pub(crate) mod vi_reference;

pub use custom::{Marshaler, Passing, STANDARD, UnmarshalerRegistration, register_unmarshaler};
pub(crate) use custom::{marshal as marshal_custom, marshal_specialised};
pub use flags::{Context, Flags};
pub use handler::{Handled, HandlerRegistration, register_handler};
pub(crate) use handler::{class_of as handler_class_of, make as make_handler, unwrapped};
pub use interfaces::{
    IMarshal, IMarshal_Impl, IMarshal_Vtbl, ISequentialStream, ISequentialStream_Impl, ISequentialStream_Vtbl,
    IStdMarshalInfo, IStdMarshalInfo_Impl, IStdMarshalInfo_Vtbl, IStream, IStream_Impl, IStream_Vtbl,
};
pub(crate) use received::{release_custom, unmarshal_custom};
