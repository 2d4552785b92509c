//! A client of `rpcecho` for servers of other implementations: calls each function, and checks the
//! results.
//!
//! `interop-calls [--user NAME PASSWORD] BINDING [ROUNDS [LEFT-OUT ...]]`, for example
//! `interop-calls ncacn_ip_tcp:127.0.0.1[1234] 10 TestCall`. A run can leave out functions that the
//! server lacks, or for which its results are known to be wrong. The program fails at the first
//! wrong result, and otherwise prints the number of calls.

use interop::{Enum1, Enum1_32, Enum2, Enum3, Info, Info5, Info7, Surrounding, rpcecho};
use obvia::security::{Credential, set_credentials};
use std::fmt::Debug;
use std::time::Duration;

/// The length of long arrays in bytes, more than any fragment holds.
const LONG: usize = 200_000;

/// The time limit of a round.
const PATIENCE: Duration = Duration::from_secs(15);

/// Checks the result of a call.
fn expect<T: PartialEq + Debug>(what: &str, result: T, expected: T) -> obvia::Result<usize> {
    if result == expected {
        return Ok(1);
    }
    Err(obvia::Error::new(obvia::code::E_FAIL, format!("{what}: {result:?} and not {expected:?}")))
}

/// Returns the arm of an answer to `TestCall2`, and its numbers.
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

/// A check of a function. It returns the number of its calls.
type Check = fn(&rpcecho) -> obvia::Result<usize>;

const CHECKS: [(&str, Check); 10] = [
    ("AddOne", add_one),
    ("EchoData", echo_data),
    ("SinkData", |echo| echo.SinkData(&long()).map(|()| 1)),
    ("SourceData", source_data),
    ("TestCall", test_call),
    ("TestCall2", test_call2),
    // The server sleeps long enough for a client to ping it.
    ("TestSleep", |echo| expect("TestSleep", echo.TestSleep(2)?, 2)),
    ("TestEnum", test_enum),
    ("TestSurrounding", test_surrounding),
    ("TestDoublePointer", test_double_pointer),
];

fn long() -> Vec<u8> {
    (0..LONG).map(|at| (at % 251) as u8).collect()
}

fn add_one(echo: &rpcecho) -> obvia::Result<usize> {
    expect("AddOne", echo.AddOne(41)?, 42)
}

fn echo_data(echo: &rpcecho) -> obvia::Result<usize> {
    let mut back = vec![0; LONG];
    echo.EchoData(&long(), &mut back)?;
    expect("EchoData", back == long(), true)
}

fn source_data(echo: &rpcecho) -> obvia::Result<usize> {
    let mut data = [0; 1000];
    echo.SourceData(&mut data)?;
    expect("SourceData", data.iter().zip(0_usize..).all(|(byte, at)| *byte == at as u8), true)
}

fn test_call(echo: &rpcecho) -> obvia::Result<usize> {
    let text = obvia::u16cstr!("a text");
    expect("TestCall", echo.TestCall(text)?.as_ucstr(), text)
}

fn test_call2(echo: &rpcecho) -> obvia::Result<usize> {
    let expected = [[1, 10, 0], [2, 20, 0], [3, 30, 0], [4, 40, 0], [5, 50, 60], [6, 70, 80], [7, 80, 90]];
    (1..).zip(expected).try_fold(0, |calls, (level, expected)| {
        let (info, status) = echo.TestCall2(level)?;
        Ok(calls + expect("TestCall2", (numbers(&info), status), (expected, 0))?)
    })
}

fn test_enum(echo: &rpcecho) -> obvia::Result<usize> {
    let (mut one, mut two) = (Enum1::ECHO_ENUM1, Enum2 { e1: Enum1::ECHO_ENUM2, e2: Enum1_32::ECHO_ENUM1_32 });
    let mut three = Enum3::E1(Enum1::ECHO_ENUM2);
    echo.TestEnum(&mut one, &mut two, &mut three)?;
    let is_same = one == Enum1::ECHO_ENUM1 && two.e1 == Enum1::ECHO_ENUM2 && two.e2 == Enum1_32::ECHO_ENUM1_32;
    expect("TestEnum", is_same && matches!(three, Enum3::E1(Enum1::ECHO_ENUM2)), true)
}

fn test_surrounding(echo: &rpcecho) -> obvia::Result<usize> {
    let mut data = Surrounding::new(&[1, 2, 3])?;
    echo.TestSurrounding(&mut data)?;
    let back = data.with(|data| data.surrounding().to_vec());
    // Stubs without room for the doubled array may return it unchanged.
    let wanted = if back.len() == 3 { vec![1, 2, 3] } else { vec![1, 2, 3, 1, 2, 3] };
    expect("TestSurrounding", back, wanted)
}

fn test_double_pointer(echo: &rpcecho) -> obvia::Result<usize> {
    expect("TestDoublePointer", echo.TestDoublePointer(&Some(&Some(&77)))?, 77)?;
    expect("TestDoublePointer", echo.TestDoublePointer(&Some(&None))?, 0)?;
    Ok(2)
}

fn main() -> obvia::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words = match &words[..] {
        [option, user, password, rest @ ..] if option == "--user" => {
            set_credentials(Credential::user("", user, password));
            rest
        }
        words => words,
    };
    let (binding, rounds, left_out) = match words {
        [binding] => (binding, 1, &[][..]),
        [binding, rounds, left_out @ ..] => (binding, rounds.parse().unwrap_or(1), left_out),
        [] => {
            let usage = "interop-calls [--user NAME PASSWORD] BINDING [ROUNDS [LEFT-OUT ...]]";
            return Err(obvia::Error::new(obvia::code::E_INVALIDARG, usage));
        }
    };
    let mut calls = 0;
    obvia::with_timeout(PATIENCE * rounds, || {
        let echo: rpcecho = obvia::bind(binding)?;
        for _ in 0..rounds {
            for (_, check) in CHECKS.iter().filter(|(name, _)| !left_out.iter().any(|left_out| left_out == name)) {
                calls += check(&echo)?;
            }
        }
        Ok::<_, obvia::Error>(())
    })?;
    println!("{calls} calls");
    Ok(())
}
