//! A client of `rpcecho`, for servers that others wrote: it adds one and has data echoed, some of it longer than a fragment.

use crate::rpcecho;
use obvia::code;
use std::time::Duration;

/// How long a server may take for an answer.
const PATIENCE: Duration = Duration::from_secs(15);

/// Calls a server by a binding, and compares.
pub(crate) fn run(binding: &str) -> obvia::Result<()> {
    obvia::with_timeout(PATIENCE, || call(binding))
}

fn call(binding: &str) -> obvia::Result<()> {
    let echo: rpcecho = obvia::bind(binding)?;
    for number in 0..20 {
        same(echo.AddOne(number)?, number + 1)?;
    }
    for length in [1, 15, 16, 17, 1000, 30_000] {
        let data: Vec<u8> = (0..length).map(|at: u32| at as u8).collect();
        let mut back = vec![0; data.len()];
        echo.EchoData(&data, &mut back)?;
        same(back, data)?;
    }
    println!("ok");
    Ok(())
}

fn same<T: PartialEq + std::fmt::Debug>(found: T, wanted: T) -> obvia::Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(obvia::Error::new(code::E_UNEXPECTED, format!("{found:?} came back, not {wanted:?}")))
}
