//! Serves the objects on this host and at a string binding, until the standard input ends. The name
//! of an object is the first argument with a suffix. With `hold BINDING HANDLE`, the program is a
//! client. It tries another client's context handle, opens two handles of its own, and sleeps.

use std::io::Read;

/// Runs a client that holds context handles of a server.
fn hold(binding: &str, handle: &str) -> obvia::Result<()> {
    let counters: matrix::Counters = obvia::bind(binding)?;
    let uuid = obvia::GUID::from_u128(u128::from_str_radix(handle, 16).unwrap_or_default());
    let others = obvia::ContextHandle::from_wire(0, uuid);
    println!("{:?}", counters.Next(others).map_or_else(|error| error.code(), |_| obvia::code::S_OK));
    let _own = (counters.Open(1)?, counters.Open(2)?);
    println!("holding");
    obvia::wait()
}

fn main() -> obvia::Result<()> {
    matrix::become_known();
    let words: Vec<String> = std::env::args().collect();
    if let [_, what, binding, handle] = words.as_slice()
        && what == "hold"
    {
        return hold(binding, handle);
    }
    let name = std::env::args().nth(1).unwrap_or_else(|| "matrix".to_owned());
    let shapes: matrix::IShapes = matrix::shapes::Shapes::default().into();
    let values: matrix::IValues = matrix::values::Values.into();
    let _exports =
        (obvia::export(&format!("{name}-shapes"), shapes)?, obvia::export(&format!("{name}-values"), values)?);
    let echo: matrix::rpcecho = matrix::functions::Echo.into();
    let counters: matrix::Counters = matrix::functions::Keeper::default().into();
    let others: matrix::Counters = matrix::functions::Keeper::default().into();
    let other = obvia::GUID::from_u128(0x6b29_fc40_ca47_1067_b31d_00dd_0106_62da);
    let _functions =
        (obvia::serve_interface(echo)?, obvia::serve_interface(counters)?, obvia::serve_interface_for(other, others)?);
    obvia::listen(&format!("ncacn_vi_shm:[{name}-functions]"))?;
    if let Some(binding) = std::env::args().nth(2) {
        println!("{}", obvia::listen(&binding)?);
    }
    println!("serving");
    let _ = std::io::stdin().read(&mut [0]);
    Ok(())
}
