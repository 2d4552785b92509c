//! A pocket calculator: an object that another process uses.

obvia::include_idl!("calc");

/// The class of calculators, for clients that create one instead of connecting by a name.
pub const CALC: obvia::GUID = obvia::GUID::from_u128(0x0d4f_4c52_0a34_4ac4_8d6c_2c9f_3a1f_7a20);
