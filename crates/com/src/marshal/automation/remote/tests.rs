//! Tests of the wire form of calls: its layout, and compatibility with other implementations.

use super::*;
use crate::marshal::automation::wire::{WireArray, WireBstr, WireVariant};
use crate::marshal::automation::{Decimal, Value};
use crate::marshal::graph::{Arguments, Layout};
use obvia_ndr::flat::shape::{Element, What};
use obvia_ndr::ndr::{Format, Order, Plan, Syntax};

const LAYOUT: Layout = Layout { block: &made::IDispatch_Invoke_REQUEST, types: &made::IDispatch_TYPES };
/// The offset of DISPPARAMS in the request's block.
const PARAMS: usize = 32;

#[test]
fn automation_wire_structures_have_the_compilers_layout() {
    let types = &made::IDispatch_TYPES;
    let variant = &types[usize::from(VARIANT_KIND)];
    assert_eq!(variant.size as usize, size_of::<WireVariant>());
    let text = &types[usize::from(BSTR_KIND)];
    assert_eq!(text.tail.as_ref().unwrap().at as usize, size_of::<WireBstr>());
    let array = types.iter().find(|ty| ty.tail.as_ref().is_some_and(|tail| tail.size == 8)).unwrap();
    assert_eq!(array.tail.as_ref().unwrap().at as usize, size_of::<WireArray>());
    let texts = types.iter().filter(|ty| {
        let [part] = ty.shape.parts else { return false };
        matches!(part.what, What::Pointer { to: Element::Own(BSTR_KIND), .. })
    });
    assert_eq!(texts.count(), 1, "pointers to BSTRs");
}

/// Returns the calls that impacket writes: a name and the stub data of each.
fn vectors() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testing/vectors/automation/invoke.txt"));
    let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
    let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
    lines.map(move |(name, hex)| (name, hex.as_bytes().chunks(2).map(byte).collect()))
}

fn frame_of(stub: &[u8], format: Format) -> Vec<u8> {
    let plan = Plan::read(made::NDR).unwrap();
    let method = plan.method(6).unwrap();
    let mut frame = Vec::new();
    method.decode_request(&plan, format, stub, 1 << 20, &mut frame).unwrap();
    frame
}

/// Returns the arguments in a frame, as the object receives them, and the DISPIDs of the named
/// arguments.
fn received(frame: &[u8]) -> Result<(Vec<Variant>, Vec<i32>)> {
    // SAFETY: the compiler generated the layout.
    let mut arguments = unsafe { Arguments::of_bytes(frame, LAYOUT) }?;
    // SAFETY: the frame was checked.
    let params = unsafe { &*arguments.place::<WireParams>(PARAMS) };
    // SAFETY: the frame was checked, and `params` is a part of it.
    let mut received = unsafe { Received::new(params, &[], &[]) }?;
    // SAFETY: the frame was checked, so there are `named` names.
    let names = unsafe { slice(params.names.cast_const(), params.named as usize) };
    Ok((std::mem::take(&mut received.arguments), names.to_vec()))
}

/// A method in C may leave anything in the first two bytes of a DECIMAL.
#[test]
fn the_reserved_bytes_of_a_decimal_are_not_taken_for_the_type_of_the_value() {
    let mut number = Variant::from(Decimal { low: 1, ..Decimal::default() });
    // SAFETY: the number outlives the variant.
    let argument = unsafe { Variant::by_reference(vt::DECIMAL, number.place(vt::DECIMAL).cast()) };
    let mut wires = Wires::lent();
    let mut given = [wires.reference(&argument).unwrap()];
    let params = WireParams { arguments: given.as_mut_ptr(), names: std::ptr::null_mut(), count: 1, named: 0 };
    // SAFETY: the wire forms were just made.
    let received = unsafe { Received::new(&params, &[0], &given) }.unwrap();
    let (_, place) = received.arguments[0].target().unwrap();
    // SAFETY: a DECIMAL is at this place, and the array leads to it.
    unsafe { place.cast::<u16>().write(vt::BSTR) };
    // If the drop took these bytes for the type of the value, it would free the number's lower word
    // as the address of a string.
    drop(received);
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn automation_calls_of_impacket_are_read_and_rewritten_equal() {
    let format = Format { syntax: Syntax::Ndr, order: Order::Little, headers: 0 };
    let plan = Plan::read(made::NDR).unwrap();
    let mut seen = 0;
    for (name, stub) in vectors() {
        let frame = frame_of(&stub, format);
        let (arguments, names) = received(&frame).unwrap();
        let values: Vec<Value> = arguments.iter().map(|argument| argument.value().unwrap()).collect();
        let (expected, named): (&[Value], &[i32]) = match name {
            "none" => (&[], &[]),
            "text" => (&[Value::Text("text".into())], &[]),
            "numbers" => (&[Value::I4(-5), Value::I2(7), Value::R8(1.5), Value::Bool(true), Value::Ui1(9)], &[]),
            "named" => (&[Value::I4(6), Value::Text("eggs".into())], &[-3]),
            other => panic!("{other}"),
        };
        assert_eq!((values.as_slice(), names.as_slice()), (expected, named), "{name}");
        // The rewritten call differs from impacket's only in referent identifiers and padding,
        // which readers ignore.
        let mut written = Vec::new();
        plan.method(6).unwrap().encode_request(&plan, format, &frame, &mut written).unwrap();
        assert_eq!(written.len(), stub.len(), "{name}");
        assert_eq!(frame_of(&written, format), frame, "{name}");
        seen += 1;
    }
    assert_eq!(seen, 4);
}

/// Returns the next number of the generator SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[test]
#[cfg_attr(miri, ignore = "asks the kernel for what Miri does not have")]
fn damaged_automation_calls_are_refused_or_read_without_panic() {
    let format = Format { syntax: Syntax::Ndr, order: Order::Little, headers: 0 };
    let frames: Vec<Vec<u8>> = vectors().map(|(_, stub)| frame_of(&stub, format)).collect();
    let (mut state, mut refused, mut taken) = (1, 0, 0);
    for at in 0..20_000 {
        let mut frame = frames[at % frames.len()].clone();
        for _ in 0..=random(&mut state) % 3 {
            let place = random(&mut state) as usize % frame.len();
            // The new byte is often a plausible value.
            frame[place] = match random(&mut state) % 4 {
                0 => 0,
                1 => 0x20,
                2 => frame[place].wrapping_add(1),
                _ => random(&mut state) as u8,
            };
        }
        match received(&frame) {
            Ok((arguments, _)) => {
                // A received value can be read, copied and sent.
                for argument in arguments {
                    let copied = argument.copy().unwrap();
                    copied.value().unwrap();
                    let mut wires = Wires::lent();
                    let wire = copied.to_wire(&mut wires).unwrap();
                    // SAFETY: the wire form was just made.
                    let again = unsafe { Variant::from_wire(wire) }.unwrap();
                    assert_eq!(format!("{again:?}"), format!("{copied:?}"));
                }
                taken += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 0 && taken > 0, "{refused} refused, {taken} taken");
}
