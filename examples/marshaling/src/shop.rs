//! The objects of the server.

use crate::cache::CLASS;
use crate::{IPoint, IShop, IShop_Impl, IStock, IStock_Impl, ITill, Point, Till, tills};
use obvia::marshaling::{self, Context, Flags, Handled, IStdMarshalInfo};
use obvia::{Agile, GUID, Result, U16CStr, U16CString, code};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

static LEFT: AtomicI32 = AtomicI32::new(0);

/// Goods of one kind.
#[obvia::object(IStock, IStdMarshalInfo)]
pub struct Stock {
    name: U16CString,
    pieces: AtomicI32,
    asked: AtomicI32,
}

impl Stock {
    /// Creates goods of which the shop has no pieces yet.
    pub fn new(name: U16CString) -> Self {
        LEFT.fetch_add(1, Ordering::SeqCst);
        Self { name, pieces: AtomicI32::new(0), asked: AtomicI32::new(0) }
    }
}

impl Drop for Stock {
    fn drop(&mut self) {
        LEFT.fetch_sub(1, Ordering::SeqCst);
    }
}

impl IStock_Impl for Stock_Impl {
    fn Name(&self) -> Result<U16CString> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Ok(self.name.clone())
    }

    fn Count(&self) -> Result<i32> {
        Ok(self.pieces.load(Ordering::SeqCst))
    }

    fn Add(&self, count: i32) -> Result<()> {
        self.pieces.fetch_add(count, Ordering::SeqCst);
        Ok(())
    }

    fn Asked(&self) -> Result<i32> {
        Ok(self.asked.load(Ordering::SeqCst))
    }
}

/// The name never changes, so a handler in the client can cache the name.
impl Handled for Stock_Impl {
    fn handler(&self, _: Context) -> Result<GUID> {
        Ok(CLASS)
    }
}

/// A shop with one kind of goods.
#[obvia::object(IShop)]
pub struct Shop {
    stock: Mutex<Agile<IStock>>,
    till: Mutex<Agile<ITill>>,
}

impl Shop {
    /// Creates a shop with goods.
    ///
    /// # Errors
    ///
    /// Fails with E_INVALIDARG if the goods are bound to a thread.
    pub fn new(stock: &IStock) -> Result<Self> {
        Ok(Self { stock: Mutex::new(Agile::new(stock)?), till: Mutex::new(Self::fresh_till()?) })
    }

    fn fresh_till() -> Result<Agile<ITill>> {
        Agile::new(&Till::new().into())
    }

    fn stock(&self) -> IStock {
        self.stock.lock().unwrap_or_else(PoisonError::into_inner).get().clone()
    }

    fn till(&self) -> ITill {
        self.till.lock().unwrap_or_else(PoisonError::into_inner).get().clone()
    }
}

impl IShop_Impl for Shop_Impl {
    fn Stock(&self) -> Result<IStock> {
        Ok(self.stock())
    }

    fn Restock(&self, name: &U16CStr) -> Result<()> {
        let fresh = Agile::new(&IStock::from(Stock::new(name.to_ucstring())))?;
        *self.stock.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
        Ok(())
    }

    fn IsIn(&self, stock: Option<&IStock>) -> Result<bool> {
        Ok(stock == Some(&self.stock()))
    }

    fn Left(&self) -> Result<i32> {
        Ok(LEFT.load(Ordering::SeqCst))
    }

    fn Write(&self, context: u32, flags: u32) -> Result<Vec<u8>> {
        let context = Context::from_number(context).ok_or(code::E_INVALIDARG)?;
        marshaling::marshal(&self.stock(), context, Flags::from_number(flags).ok_or(code::E_INVALIDARG)?)
    }

    fn Disconnect(&self) -> Result<()> {
        marshaling::disconnect(&self.stock())
    }

    fn Entrance(&self) -> Result<IPoint> {
        Ok(Point { x: 3.0, y: 4.0 }.into())
    }

    fn Distance(&self, from: Option<&IPoint>) -> Result<f64> {
        let (x, y) = from.ok_or(code::E_POINTER)?.Where()?;
        Ok((x - 3.0).hypot(y - 4.0))
    }

    fn Till(&self) -> Result<ITill> {
        Ok(self.till())
    }

    fn ChangeTill(&self) -> Result<()> {
        *self.till.lock().unwrap_or_else(PoisonError::into_inner) = Shop::fresh_till()?;
        Ok(())
    }

    fn Tills(&self) -> Result<i32> {
        Ok(tills())
    }

    fn WriteTill(&self, context: u32, flags: u32) -> Result<Vec<u8>> {
        let context = Context::from_number(context).ok_or(code::E_INVALIDARG)?;
        marshaling::marshal(&self.till(), context, Flags::from_number(flags).ok_or(code::E_INVALIDARG)?)
    }

    fn WayTo(&self, till: Option<&ITill>) -> Result<U16CString> {
        let till = till.ok_or(code::E_POINTER)?;
        till.Pay(1)?;
        Ok(U16CString::from_str_truncate(obvia::binding_of(till).unwrap_or_default()))
    }
}
