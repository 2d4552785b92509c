//! Serves notes under the name in the first argument, or `notes`.

use notes::{INotes, Notes};

fn main() -> obvia::Result<()> {
    // Catch signals before the server is announced. Once clients know the server, a signal has to
    // end the server properly.
    obvia::catch_signals()?;
    let name = std::env::args().nth(1).unwrap_or_else(|| "notes".to_owned());
    let _export = obvia::export(&name, INotes::from(Notes::default()))?;
    println!("serving {name}");
    obvia::wait_for_signal()
}
