//! Exports an object under the name in the first argument, until its input ends.

use soundness::{IValues, Values};
use std::io::Read;

fn main() -> obvia::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let object: IValues = Values.into();
    let _export = obvia::export(&name, object)?;
    println!("ready");
    let _ = std::io::stdin().read(&mut [0]);
    Ok(())
}
