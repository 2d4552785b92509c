//! A client of `rpcecho` for servers that others wrote: calls each function and compares, so many times.
//!
//! `interop-calls BINDING [ROUNDS]`, as in `interop-calls ncacn_ip_tcp:127.0.0.1[1234] 10`. Ends with an error at the first result that
//! is wrong. Of a round, [`CALLS`] are calls.

use interop::{Enum1, Enum1_32, Enum2, Enum3, Info, Info5, Info7, Surrounding, rpcecho};
use std::fmt::Debug;

/// The calls of a round.
const CALLS: usize = 15;
/// Longer than any fragment.
const LONG: usize = 200_000;

/// Compares a result.
fn expect<T: PartialEq + Debug>(what: &str, result: T, expected: T) -> obvia::Result<()> {
    if result == expected {
        return Ok(());
    }
    Err(obvia::Error::new(obvia::code::E_FAIL, format!("{what}: {result:?} and not {expected:?}")))
}

/// What there is of an answer to `TestCall2`: which arm, and its numbers.
fn numbers(info: &Info<'_>) -> [u64; 3] {
    match info {
        Info::Info1(info) => [1, info.v.into(), 0],
        Info::Info2(info) => [2, info.v.into(), 0],
        Info::Info3(info) => [3, info.v.into(), 0],
        Info::Info4(info) => [4, info.v, 0],
        Info::Info5(Info5 { v1, v2 }) => [5, (*v1).into(), *v2],
        Info::Info6(info) => [6, info.v1.into(), info.info1.v.into()],
        Info::Info7(Info7 { v1, info4 }) => [7, (*v1).into(), info4.v],
        Info::Borrowed__(..) => [0; 3],
    }
}

fn round(echo: &rpcecho) -> obvia::Result<()> {
    expect("AddOne", echo.AddOne(41)?, 42)?;
    let sent: Vec<u8> = (0..LONG).map(|at| (at % 251) as u8).collect();
    let mut back = vec![0; LONG];
    echo.EchoData(&sent, &mut back)?;
    expect("EchoData", back == sent, true)?;
    echo.SinkData(&sent)?;
    let mut data = [0; 1000];
    echo.SourceData(&mut data)?;
    expect("SourceData", data.iter().zip(0_usize..).all(|(byte, at)| *byte == at as u8), true)?;
    let text = obvia::u16cstr!("judges");
    expect("TestCall", echo.TestCall(text)?.as_ucstr(), text)?;
    let expected = [[1, 10, 0], [2, 20, 0], [3, 30, 0], [4, 40, 0], [5, 50, 60], [6, 70, 80], [7, 80, 90]];
    for (level, expected) in (1..).zip(expected) {
        let (info, status) = echo.TestCall2(level)?;
        expect("TestCall2", (numbers(&info), status), (expected, 0))?;
    }
    let (mut one, mut two) = (Enum1::ECHO_ENUM1, Enum2 { e1: Enum1::ECHO_ENUM2, e2: Enum1_32::ECHO_ENUM1_32 });
    let mut three = Enum3::E1(Enum1::ECHO_ENUM2);
    echo.TestEnum(&mut one, &mut two, &mut three)?;
    let is_same = one == Enum1::ECHO_ENUM1 && two.e1 == Enum1::ECHO_ENUM2 && two.e2 == Enum1_32::ECHO_ENUM1_32;
    expect("TestEnum", is_same && matches!(three, Enum3::E1(Enum1::ECHO_ENUM2)), true)?;
    let mut surrounding = Surrounding::new(&[1, 2, 3])?;
    echo.TestSurrounding(&mut surrounding)?;
    let length = surrounding.with(|data| data.surrounding().len());
    expect("TestSurrounding", length, 6)?;
    expect("TestDoublePointer", echo.TestDoublePointer(&Some(&Some(&77)))?, 77)
}

fn main() -> obvia::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let binding = arguments.next().unwrap_or_default();
    let rounds: usize = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let echo: rpcecho = obvia::bind(&binding)?;
    (0..rounds).try_for_each(|_| round(&echo))?;
    println!("{} calls", rounds * CALLS);
    Ok(())
}
