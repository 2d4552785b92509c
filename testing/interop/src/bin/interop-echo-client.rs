//! Calls the functions of `rpcecho` at a binding, and compares: `interop-echo-client BINDING`.

use obvia::u16cstr;

obvia::include_idl!("rpcecho");

/// Whether something is so, or what is not.
fn expect(is_so: bool, what: &str) -> Result<(), String> {
    if is_so { Ok(()) } else { Err(format!("{what}: another answer was expected")) }
}

fn calls(echo: &rpcecho) -> Result<(), String> {
    let failed = |what: &'static str| move |error: obvia::Error| format!("{what}: {error}");
    expect(echo.AddOne(41).map_err(failed("AddOne"))? == 42, "AddOne")?;
    // One datagram, a few, and more than the widest window.
    for length in [0_usize, 1000, 20_000, 1_000_000] {
        let data: Vec<u8> = (0..length).map(|at| (at * 7) as u8).collect();
        let mut back = vec![0; length];
        echo.EchoData(&data, &mut back).map_err(failed("EchoData"))?;
        expect(back == data, "EchoData")?;
        echo.SinkData(&data).map_err(failed("SinkData"))?;
        echo.SourceData(&mut back).map_err(failed("SourceData"))?;
        expect(back.iter().enumerate().all(|(at, byte)| *byte == at as u8), "SourceData")?;
    }
    let text = echo.TestCall(u16cstr!("input")).map_err(failed("TestCall"))?;
    expect(text.to_string_lossy() == "input", "TestCall")?;
    let (info, status) = echo.TestCall2(7).map_err(failed("TestCall2"))?;
    expect(info.tag() == 7 && status == 0, "TestCall2")?;
    expect(echo.TestCall2(9).is_err(), "TestCall2 of a level that there is not")?;
    // Long enough to be asked about.
    expect(echo.TestSleep(2).map_err(failed("TestSleep"))? == 2, "TestSleep")?;
    expect(echo.TestDoublePointer(&Some(&Some(&7))).map_err(failed("TestDoublePointer"))? == 7, "TestDoublePointer")
}

fn main() -> Result<(), String> {
    let binding = std::env::args().nth(1).ok_or("usage: interop-echo-client BINDING")?;
    let echo: rpcecho = obvia::bind(&binding).map_err(|error| format!("{binding}: {error}"))?;
    calls(&echo)
}
