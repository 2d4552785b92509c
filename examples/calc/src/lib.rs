//! A pocket calculator: an object that another process uses.

obvia::include_idl!("calc");
