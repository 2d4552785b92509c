//! Tests of how values are passed. The same checks run with an object of this process, where the
//! calls are plain Rust calls, and with objects of other processes.

use super::checks::{Check, checks, run_all};
use super::places::{Language, at_each, everywhere, in_java};
use super::utf8;
use matrix::shapes::Peer;
use matrix::values::Values;
use matrix::{IPeer, IValues, Line, Mode, Point};
use obvia::windows_core::IInspectable;
use obvia::{GUID, HRESULT, Interface, U16CString, code, u16cstr};

/// A check with an object, and whether the object is in another process.
type OfValues = fn(&IValues, bool);

const CHECKS: &[Check<OfValues>] = checks![
    integers_are_passed_up_to_their_limits,
    values_of_other_base_types_are_passed_exactly,
    structures_are_passed_by_value_reference_and_optionally,
    arrays_have_the_stated_lengths,
    passed_strings_end_with_a_zero,
    ranges_are_checked_for_arguments_and_results,
    strings_are_written_to_arrays_of_the_caller,
    values_that_may_be_null_are_changed_in_place,
    objects_have_the_interface_named_by_their_iid,
    proxies_have_no_interface_without_a_description,
    failures_carry_their_hresult,
];

/// The checks run on an object of this process, and on objects in each language: in another
/// process, and over each network.
#[test]
fn values_are_passed_identically_everywhere() {
    run_all(CHECKS, "in this process", |check| check(&Values.into(), false));
    run_all(utf8::CHECKS, "in this process", |check| check(&Values.into(), None));
    // Miri cannot start other processes.
    if cfg!(miri) {
        return;
    }
    at_each(everywhere().chain(in_java()), |server| {
        for values in server.addresses("values") {
            let place = format!("in {} at {values}", server.language());
            run_all(CHECKS, &place, |check| check(&obvia::connect(&values).unwrap(), true));
            let language = Some(server.language());
            run_all(utf8::CHECKS, &place, |check| check(&obvia::connect(&values).unwrap(), language));
            if language == Some(Language::Java) {
                java_returns_null_exactly_for_null(&obvia::connect(&values).unwrap());
            }
        }
    });
}

fn integers_are_passed_up_to_their_limits(values: &IValues, _: bool) {
    for (a, b, c, d) in [(0, 0, 0, 0), (i8::MAX, i16::MAX, i32::MAX, i64::MAX), (i8::MIN, i16::MIN, i32::MIN, i64::MIN)]
    {
        let (mut e, mut f, mut g, mut h) = (a, b, c, d);
        values.Integers(&mut e, &mut f, &mut g, &mut h).unwrap();
        assert_eq!((e, f, g, h), (!a, !b, !c, !d));
    }
    let (mut a, mut b, mut c, mut d) = (1, 2, u32::MAX, 1 << 63);
    values.Unsigned(&mut a, &mut b, &mut c, &mut d).unwrap();
    assert_eq!((a, b, c, d), (254, 65533, 0, i64::MAX.cast_unsigned()));
}

fn values_of_other_base_types_are_passed_exactly(values: &IValues, _: bool) {
    let key = GUID::from_u128(0x0d4f_4c52_0a34_4ac4_8d6c_2c9f_3a1f_7a10);
    let got = values.Others(true, b'x', 0xd83d, f32::MIN_POSITIVE, f64::INFINITY, HRESULT(7), key).unwrap();
    assert_eq!((got.0, got.1, got.2, got.3), (false, !b'x', !0xd83d, -f32::MIN_POSITIVE));
    assert_eq!((got.4, got.5, got.6.to_u128()), (f64::NEG_INFINITY, HRESULT(-8), !key.to_u128()));
    let nan = values.Others(false, 0, 0, f32::NAN, -0.0, HRESULT(0), GUID::zeroed()).unwrap();
    assert!(nan.3.is_nan() && nan.4 == 0.0 && nan.4.is_sign_positive());
}

fn strings_are_written_to_arrays_of_the_caller(values: &IValues, is_elsewhere: bool) {
    let is_refused = |result: obvia::Result<()>| assert_eq!(result.unwrap_err().code(), code::E_INVALIDARG);
    for room in [1, 2, 100, 5000] {
        let (mut wide, mut narrow, mut length) = (vec![0xffff; room], vec![0xff; room + 1], room as u32 + 1);
        values.Caption(&mut wide, &mut length, &mut narrow, b'a'.into()).unwrap();
        assert_eq!((length as usize, wide), (room, [vec![b'a'.into(); room - 1], vec![0]].concat()));
        assert_eq!(narrow, [vec![b'a'; room], vec![0]].concat());
        if is_elsewhere {
            let (mut wide, mut length) = (vec![0xffff; room], room as u32 + 1);
            is_refused(values.Caption(&mut wide, &mut 0, &mut [], b'x'.into()));
            is_refused(values.Caption(&mut [], &mut length, &mut narrow, b'x'.into()));
            // The string of a method that writes none is empty.
            length = room as u32 + 1;
            values.Caption(&mut wide, &mut length, &mut narrow, b'-'.into()).unwrap();
            assert_eq!((wide[0], narrow[0], length), (0, 0, room as u32 + 1));
        }
    }
    values.Caption(&mut [], &mut 0, &mut [], b'x'.into()).unwrap();
}

fn values_that_may_be_null_are_changed_in_place(values: &IValues, _: bool) {
    let (mut one, mut point) = (5, line(1).ends[0]);
    assert_eq!(values.Negate(Some(&mut one), Some(&mut point)).unwrap(), 2);
    assert_eq!((one, point), (-5, Point { x: -0.5, y: 7, ..line(1).ends[0] }));
    assert_eq!(values.Negate(None, Some(&mut point)).unwrap(), 1);
    assert_eq!(point, line(1).ends[0]);
    assert_eq!(values.Negate(Some(&mut one), None).unwrap(), 1);
    assert_eq!((one, values.Negate(None, None).unwrap()), (5, 0));
    for count in [0, 1, 3, 5000] {
        let (mut halves, mut given) = (vec![-7; count], false);
        values.Halve(Some(&mut halves), &mut given).unwrap();
        assert!(given && halves == vec![-3; count], "{count}");
        values.Halve(None, &mut given).unwrap();
        assert!(!given);
    }
}

/// Objects in Java return null in place of one of these numbers, and a point in place of null with
/// the other.
fn java_returns_null_exactly_for_null(values: &IValues) {
    for number in [0x0123_4567, 0x0234_5678] {
        let mut one = number;
        let error = values.Negate(Some(&mut one), None).unwrap_err();
        assert_eq!((error.code(), one), (code::E_INVALIDARG, number), "{error}");
        assert!(error.to_string().contains("is null, but its"), "{error}");
    }
    assert_eq!(values.Negate(None, None).unwrap(), 0, "and the connection goes on");
}

fn line(id: i64) -> Line {
    let point = |x, mode| Point { x, y: -7, mode, on: id % 2 == 0, raw: [1, 2, 3] };
    let ends = [point(0.5, Mode::FAST), point(-0.5, Mode::SLOW)];
    Line { ends, key: GUID::from_u128(id as u128), id, width: 0.25, s: -1, w: 0x20ac }
}

fn structures_are_passed_by_value_reference_and_optionally(values: &IValues, _: bool) {
    let sum = values.Structure(line(1), &line(20), Some(&line(300))).unwrap();
    assert_eq!(sum, Line { id: 321, ..line(1) });
    let sum = values.Structure(line(1), &line(20), None).unwrap();
    assert_eq!(sum, Line { id: 21, width: 0.0, ..line(1) });
}

fn arrays_have_the_stated_lengths(values: &IValues, _: bool) {
    for count in [0, 1, 5, 5000] {
        let modes: Vec<Mode> = (0..count).map(|at| [Mode::SLOW, Mode::NORMAL, Mode::FAST][at % 3]).collect();
        let mut turned = vec![Mode::default(); count];
        values.Modes(&modes, &mut turned).unwrap();
        turned.reverse();
        assert_eq!(turned, modes);
    }
    assert_eq!(values.Modes(&[Mode::FAST], &mut []).unwrap_err().code(), code::E_INVALIDARG);
    let mut lines: Vec<Line> = (0..100).map(line).collect();
    values.Lines(&mut lines).unwrap();
    assert_eq!((lines[0].id, lines[99].id, lines[99].ends[0].mode), (99, 0, Mode::SLOW));
    assert_eq!(values.Matrix(&[[1, 2], [3, 4], [5, 6]]).unwrap(), [[1, 3, 5], [2, 4, 6]]);
    for room in [0, 3, 10, 200] {
        let mut filled = vec![-1; room];
        let used = values.Fill(5, &mut filled).unwrap() as usize;
        assert_eq!(used, room.min(10));
        assert!(filled[..used].iter().enumerate().all(|(at, value)| *value == 5 + at as i16), "{filled:?}");
    }
    assert_eq!(values.Made(5).unwrap(), [0.0, 0.5, 1.0, 1.5, 2.0]);
    assert_eq!(values.Made(0).unwrap(), [0.0; 0]);
    assert_eq!(values.Expression(2, 3, &[1; 7]).unwrap(), 6);
    assert_eq!(values.Expression(-1, 3, &[9]).unwrap(), 5);
    assert_eq!(values.Expression(2, 3, &[1; 6]).unwrap_err().code(), code::E_INVALIDARG);
}

fn passed_strings_end_with_a_zero(values: &IValues, _: bool) {
    let (both, none) = values.Texts(c"ab", u16cstr!("cd"), Some(u16cstr!("ef"))).unwrap();
    assert_eq!((both.as_c_str(), none), (c"ab|cd|ef", U16CString::new()));
    let (both, _) = values.Texts(c"", u16cstr!(""), None).unwrap();
    assert_eq!(both.as_c_str(), c"||-");
}

fn ranges_are_checked_for_arguments_and_results(values: &IValues, elsewhere: bool) {
    assert_eq!(values.Ranged(-4).unwrap(), 16);
    // In one process, the plain call skips the runtime's check.
    if elsewhere {
        assert_eq!(values.Ranged(6).unwrap_err().code(), code::E_INVALIDARG, "it is not even sent");
        assert_eq!(values.Ranged(5).unwrap_err().code(), code::RPC_E_INVALID_DATA);
    }
    assert_eq!(values.Ranged(3).unwrap(), 9, "and the connection goes on");
}

fn objects_have_the_interface_named_by_their_iid(values: &IValues, _: bool) {
    // Another IDL file declares IPeer, and this process has neither exported nor received an object
    // with this interface.
    obvia::register(&[<IPeer as obvia::Remote>::INFO]);
    let peer: IPeer = Peer(5).into();
    let unknown = peer.cast().unwrap();
    let back = values.Same(&IPeer::IID, Some(&unknown)).unwrap();
    assert_eq!(back.cast::<IPeer>().unwrap(), peer, "a reference that comes home is the object itself");
    assert_eq!(values.Same(&IPeer::IID, None).unwrap_err().code(), code::E_POINTER);
}

fn proxies_have_no_interface_without_a_description(values: &IValues, is_remote: bool) {
    if is_remote {
        let error = values.cast::<IInspectable>().unwrap_err();
        assert_eq!(error.code(), code::E_NOINTERFACE, "{error}");
    }
}

fn failures_carry_their_hresult(values: &IValues, _: bool) {
    let failed = values.Fail(HRESULT(0x8123_4567_u32.cast_signed())).unwrap_err();
    assert_eq!(failed.code(), HRESULT(0x8123_4567_u32.cast_signed()));
}
