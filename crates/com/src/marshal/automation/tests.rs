//! Tests of the layout of values and of their conversions.

use super::*;
use crate::types::error::code;
use windows_core::HRESULT;

fn becomes(from: impl Into<Variant>, to: u16) -> Result<Value, HRESULT> {
    from.into().change_type(to).and_then(|made| made.value()).map_err(|error| error.code())
}

#[test]
fn variants_have_the_layout_of_c() {
    assert_eq!((size_of::<Variant>(), align_of::<Variant>()), (24, 8));
    assert_eq!(size_of::<Bstr>() + size_of::<SafeArray>(), 16);
    let value = Variant::from(-2_i16);
    // SAFETY: the array covers exactly the bytes of the variant.
    let bytes = unsafe { *(&raw const value).cast::<[u8; 24]>() };
    assert_eq!(bytes[..10], [2, 0, 0, 0, 0, 0, 0, 0, 0xfe, 0xff]);
    let value = Variant::from(Decimal { scale: 2, negative: true, high: 0x0a0b_0c0d, low: 7 });
    // SAFETY: the array covers exactly the bytes of the variant.
    let bytes = unsafe { *(&raw const value).cast::<[u8; 24]>() };
    assert_eq!(bytes[..16], [14, 0, 2, 0x80, 0x0d, 0x0c, 0x0b, 0x0a, 7, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn variants_convert_back_to_their_values() {
    let array = SafeArray::of(&[1_i32, 2]).unwrap();
    let values = [
        Value::Empty,
        Value::Null,
        Value::I1(-1),
        Value::I2(i16::MIN),
        Value::I4(i32::MIN),
        Value::I8(i64::MIN),
        Value::Ui1(255),
        Value::Ui2(0xffff),
        Value::Ui4(u32::MAX),
        Value::Ui8(u64::MAX),
        Value::R4(1.5),
        Value::R8(-0.1),
        Value::Bool(true),
        Value::Error(code::E_FAIL),
        Value::Currency(Currency(-12_345)),
        Value::Date(2.5),
        Value::Decimal(Decimal { scale: 28, negative: true, high: u32::MAX, low: u64::MAX }),
        Value::Text(Bstr::from("text")),
        Value::Unknown(None),
        Value::Dispatch(None),
        Value::Array(array),
    ];
    for value in values {
        let variant = Variant::from(value.clone());
        assert_eq!(variant.value().unwrap(), value);
        assert_eq!(variant.clone().value().unwrap(), value);
        assert_eq!(variant, variant.clone());
    }
    assert!(Variant::missing().is_missing() && !Variant::error(code::E_FAIL).is_missing());
}

#[test]
fn variant_numbers_convert_with_range_checks() {
    assert_eq!(becomes(7_i32, vt::UI1), Ok(Value::Ui1(7)));
    assert_eq!(becomes(256_i32, vt::UI1), Err(code::DISP_E_OVERFLOW));
    assert_eq!(becomes(-1_i32, vt::UI4), Err(code::DISP_E_OVERFLOW));
    assert_eq!(becomes(u64::MAX, vt::I8), Err(code::DISP_E_OVERFLOW));
    assert_eq!(becomes(u64::MAX, vt::BSTR), Ok(Value::Text("18446744073709551615".into())));
    assert_eq!(becomes(2.5_f64, vt::I4), Ok(Value::I4(2)));
    assert_eq!(becomes(3.5_f64, vt::I4), Ok(Value::I4(4)));
    assert_eq!(becomes(-2.5_f64, vt::I4), Ok(Value::I4(-2)));
    assert_eq!(becomes(f64::NAN, vt::I4), Err(code::DISP_E_OVERFLOW));
    assert_eq!(becomes(1e300_f64, vt::R4), Err(code::DISP_E_OVERFLOW));
    assert_eq!(becomes(true, vt::I4), Ok(Value::I4(-1)));
    assert_eq!(becomes(0.25_f64, vt::BOOL), Ok(Value::Bool(true)));
    assert_eq!(becomes(Variant::new(), vt::I4), Ok(Value::I4(0)));
    assert_eq!(becomes(Variant::null(), vt::I4), Err(code::DISP_E_TYPEMISMATCH));
    assert_eq!(becomes(5_i32, vt::INT), Ok(Value::I4(5)));
    assert_eq!(Variant::from(5_i32).change_type(vt::INT).unwrap().vt(), vt::INT);
    assert_eq!(becomes(5_i32, 15), Err(code::DISP_E_BADVARTYPE));
}

#[test]
fn currency_and_decimal_conversions_are_exact() {
    assert_eq!(becomes("12.34565", vt::CY), Ok(Value::Currency(Currency(123_456))));
    assert_eq!(becomes("-0.00015", vt::CY), Ok(Value::Currency(Currency(-2))));
    assert_eq!(becomes(Currency(-12_300), vt::BSTR), Ok(Value::Text("-1.23".into())));
    assert_eq!(
        becomes(Currency(i64::MAX), vt::DECIMAL).unwrap(),
        becomes("922337203685477.5807", vt::DECIMAL).unwrap()
    );
    assert_eq!(becomes(0.1_f64, vt::DECIMAL), Ok(Value::Decimal(Decimal { scale: 1, low: 1, ..Decimal::default() })));
    let most = "79228162514264337593543950335";
    let made = becomes(most, vt::DECIMAL).unwrap();
    assert_eq!(made, Value::Decimal(Decimal { scale: 0, negative: false, high: u32::MAX, low: u64::MAX }));
    assert_eq!(becomes(made, vt::BSTR), Ok(Value::Text(most.into())));
    assert_eq!(becomes("79228162514264337593543950336", vt::DECIMAL), Err(code::DISP_E_OVERFLOW));
    assert_eq!(becomes(i64::MAX, vt::CY), Err(code::DISP_E_OVERFLOW));
    let bad = Decimal { scale: 29, ..Decimal::default() };
    assert_eq!(becomes(bad, vt::I4), Err(code::E_INVALIDARG));
}

#[test]
fn variants_convert_from_and_to_text() {
    assert_eq!(becomes(" 42 ", vt::I4), Ok(Value::I4(42)));
    assert_eq!(becomes("1e3", vt::I4), Ok(Value::I4(1000)));
    assert_eq!(becomes("0.1", vt::R8), Ok(Value::R8(0.1)));
    assert_eq!(becomes("", vt::I4), Err(code::DISP_E_TYPEMISMATCH));
    assert_eq!(becomes("4x", vt::I4), Err(code::DISP_E_TYPEMISMATCH));
    assert_eq!(becomes("inf", vt::R8), Err(code::DISP_E_TYPEMISMATCH));
    assert_eq!(becomes("TRUE", vt::BOOL), Ok(Value::Bool(true)));
    assert_eq!(becomes(false, vt::BSTR), Ok(Value::Text("False".into())));
    assert_eq!(becomes(0.1_f32, vt::BSTR), Ok(Value::Text("0.1".into())));
    assert_eq!(String::try_from(&Variant::from(-1.5_f64)).unwrap(), "-1.5");
    assert_eq!(i16::try_from(&Variant::from("-7")).unwrap(), -7);
}

#[test]
fn variants_by_reference_read_the_referenced_value() {
    let mut number = 5_i32;
    // SAFETY: the number outlives the variant.
    let variant = unsafe { Variant::by_reference(vt::I4, (&raw mut number).cast()) };
    assert_eq!(variant.value().unwrap(), Value::I4(5));
    assert_eq!(variant.change_type(vt::BSTR).unwrap().value().unwrap(), Value::Text("5".into()));
    let mut inner = Variant::from("inner");
    // SAFETY: the referenced variant outlives this variant.
    let variant = unsafe { Variant::by_reference(vt::VARIANT, (&raw mut inner).cast()) };
    assert_eq!(variant.clone().vt(), vt::BSTR);
    // SAFETY: the null pointer is not dereferenced.
    let nowhere = unsafe { Variant::by_reference(vt::I4, std::ptr::null_mut()) };
    assert_eq!(nowhere.value().unwrap_err().code(), code::E_POINTER);
}

#[test]
fn safearrays_have_bounds_and_column_major_order() {
    let bounds = [Bound { count: 2, lower: -1 }, Bound { count: 3, lower: 5 }];
    let mut array = SafeArray::with_bounds(vt::I4, &bounds).unwrap();
    assert_eq!((array.bounds().as_slice(), array.len()), (&bounds[..], 6));
    array.set(&[0, 5], &"7".into()).unwrap();
    array.set(&[-1, 6], &8_i32.into()).unwrap();
    assert_eq!(array.as_slice::<i32>(), Some(&[0, 7, 8, 0, 0, 0][..]));
    assert_eq!(array.get(&[0, 5]).unwrap(), 7_i32.into());
    for outside in [&[1, 5][..], &[-2, 5], &[0, 8], &[0, 4], &[0], &[0, 5, 0], &[]] {
        assert_eq!(array.get(outside).unwrap_err().code(), code::DISP_E_BADINDEX);
    }
    assert_eq!(array.set(&[0, 5], &"x".into()).unwrap_err().code(), code::DISP_E_TYPEMISMATCH);
    assert_eq!(array.as_slice::<u32>(), None);
    assert_eq!(array.clone(), array);
}

#[test]
fn safearrays_own_their_elements() {
    let texts = SafeArray::of_variants(vt::BSTR, &["a".into(), 5_i32.into()]).unwrap();
    assert_eq!(texts.to_variants().unwrap(), ["a".into(), "5".into()]);
    let mut mixed = SafeArray::of_variants(vt::VARIANT, &["a".into(), texts.into(), Variant::new()]).unwrap();
    mixed.set(&[0], &"b".into()).unwrap();
    assert_eq!(mixed.clone(), mixed);
    assert_eq!(mixed.get(&[1]).unwrap().vt(), vt::ARRAY | vt::BSTR);
}

#[test]
fn impossible_safearrays_are_refused() {
    let one = [Bound { count: 1, lower: 0 }];
    let huge = [Bound { count: u32::MAX, lower: 0 }; 3];
    for vt in [vt::EMPTY, vt::NULL, 15, vt::I4 | vt::ARRAY, vt::I4 | vt::BYREF] {
        assert_eq!(SafeArray::with_bounds(vt, &one).unwrap_err().code(), code::DISP_E_BADVARTYPE);
    }
    assert_eq!(SafeArray::with_bounds(vt::I4, &[]).unwrap_err().code(), code::E_INVALIDARG);
    assert_eq!(SafeArray::with_bounds(vt::I4, &[one[0]; 65]).unwrap_err().code(), code::E_INVALIDARG);
    assert_eq!(SafeArray::with_bounds(vt::UI1, &huge).unwrap_err().code(), code::E_OUTOFMEMORY);
    // If one dimension is empty, the others can be of any size.
    let none = [Bound { count: 0, lower: 0 }];
    for bounds in [[&none[..], &huge].concat(), [&huge[..], &none].concat()] {
        let empty = SafeArray::with_bounds(vt::I4, &bounds).unwrap();
        assert_eq!((empty.len(), empty.bounds().len()), (0, 4));
        assert_eq!(empty.get(&[i32::MAX; 4]).unwrap_err().code(), code::DISP_E_BADINDEX);
    }
    let none = SafeArray::null();
    assert_eq!((none.len(), none.bounds().len(), none.clone().is_null()), (0, 0, true));
}

#[test]
fn safearray_locks_are_counted() {
    let array = SafeArray::of(&[1_u8]).unwrap();
    array.lock().unwrap();
    array.lock().unwrap();
    array.unlock().unwrap();
    array.unlock().unwrap();
    assert_eq!(array.unlock().unwrap_err().code(), code::E_UNEXPECTED);
    assert_eq!(SafeArray::null().lock().unwrap_err().code(), code::E_INVALIDARG);
}
