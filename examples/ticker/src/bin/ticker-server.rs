//! Serves a ticker under the name in the first argument, or `ticker`.

use obvia::u16cstr;
use std::time::Duration;
use ticker::{ITicker, Ticker};

fn main() -> obvia::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "ticker".to_owned());
    let ticker = ITicker::from(Ticker::default());
    let _export = obvia::export(&name, ticker.clone())?;
    println!("serving {name}");
    // The price of the only share is a sine.
    for turn in 0_u32.. {
        ticker.Trade(u16cstr!("VIA"), 100.0 + 10.0 * (f64::from(turn) / 10.0).sin())?;
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}
