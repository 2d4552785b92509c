//! Checks of strings with [utf8]: texts of every length, and bytes that only C can pass.

use super::checks::{Check, checks};
use super::places::Language;
use matrix::IValues;
use obvia::{HRESULT, Interface as _, code};
use std::ffi::CStr;

/// The code of Windows' RPC_X_BAD_STUB_DATA.
const BAD_STUB_DATA: HRESULT = HRESULT(0x8007_06f7_u32.cast_signed());

/// A check of an object in a server of this language, or in this process.
type OfStrings = fn(&IValues, Option<Language>);

pub(crate) const CHECKS: &[Check<OfStrings>] = checks![
    texts_of_every_length_are_passed,
    bytes_that_are_not_utf8_are_refused,
    results_that_are_not_utf8_are_refused,
];

fn texts_of_every_length_are_passed(values: &IValues, _: Option<Language>) {
    // The caller copies texts of up to 255 bytes to its stack, and messages hold about 100 bytes.
    for length in [0, 1, 60, 90, 120, 253, 254, 255, 256, 257, 1000, 70_000] {
        for end in ["", "\u{e9}", "\u{20ac}", "\u{1f980}"] {
            let text = "x".repeat(length) + end;
            let (greeting, bytes) = values.Greet(&text, None).unwrap();
            assert_eq!((greeting.as_str(), bytes as usize), (text.as_str(), text.len()), "{length} and {end:?}");
            let (greeting, _) = values.Greet("", Some(&text)).unwrap();
            assert_eq!(greeting, text.clone() + " ", "{length} and {end:?}");
            assert_eq!(values.Sign(&text, None).unwrap(), text, "{length} and {end:?}");
        }
    }
    for text in ["\0", "a\0b", &("x".repeat(300) + "\0")] {
        for refused in [values.Greet(text, None), values.Greet("", Some(text))] {
            assert_eq!(refused.unwrap_err().code(), code::E_INVALIDARG, "it is not even sent");
        }
    }
}

fn bytes_that_are_not_utf8_are_refused(values: &IValues, language: Option<Language>) {
    // Objects in Rust refuse the string. Stubs in C and Java refuse the request.
    let is_object = matches!(language, None | Some(Language::Rust));
    let expected = if is_object { code::E_INVALIDARG } else { BAD_STUB_DATA };

    let long = [&[b'x'; 300][..], b"\xe2\x82\0"].concat();
    for bytes in [&b"\xff\0"[..], b"a\x80\0", b"\xc0\x80\0", b"\xed\xa0\x80\0", &long] {
        let text = CStr::from_bytes_with_nul(bytes).unwrap();
        for (result, name) in [(greet(values, text, c""), "`name`"), (greet(values, c"", text), "`title`")] {
            let error = result.unwrap_err();
            assert_eq!(error.code(), expected, "{text:?}: {error}");
            assert_eq!(error.to_string().contains(name), is_object, "{text:?}: {error}");
        }
        assert_eq!(sign(values, text), Err(expected), "{text:?}");
    }
    assert_eq!(values.Greet("a", None).unwrap().0, "a", "and the server goes on");
}

fn results_that_are_not_utf8_are_refused(values: &IValues, language: Option<Language>) {
    // Servers in Rust and Java refuse these results themselves, and do not send them.
    let is_sent = language == Some(Language::Native);
    let expected = if is_sent { code::RPC_E_INVALID_DATA } else { code::E_INVALIDARG };
    for error in [values.Greet("wrong", None).unwrap_err(), values.Sign("wrong", None).unwrap_err()] {
        assert_eq!(error.code(), expected, "{error}");
    }
    assert_eq!(values.Sign("a", None).unwrap(), "a", "and the connection goes on");
}

/// Calls Greet with strings, which need not be UTF-8, unlike a `&str`.
fn greet(values: &IValues, name: &CStr, title: &CStr) -> obvia::Result<()> {
    let (mut greeting, mut length) = (std::ptr::null_mut(), 0);
    let (name, title) = (name.as_ptr().cast(), title.as_ptr().cast());
    // SAFETY: the pointer's vtable is that of its interface, strings end in zeros, and results have
    // room. No result is freed: no call of this function succeeds.
    let result = unsafe { (values.vtable().Greet)(values.as_raw(), name, title, &mut greeting, &mut length) };
    obvia::rt::check(result)
}

/// Calls Sign with a string, which need not be UTF-8, unlike a `&str`.
fn sign(values: &IValues, text: &CStr) -> Result<(), HRESULT> {
    let (mut signature, text) = (std::ptr::null_mut(), text.as_ptr().cast());
    // SAFETY: as in `greet`: the vtable is that of the interface, the string ends in zero, and the
    // result has room.
    let result = unsafe { (values.vtable().Sign)(values.as_raw(), text, std::ptr::null_mut(), &mut signature) };
    if result.is_ok() { Ok(()) } else { Err(result) }
}
