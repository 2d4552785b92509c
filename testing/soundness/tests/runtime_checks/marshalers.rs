//! Marshalers that panic: the caller gets E_UNEXPECTED, and the process goes on.

use obvia::marshaling::{
    Context, Flags, Handled, IMarshal, IStdMarshalInfo, Marshaler, Passing, disconnect, marshal, register_unmarshaler,
    release_marshal_data, unmarshal,
};
use obvia::{GUID, IUnknown, Result, code};
use soundness::{IProgress, IProgress_Impl};
use std::sync::Mutex;

const CLASS: GUID = GUID::from_u128(0x5e0f_7b1a_93c4_4d28_8a61_2f7c_9d0b_e355);

/// The function that panics.
static BROKEN: Mutex<&str> = Mutex::new("");

fn run(function: &str) {
    let broken = *BROKEN.lock().unwrap();
    assert_ne!(function, broken, "this function is broken");
}

#[obvia::object(IProgress, IMarshal)]
struct Breaks;

impl IProgress_Impl for Breaks_Impl {
    fn Report(&self, done: i32) -> Result<i32> {
        Ok(done)
    }
}

impl Marshaler for Breaks_Impl {
    fn class(&self, _: &Passing) -> Result<GUID> {
        run("class");
        Ok(CLASS)
    }

    fn marshal(&self, _: &Passing) -> Result<Vec<u8>> {
        run("marshal");
        Ok(vec![1])
    }

    fn unmarshal(&self, data: &[u8]) -> Result<IUnknown> {
        run("unmarshal");
        assert_eq!(data, [1]);
        Ok(Breaks.into())
    }

    fn release(&self, _: &[u8]) -> Result<()> {
        run("release");
        Ok(())
    }

    fn disconnect(&self) -> Result<()> {
        run("disconnect");
        Ok(())
    }
}

#[test]
fn panics_in_marshalers_are_errors() {
    let _registration = register_unmarshaler(CLASS, || {
        run("maker");
        Ok(Breaks.into())
    });
    let object: IProgress = Breaks.into();
    let bytes = marshal(&object, Context::Local, Flags::NORMAL).unwrap();
    let all = || {
        [
            marshal(&object, Context::Local, Flags::NORMAL).map(drop),
            unmarshal::<IProgress>(&bytes).and_then(|copy| copy.Report(5)).map(|same| assert_eq!(same, 5)),
            release_marshal_data(&bytes),
            disconnect(&object),
        ]
    };
    assert_eq!(all(), [Ok(()), Ok(()), Ok(()), Ok(())]);
    for (function, broken) in [
        ("class", [true, false, false, false]),
        ("marshal", [true, false, false, false]),
        ("unmarshal", [false, true, false, false]),
        ("release", [false, false, true, false]),
        ("disconnect", [false, false, false, true]),
        ("maker", [false, true, true, false]),
    ] {
        *BROKEN.lock().unwrap() = function;
        let outcomes = all().map(|outcome| outcome.map_err(|error| error.code()));
        let expected = broken.map(|is_broken| if is_broken { Err(code::E_UNEXPECTED) } else { Ok(()) });
        assert_eq!(outcomes, expected, "{function} panics");
    }
}

#[obvia::object(IProgress, IStdMarshalInfo)]
struct Unhandled;

impl IProgress_Impl for Unhandled_Impl {
    fn Report(&self, done: i32) -> Result<i32> {
        Ok(done)
    }
}

impl Handled for Unhandled_Impl {
    fn handler(&self, _: Context) -> Result<GUID> {
        panic!("the object has no handler")
    }
}

/// If an object panics when it is asked for its handler, the object is marshaled without a handler.
#[test]
fn a_panic_in_the_choice_of_a_handler_means_no_handler() {
    let object: IProgress = Unhandled.into();
    let bytes = marshal(&object, Context::Local, Flags::NORMAL).unwrap();
    assert_eq!(unmarshal::<IProgress>(&bytes).unwrap().Report(3), Ok(3));
}
