//! Invalid stub data, and responses without results.

use super::{FORMATS, FRAME_MAX, Interface, Part, interface};
use obvia_ndr::ndr::{Error, Format, Numbers, Syntax};

const NDR: Format = Format::ours(Syntax::Ndr);
const NDR64: Format = Format::ours(Syntax::Ndr64);

fn echo() -> Interface {
    Interface::of("testing/interop/idl/rpcecho.idl", "rpcecho")
}

fn shapes() -> Interface {
    Interface::of("testing/matrix/idl/shapes.idl", "IShapes")
}

/// Returns 32-bit numbers as bytes.
fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Returns 64-bit numbers as bytes.
fn longs(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn refusal(interface: &Interface, method: &str, format: Format, stub: &[u8]) -> Error {
    interface.decode(method, Part::Request, format, &Numbers::default(), stub).unwrap_err()
}

#[test]
fn stub_data_counts_must_agree_with_each_other() {
    let echo = echo();
    let refused = |method, stub: &[u32]| refusal(&echo, method, NDR, &words(stub));
    assert_eq!(refused("EchoData", &[3, 4, 0]), Error::Count { at: 8, found: 4 }, "size_is says 3");
    assert_eq!(refused("TestSurrounding", &[2, 1, 0]), Error::Count { at: 4, found: 2 }, "the structure says 1");
    assert_eq!(refused("TestCall", &[1, 0, 2, 0]), Error::Count { at: 12, found: 2 }, "of which there are 1");
    assert_eq!(refused("TestCall", &[2, 1, 1, 0]), Error::Offset { at: 8 });
    let accounts = Interface::of("testing/vectors/ndr/accounts.idl", "accounts");
    // A context handle, the text's length (2 bytes) and capacity (4 bytes), and the text.
    let text = |most, count| words(&[0, 0, 0, 0, 0, 2 | 4 << 16, 1, most, 0, count, 0x0041_0041]);
    assert!(accounts.decode("LookUpDomain", Part::Request, NDR, &Numbers::default(), &text(2, 1)).is_ok());
    let refused = |most, count| refusal(&accounts, "LookUpDomain", NDR, &text(most, count));
    assert_eq!(refused(3, 1), Error::Count { at: 32, found: 3 });
    assert_eq!(refused(2, 2), Error::Count { at: 40, found: 2 });
}

#[test]
fn stub_data_counts_are_checked_before_memory_is_allocated() {
    let echo = echo();
    let count = u64::from(u32::MAX);
    assert_eq!(refusal(&echo, "EchoData", NDR, &words(&[u32::MAX, u32::MAX, 0])), Error::Count { at: 8, found: count });
    for count in [count, u64::MAX, 1 << 62] {
        let stub = longs(&[3, count, 0]);
        assert_eq!(refusal(&echo, "EchoData", NDR64, &stub), Error::Count { at: 16, found: count });
        let stub = longs(&[count, 0, count, 0]);
        assert_eq!(refusal(&echo, "TestCall", NDR64, &stub), Error::Count { at: 24, found: count });
    }
    // Elements that are large in memory and small on the wire.
    let wide = interface(
        "typedef struct Wide { double many[10000]; } Wide;
        typedef [switch_type(byte)] union Any { [case(1)] Wide wide; [default] ; } Any;
        typedef struct Element { byte kind; [switch_is(kind)] Any any; } Element;
        [object, uuid(3d7a1f60-5b0e-4c0a-8f2d-9e1100000040)] interface IGiven : IUnknown {
            HRESULT Many([in] long count, [in, size_is(count)] const Element *elements);
        }",
    );
    let stub = [words(&[1000, 1000]), vec![0; 2000]].concat();
    assert_eq!(refusal(&wide, "Many", NDR, &stub), Error::TooLong { at: 8 });
}

#[test]
fn stub_data_strings_must_end_with_zero() {
    let echo = echo();
    assert_eq!(refusal(&echo, "TestCall", NDR, &words(&[2, 0, 2, 0x0061_0000])), Error::Text { at: 16 });
    assert_eq!(refusal(&echo, "TestCall", NDR, &words(&[0, 0, 0])), Error::Text { at: 12 });
}

#[test]
fn union_discriminants_must_match_the_interface() {
    let echo = echo();
    let numbers: Numbers = [1].into_iter().collect();
    let decode = |stub: &[u8]| echo.decode("TestCall2", Part::Reply, NDR, &numbers, stub);
    assert!(decode(&[1, 0, 7, 0, 0, 0, 0, 0]).is_ok());
    assert_eq!(decode(&[2, 0, 7, 0, 0, 0, 0, 0]), Err(Error::Arm { at: 2, tag: 2 }), "another arm than was asked for");
    assert_eq!(decode(&[9, 0, 7, 0, 0, 0, 0, 0]), Err(Error::Arm { at: 2, tag: 9 }), "there is no such arm");
    // An open enumeration has 32 bits, the union's discriminant 16 bits. Both have to select the
    // same arm.
    let given = |enumeration| words(&[enumeration, 1, 1, 2, 1, 1]);
    assert!(echo.decode("TestEnum", Part::Request, NDR64, &Numbers::default(), &given(2)).is_ok());
    assert_eq!(refusal(&echo, "TestEnum", NDR64, &given(0x0200_0002)), Error::Arm { at: 16, tag: 2 });
}

#[test]
fn null_reference_pointers_and_wrong_referents_are_refused() {
    let shapes = shapes();
    // One entry whose name, a reference pointer, is null.
    assert_eq!(refusal(&shapes, "Put", NDR, &words(&[1, 1, 0, 1, 1, 5])), Error::Null { at: 12 });
    let pair = interface(
        "typedef struct Pair { [ptr] long *number; [ptr] double *real; } Pair;
        [object, uuid(3d7a1f60-5b0e-4c0a-8f2d-9e1100000041)] interface IGiven : IUnknown {
            HRESULT Take([in] const Pair *pair);
        }",
    );
    assert_eq!(refusal(&pair, "Take", NDR, &words(&[7, 7, 1, 2, 3])), Error::Alias { at: 12 });
    let numbers = pair.decode("Take", Part::Request, NDR, &Numbers::default(), &words(&[7, 8, 1, 0, 2, 3]));
    assert_eq!(numbers.unwrap()[..16], longs(&[24, 40]));
}

#[test]
fn linked_lists_of_any_length_are_converted() {
    const LENGTH: u32 = 20_000;
    let shapes = shapes();
    let mut stub = vec![1, 0, 0, 0];
    for left in (0..LENGTH).rev() {
        stub.extend(words(&[1, 0, 0, u32::from(left > 0)]));
    }
    let frame = shapes.decode("Sum", Part::Request, NDR, &Numbers::default(), &stub).unwrap();
    assert_eq!(frame.len(), 8 + LENGTH as usize * 32);
    let back = shapes.encode("Sum", Part::Request, NDR, &Numbers::default(), &frame).unwrap();
    assert_eq!(back.len(), stub.len());
    // A tree whose branches are in a different order in FLAT.
    let mut tree = words(&[0, 0]);
    for left in (0..LENGTH).rev() {
        tree.extend(words(&[1, 0, u32::from(left > 0), u32::from(left & 1 == 0)]));
    }
    tree.extend(vec![0; 16 * (LENGTH as usize / 2) + 8]);
    let frame = shapes.decode("Insert", Part::Request, NDR, &Numbers::default(), &tree).unwrap();
    let back = shapes.encode("Insert", Part::Request, NDR, &Numbers::default(), &frame).unwrap();
    assert_eq!(shapes.decode("Insert", Part::Request, NDR, &Numbers::default(), &back).unwrap(), frame);
}

#[test]
fn frames_over_the_length_limit_are_refused() {
    let echo = echo();
    let method = echo.plan.method(echo.opnum("EchoData")).unwrap();
    let stub = [words(&[100, 100]), vec![0; 100]].concat();
    let mut frame = Vec::new();
    let decode = |most, frame: &mut Vec<u8>| method.decode_request(&echo.plan, NDR, &stub, most, frame);
    assert_eq!(decode(16 + 8 + 104, &mut frame), Ok(()));
    assert_eq!(decode(16 + 8 + 103, &mut frame), Err(Error::TooLong { at: 8 }));
    assert_eq!(decode(8, &mut frame), Err(Error::TooLong { at: 0 }));
}

#[test]
fn a_failed_method_has_a_status_and_no_frame() {
    const E_FAIL: u32 = 0x8000_4005;
    let shapes = shapes();
    let none = Numbers::default();
    for format in FORMATS {
        // A null list, a box of zeros, and as many null structures as were requested.
        for (name, numbers) in [("Range", none.clone()), ("Flip", none.clone()), ("Some", [5].into_iter().collect())] {
            let method = shapes.plan.method(shapes.opnum(name)).unwrap();
            let (mut stub, mut frame) = (Vec::new(), vec![1]);
            let written = method.encode_response(&shapes.plan, format, &numbers, E_FAIL, &[], &mut stub);
            assert_eq!(written, Ok(()), "{name}: {format:?}");
            let read = method.decode_response(&shapes.plan, format, &numbers, &stub, FRAME_MAX, &mut frame);
            assert_eq!((read, frame.len()), (Ok(E_FAIL), 0), "{name}: {format:?}");
        }
    }
    let take = shapes.plan.method(shapes.opnum("Take")).unwrap();
    let (mut stub, numbers) = (vec![9], [1000].into_iter().collect());
    let written = take.encode_response(&shapes.plan, NDR, &numbers, E_FAIL, &[], &mut stub);
    assert!(matches!(written, Err(Error::Null { .. })), "nothing stands for a thousand structures: {written:?}");
    assert_eq!(stub, [9]);
}

#[test]
fn a_response_must_end_with_its_status() {
    let shapes = shapes();
    let method = shapes.plan.method(shapes.opnum("Noted")).unwrap();
    let mut frame = Vec::new();
    let mut decode =
        |stub: &[u8]| method.decode_response(&shapes.plan, NDR, &Numbers::default(), stub, 100, &mut frame);
    assert_eq!(decode(&words(&[7, 1])), Ok(1));
    assert_eq!(decode(&words(&[1])), Err(Error::Short { at: 0 }), "there is no number before it");
    assert_eq!(decode(&[0; 3]), Err(Error::Short { at: 3 }));
    assert!(frame.is_empty(), "{frame:?}");
}
