//! The marshal plan: how each parameter of a method is passed, and its place in the frames.
//!
//! The plan is the same for every language. A frame begins with a *block*, a structure of fixed
//! size. Objects follow the block: arrays, strings, and other data of variable size. A request's
//! block holds the `[in]` parameters in the order of the source, then the `[in, out]` parameters. A
//! reply's block holds the `[in, out]` parameters, then the `[out]` parameters. Each parameter has
//! its natural alignment. The data after the block are in the order of the block's members that
//! lead to them.

mod blocks;
mod here;
mod kinds;
mod layout;
mod left_out;
mod method;
pub mod ndr;
mod passing;
pub mod shapes;
mod types;
mod unsupported;
mod uses;

pub(crate) use here::{keep_here, keep_unsupported};
pub(crate) use kinds::Numbers;
pub use kinds::{Kinds, kind_of, kinds, text_kind};
pub use layout::{plan, plan_by_reference, plans};
pub(crate) use left_out::{LeftOut, Scope};
pub(crate) use method::{ENDINGS, STATICS, STATICS_OF_FILES};
pub use method::{FIRST_OPNUM, INLINE_MAX, MethodPlan, ParamPlan, Passing, stub_table_length};
pub use obvia_ndr::flat::{KIND_FIRST, KIND_INTERFACE, KIND_TEXT8, KIND_TEXT16};
pub(crate) use passing::passing;
pub use passing::{is_in_block, may_be_objects};
pub use types::{element_counts, in_place, is_any_bits, is_plain, is_scalar};
pub(crate) use types::{has_context, is_automation_wire};
pub use unsupported::refusals;
pub(crate) use unsupported::unsupported;
pub(crate) use uses::Uses;
