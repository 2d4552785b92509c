//! An object that is marshaled by value. The object never changes, so a copy is as good as the
//! object itself.

use crate::{IPoint, IPoint_Impl};
use obvia::marshaling::{IMarshal, Marshaler, Passing, UnmarshalerRegistration, register_unmarshaler};
use obvia::{GUID, IUnknown, Result, code};

/// The class of the unmarshaler, which creates the copies.
const CLASS: GUID = GUID::from_u128(0xa2f4_d0c6_7d35_4f0e_9d5b_6c1c_5e7b_1210);

/// A place, given by two coordinates.
#[obvia::object(IPoint, IMarshal)]
pub struct Point {
    /// The coordinate to the east.
    pub x: f64,
    /// The coordinate to the north.
    pub y: f64,
}

impl IPoint_Impl for Point_Impl {
    fn Where(&self) -> Result<(f64, f64)> {
        Ok((self.x, self.y))
    }

    fn Process(&self) -> Result<u32> {
        Ok(std::process::id())
    }
}

impl Marshaler for Point_Impl {
    fn class(&self, _: &Passing) -> Result<GUID> {
        Ok(CLASS)
    }

    fn marshal(&self, _: &Passing) -> Result<Vec<u8>> {
        Ok([self.x.to_le_bytes(), self.y.to_le_bytes()].concat())
    }

    fn unmarshal(&self, data: &[u8]) -> Result<IUnknown> {
        let (x, y) = data.split_first_chunk().ok_or(code::RPC_E_INVALID_DATA)?;
        let y = y.try_into().map_err(|_| code::RPC_E_INVALID_DATA)?;
        Ok(Point { x: f64::from_le_bytes(*x), y: f64::from_le_bytes(y) }.into())
    }
}

/// Registers the unmarshaler of points in this process.
///
/// # Errors
///
/// Fails with E_INVALIDARG if the unmarshaler is registered already.
pub fn register_point() -> Result<UnmarshalerRegistration> {
    register_unmarshaler(CLASS, || Ok(Point { x: 0.0, y: 0.0 }.into()))
}
