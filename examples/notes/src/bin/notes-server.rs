//! Serves notes under a name: `notes`, or the first argument.

use notes::{INotes, Notes};

fn main() -> obvia::Result<()> {
    // From the beginning: whoever is told that it serves may tell it to end at once.
    obvia::catch_signals()?;
    let name = std::env::args().nth(1).unwrap_or_else(|| "notes".to_owned());
    let _export = obvia::export(&name, INotes::from(Notes::default()))?;
    println!("serving {name}");
    obvia::wait_for_signal()
}
