//! Marshaling by COM's rules: an interface pointer as bytes, for any process that unmarshals them.
//!
//! Proxies and stubs marshal parameters and results themselves. [`marshal`] (CoMarshalInterface) is
//! for references that travel by other means: in a file, in a message of another protocol, or in a
//! table for clients. The bytes are an OBJREF (MS-DCOM 2.2.18). [`Context`] says where the bytes
//! are unmarshaled, and [`Flags`] how often.
//!
//! ```no_run
//! # use obvia::{Remote, marshaling::{self, Context, Flags}};
//! # fn example<ICalc: Remote>(calc: &ICalc) -> obvia::Result<()> {
//! let bytes = marshaling::marshal(calc, Context::Local, Flags::NORMAL)?;
//! // In another process, once:
//! let calc: ICalc = marshaling::unmarshal(&bytes)?;
//! # Ok(())
//! # }
//! ```

mod aggregated;
mod bytes;
mod specialised;

pub use crate::protocol::objref::DATA_MAX;
pub use crate::runtime::marshaling::{
    Context, Flags, Handled, HandlerRegistration, IMarshal, IMarshal_Impl, IMarshal_Vtbl, ISequentialStream,
    ISequentialStream_Impl, ISequentialStream_Vtbl, IStdMarshalInfo, IStdMarshalInfo_Impl, IStdMarshalInfo_Vtbl,
    IStream, IStream_Impl, IStream_Vtbl, Marshaler, Passing, STANDARD, UnmarshalerRegistration, register_handler,
    register_unmarshaler,
};
pub use aggregated::vi_marshaler;
pub use bytes::{disconnect, marshal, release_marshal_data, unmarshal};
pub(crate) use bytes::{marshal_object, unmarshal_object};
pub use specialised::Specialised;
