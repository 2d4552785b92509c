//! The programs of tests of endpoints: the mapper, a server that registers, and a client. Servers
//! end with their standard input.
//!
//! - `clock mapper BINDING...` serves an endpoint mapper, and prints its bindings.
//! - `clock server [BINDING...]` listens at the bindings, or at the interface's endpoints, and
//!   registers with the host's mapper. A line of input ends the registration.
//! - `clock ask BINDING` prints the process ID of the answering server, or the error's code.

use matrix::{Clock, Clock_Impl};
use std::io::BufRead;

#[obvia::object(Clock)]
struct Own;

impl Clock_Impl for Own_Impl {
    fn Process(&self) -> obvia::Result<u32> {
        Ok(std::process::id())
    }
}

fn main() -> obvia::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut input = std::io::stdin().lock();
    let mut line = move || drop(input.read_line(&mut String::new()));
    match words.as_slice() {
        ["mapper", bindings @ ..] => {
            let mapper = obvia::serve_endpoint_mapper(bindings)?;
            println!("{}", mapper.bindings().join(" "));
            line();
        }
        ["server", bindings @ ..] => {
            let _serving = obvia::serve_interface(Clock::from(Own))?;
            let heard = match bindings {
                [] => obvia::listen_for::<Clock>()?,
                _ => bindings.iter().map(|binding| obvia::listen(binding)).collect::<obvia::Result<_>>()?,
            };
            let registration = obvia::register_endpoints(None, "a clock");
            println!("{} {}", heard.join(" "), registration.as_ref().map_or_else(code, |_| "registered".to_owned()));
            line();
            drop(registration);
            println!("alone");
            line();
        }
        ["ask", binding] => {
            let clock = obvia::bind::<Clock>(binding).and_then(|clock| clock.Process());
            println!("{}", clock.map_or_else(|error| code(&error), |process| process.to_string()));
        }
        _ => return Err(obvia::Error::new(obvia::code::E_INVALIDARG, "usage: clock mapper|server|ask ...")),
    }
    Ok(())
}

/// Formats an error's code, as tests compare it.
fn code(error: &obvia::Error) -> String {
    format!("{:#010x}", error.code().0)
}
