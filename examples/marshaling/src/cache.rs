//! The handler of goods in a client, which caches their name and forwards all other calls.

use crate::{IStock, IStock_Impl};
use obvia::marshaling::{HandlerRegistration, register_handler};
use obvia::{Agile, GUID, Interface, Result, U16CString};
use std::sync::OnceLock;

/// The class of the handlers.
pub(crate) const CLASS: GUID = GUID::from_u128(0xa2f4_d0c6_7d35_4f0e_9d5b_6c1c_5e7b_1211);

#[obvia::object(IStock)]
struct Cache {
    stock: Agile<IStock>,
    name: OnceLock<U16CString>,
}

impl IStock_Impl for Cache_Impl {
    fn Name(&self) -> Result<U16CString> {
        if let Some(name) = self.name.get() {
            return Ok(name.clone());
        }
        // Two threads may fetch the name at once. Both get the same name.
        let name = self.stock.get().Name()?;
        Ok(self.name.get_or_init(|| name).clone())
    }

    fn Count(&self) -> Result<i32> {
        self.stock.get().Count()
    }

    fn Add(&self, count: i32) -> Result<()> {
        self.stock.get().Add(count)
    }

    fn Asked(&self) -> Result<i32> {
        self.stock.get().Asked()
    }
}

/// Registers the handler that caches the names of goods in this process.
///
/// # Errors
///
/// Fails with E_INVALIDARG if the handler is registered already.
pub fn register_cache() -> Result<HandlerRegistration> {
    register_handler(CLASS, |proxy| {
        let stock = Agile::new(&proxy.cast::<IStock>()?)?;
        Ok(Cache { stock, name: OnceLock::new() }.into())
    })
}
