//! A client that prints some price changes of a ticker.

use obvia::{Error, U16CStr, code, u16cstr};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use ticker::{IPriceEvents, IPriceEvents_Impl, ITicker};

#[obvia::object(IPriceEvents)]
struct Printer(Sender<()>);

impl IPriceEvents_Impl for Printer_Impl {
    fn Changed(&self, name: &U16CStr, price: f64) -> obvia::Result<()> {
        println!("{}: {price:.2}", name.display());
        // The send fails if the receiver is gone, which does no harm.
        let _ = self.0.send(());
        Ok(())
    }
}

fn main() -> obvia::Result<()> {
    let ticker: ITicker = obvia::connect(&std::env::args().nth(1).unwrap_or_else(|| "ticker".to_owned()))?;
    let (printed, changes) = channel();
    let connection = obvia::events::advise(&ticker, &IPriceEvents::from(Printer(printed)))?;
    for _ in 0..5 {
        let change = changes.recv_timeout(Duration::from_secs(10));
        change.map_err(|_| Error::new(code::RPC_E_TIMEOUT, "no price changes"))?;
    }
    connection.unadvise()?;
    println!("now it is {:.2}", ticker.Price(u16cstr!("VIA"))?);
    Ok(())
}
