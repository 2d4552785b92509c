//! The checked model: a file's declarations, with every name resolved and every constant evaluated.
//!
//! Back ends read the model and the plans that are made of it, not the syntax. Types are stored in
//! tables and referred to by index.

pub mod automation;
mod base;
pub mod canonical;
mod declarations;
mod dispatch;
pub mod events;
mod known;
mod library;
mod measure;
mod names;
mod reach;
mod sizes;
mod tables;
pub mod typelib;
mod types;

pub use base::Base;
pub use declarations::{
    Arm, BitField, Const, Direction, Enum, Field, Interface, Method, Param, Returns, Struct, Transfer, Typedef, Union,
    Unpassed, Varying,
};
pub use dispatch::{About, Help, Kind, Member, Memory, Variant};
pub use known::Known;
pub(crate) use known::{CDeclared, CNames};
pub use library::{Coclass, Declared, DispMember, DispMembers, Dispinterface, ImportLib, Library, Offered};
pub use measure::{Measure, round_up};
pub(crate) use names::{distinct, stem};
pub(crate) use sizes::all_arms;
pub use tables::{DeclarationCounts, Model, Opaque, Unsupported};
pub use types::{
    Arith, EnumId, Extent, InterfaceId, Object, Operand, Pointer, PointerClass, StructId, Type, UnionId, Value,
};
