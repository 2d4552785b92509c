//! Tests of the limits of a reader of frames.

use super::read::VALUES_MAX;
use super::{DEPTH_MAX, Frames, Layout, Make};
use crate::Compiler;
use crate::model::{Base, EnumId, InterfaceId, StructId, Type, UnionId};
use crate::plan::{KIND_INTERFACE, KIND_TEXT8};
use std::path::Path;

/// A maker of values without contents, which counts the object references.
struct Counted(usize);

impl Make for Counted {
    type Value = ();
    type Structure = ();
    const DEPTH_MAX: usize = DEPTH_MAX;

    fn null(&mut self) -> Option<()> {
        Some(())
    }

    fn base(&mut self, _: Base, _: &[u8]) -> Option<()> {
        Some(())
    }

    fn enumeration(&mut self, _: EnumId, _: i32) -> Option<()> {
        Some(())
    }

    fn text(&mut self, _: String) -> Option<()> {
        Some(())
    }

    fn list(&mut self, _: Vec<()>) -> Option<()> {
        Some(())
    }

    fn bytes(&mut self, _: Base, _: &[u8]) -> Option<()> {
        Some(())
    }

    fn structure(&mut self, _: StructId, _: Option<usize>) -> Option<()> {
        Some(())
    }

    fn member(&mut self, (): &mut (), _: &str, (): ()) -> Option<()> {
        Some(())
    }

    fn finish(&mut self, (): ()) -> Option<()> {
        Some(())
    }

    fn again(&mut self, _: usize) -> Option<()> {
        Some(())
    }

    fn too_deep(&mut self) -> Option<()> {
        None
    }

    fn union(&mut self, _: UnionId, _: i64, _: bool, _: Option<(&str, ())>) -> Option<()> {
        Some(())
    }

    fn object(&mut self, _: &[u8]) -> Option<()> {
        self.0 += 1;
        Some(())
    }
}

/// Runs `work` with the frames of a method that takes a structure with these members.
fn with<R>(members: &str, work: impl FnOnce(&Frames<'_>) -> R) -> R {
    with_method(members, "HRESULT Take([in] struct Given given);", work)
}

/// Runs `work` with the frames of a method. The method may use the structure `Given`, which has
/// these members.
fn with_method<R>(members: &str, method: &str, work: impl FnOnce(&Frames<'_>) -> R) -> R {
    let text = format!(
        "import \"unknwn.idl\";
        struct One {{ byte one; }};
        struct Given {{ {members} }};
        [object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7a30)]
        interface ITest : IUnknown {{ {method} }}"
    );
    let model = Compiler::new().check_text(Path::new("test.idl"), &text).unwrap().model;
    let id = model.interfaces.iter().position(|found| found.name == "ITest").unwrap();
    let methods = model.all_methods(InterfaceId(id));
    work(&Frames::new(Layout::new(&model, &methods), methods[0]))
}

/// Returns the type number of the objects that hold the elements of a member's array.
fn kind_of_elements(frames: &Frames<'_>, member: usize) -> u32 {
    let given = &frames.model().structs.last().unwrap().fields[member].ty;
    let Type::Pointer(pointer) = given else { panic!("{given:?}") };
    frames.layout.kind(&pointer.to)
}

#[test]
fn a_reader_makes_a_limited_number_of_values() {
    let is_read = |count: usize| {
        with("long count; [unique, size_is(count)] struct One *ones;", |frames| {
            let mut frame = [(count as u64).to_le_bytes(), 24_u64.to_le_bytes()].concat();
            frame.extend(kind_of_elements(frames, 1).to_le_bytes());
            frame.extend((count as u32).to_le_bytes());
            frame.resize(24 + count.next_multiple_of(8), 0);
            let mut make = Counted(0);
            let mut reading = frames.read(true, &frame, &|_| None, &mut make).unwrap();
            reading.value(0).is_some()
        })
    };
    assert!(is_read(1000));
    assert!(!is_read(VALUES_MAX / 2));
}

#[test]
fn references_to_which_two_pointers_lead_are_taken_once() {
    let members = "long count; [ptr, size_is(count)] IUnknown **left; [ptr, size_is(count)] IUnknown **right;";
    with(members, |frames| {
        let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let header = |kind: u32, count: u32| u64::from(count) << 32 | u64::from(kind);
        let array = header(kind_of_elements(frames, 1), 1);
        let frame = words(&[1, 32, 32, array, 48, header(KIND_INTERFACE, 4), 0]);
        let mut make = Counted(0);
        let mut reading = frames.read(true, &frame, &|_| None, &mut make).unwrap();
        assert_eq!(reading.value(0), None);
        assert_eq!(make.0, 1);
    });
}

#[test]
fn strings_in_utf8_are_checked_in_requests_and_replies() {
    let method = "HRESULT Greet([in, string, utf8] const char *name, [out, string, utf8] char **greeting);";
    with_method("long a;", method, |frames| {
        for is_request in [true, false] {
            let is_fine = |text: &[u8; 8]| {
                let header = u64::from(KIND_TEXT8) | 8 << 32;
                let frame = [16_u64.to_le_bytes(), header.to_le_bytes(), *text].concat();
                frames.check(is_request, &frame, &|_| None).is_ok()
            };
            assert!(is_fine(b"letters\0") && is_fine("\u{20ac}\u{1f980}\0".as_bytes().try_into().unwrap()));
            assert!(!is_fine(b"letter\xff\0") && !is_fine(b"abcde\xe2\x82\0") && !is_fine(b"\xed\xa0\x80abcd\0"));
        }
    });
}

#[test]
fn numbers_beyond_the_signed_integers_count_nothing_and_select_the_default_arm() {
    let frame = 0_u64.to_le_bytes();
    let counts = "HRESULT Take([in] unsigned hyper n, [out, size_is(, n >> 60)] long **list);";
    let found = with_method("long a;", counts, |frames| frames.check(false, &frame, &|_| None));
    assert!(found.is_err_and(|flaw| flaw.what.starts_with("a number that counts elements exceeds")));
    let selects = "HRESULT Take([in] unsigned hyper n, [out, switch_is(n)] union Chosen *u);";
    let text = "long a; }; [switch_type(unsigned hyper)] union Chosen { [case(1)] long c; [default] ; ";
    with_method(text, selects, |frames| assert!(frames.check(false, &frame, &|_| None).is_ok()));
}

#[test]
fn arrays_in_the_callers_memory_have_the_size_that_the_request_gave() {
    let method = "HRESULT Take([in, out] long *n, [in, out, unique, size_is(*n)] short *values);";
    with_method("long a;", method, |frames| {
        let Type::Pointer(pointer) = &frames.plan().params[1].param.ty else { panic!("an array") };
        let array = u64::from(frames.layout.kind(&pointer.to)) | 2 << 32;
        let frame = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let (request, reply) = (frame(&[2, 24, array, 7]), frame(&[5, 24, array, 8]));
        let outer = |index: usize| frames.number(&request, index);
        let mut make = Counted(0);
        let mut reading = frames.read(false, &reply, &outer, &mut make).unwrap();
        assert_eq!((reading.value(0), reading.value(1)), (Some(()), Some(())));
        let null = frame(&[5, 0]);
        frames.check(false, &null, &outer).unwrap();
        let differs = |request, reply| frames.one_sided_null(request, |index| frames.is_null(reply, index));
        assert_eq!(differs(&request, &reply), None);
        assert_eq!(differs(&request, &null), Some("values"));
        assert_eq!(differs(&null, &reply), Some("values"));
        assert_eq!(differs(&null, &null), None);
    });
}
