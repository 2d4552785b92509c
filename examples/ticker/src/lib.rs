//! A ticker with a connection point, by which it notifies its subscribers.

obvia::include_idl!("ticker");

use obvia::events::{AnyPoint, ConnectionPoint, ConnectionPoints, IConnectionPointContainer};
use obvia::{Error, U16CStr, U16CString, code};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A ticker, which stores prices and notifies the subscribers of changes.
#[obvia::object(ITicker, IConnectionPointContainer)]
#[derive(Default)]
pub struct Ticker {
    prices: Mutex<HashMap<U16CString, f64>>,
    changed: ConnectionPoint<IPriceEvents>,
}

impl ConnectionPoints for Ticker_Impl {
    fn connection_points(&self) -> Vec<&dyn AnyPoint> {
        vec![&self.changed]
    }
}

impl ITicker_Impl for Ticker_Impl {
    fn Price(&self, name: &U16CStr) -> obvia::Result<f64> {
        let prices = self.prices.lock().unwrap_or_else(PoisonError::into_inner);
        let price = prices.get(name).copied();
        price.ok_or_else(|| Error::new(code::E_INVALIDARG, format!("nobody trades {}", name.display())))
    }

    fn Trade(&self, name: &U16CStr, price: f64) -> obvia::Result<()> {
        if !price.is_finite() || price <= 0.0 {
            return Err(Error::new(code::E_INVALIDARG, format!("{price} is no price")));
        }
        let name = name.to_ucstring();
        self.prices.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), price);
        // Notifications are posted, so that trades do not wait for subscribers.
        self.changed.post(move |sink| sink.Changed(&name, price));
        Ok(())
    }
}
