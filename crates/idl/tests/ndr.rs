//! Frames in FLAT, stub data in NDR, and the plans that translate between them.

mod hostile;
mod random;
mod vectors;

use obvia_idl::{Compilation, Compiler};
use obvia_ndr::flat::KIND_FIRST;
use obvia_ndr::ndr::{Error, Format, Numbers, Order, Plan, Syntax};
use std::path::{Path, PathBuf};

/// The maximum size of a frame in bytes.
const FRAME_MAX: usize = 1 << 24;

/// All forms of stub data.
const FORMATS: [Format; 4] = [
    Format { syntax: Syntax::Ndr, order: Order::Little, headers: 0 },
    Format { syntax: Syntax::Ndr, order: Order::Big, headers: 0 },
    Format { syntax: Syntax::Ndr64, order: Order::Little, headers: 0 },
    Format { syntax: Syntax::Ndr64, order: Order::Big, headers: 0 },
];

/// Returns the path of a file of the repository.
fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// An interface with its plan.
struct Interface {
    plan: Plan,
    compilation: Compilation,
    at: usize,
}

/// Compiles a text and returns its interface `IGiven`.
fn interface(text: &str) -> Interface {
    let text = format!("import \"unknwn.idl\";\n{text}");
    let compilation = Compiler::new().check_text(Path::new("given.idl"), &text).unwrap();
    Interface::in_compilation(compilation, "IGiven")
}

#[test]
fn plans_mark_idempotent_methods() {
    let echo = Interface::of("testing/interop/idl/rpcecho.idl", "rpcecho");
    let [one, other] = ["AddOne", "EchoData"].map(|name| echo.plan.method(echo.opnum(name)).unwrap().is_idempotent());
    assert!(one && !other);
}

#[test]
fn ndr_alignment_includes_the_headers() {
    let given = interface(
        "[object, uuid(6f2c7f3e-55b7-4ddc-8f0f-6ac0c5a1d9b7)]
        interface IGiven : IUnknown { HRESULT Take([in] hyper value); }",
    );
    for (headers, before) in [(0, 0), (4, 4), (8, 0), (36, 4)] {
        let format = FORMATS[0].behind(headers);
        let stub = given.encode("Take", Part::Request, format, &Numbers::default(), &[7, 0, 0, 0, 0, 0, 0, 0]).unwrap();
        let expected = [vec![0xee; headers], vec![0; before], vec![7, 0, 0, 0, 0, 0, 0, 0]].concat();
        assert_eq!(stub, expected, "{headers}");
        assert_eq!(
            given.decode("Take", Part::Request, format, &Numbers::default(), &stub).unwrap(),
            stub[stub.len() - 8..]
        );
        for length in 0..stub.len() {
            let cut = given.decode("Take", Part::Request, format, &Numbers::default(), &stub[..length]);
            assert!(matches!(cut, Err(Error::Short { .. })), "{length} bytes behind {headers}");
        }
    }
}

#[test]
fn plans_with_strings_of_structures_are_refused() {
    // An array of structures without members would hold the string.
    let words = [2, 0, 1, 5, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 8, 1, 0, 1, 5, 16, 0, 1, 0, 0, 0];
    assert!(Plan::read(&words).is_none());
    // The same with an array of numbers.
    let words = [1, 0, 2, 1, 0, 1, 0, 0, 8, 1, 0, 1, 5, 16, 0, 1, 0, 0, 0];
    assert!(Plan::read(&words).is_some());
}

/// A string in an array of the caller is a conformant varying string: C706 14.3.4.2.
#[test]
fn strings_in_arrays_of_the_caller_travel_up_to_their_zero() {
    let given = interface(
        "[object, uuid(6f2c7f3e-55b7-4ddc-8f0f-6ac0c5a1d9b7)]
        interface IGiven : IUnknown { HRESULT Take([in] long n, [out, string, size_is(n)] wchar_t *text); }",
    );
    let (kind, numbers) = (KIND_FIRST, [4].into_iter().collect::<Numbers>());
    let frame = |text: [u16; 4]| {
        let mut frame = [16_u64.to_le_bytes(), (u64::from(kind) | 4 << 32).to_le_bytes()].concat();
        frame.extend(text.iter().flat_map(|unit| unit.to_le_bytes()));
        frame
    };
    // The result of the method follows the array.
    let stub = |words: [u32; 3], units: &[u16]| {
        let words = words.iter().flat_map(|word| word.to_le_bytes());
        let mut stub: Vec<u8> = words.chain(units.iter().flat_map(|unit| unit.to_le_bytes())).collect();
        stub.resize(stub.len().next_multiple_of(4) + 4, 0);
        stub
    };
    let encode = |text| given.encode("Take", Part::Reply, FORMATS[0], &numbers, &frame(text));
    let decode = |stub: Vec<u8>| given.decode("Take", Part::Reply, FORMATS[0], &numbers, &stub);
    let text = stub([4, 0, 3], &[0x61, 0x62, 0]);
    assert_eq!(encode([0x61, 0x62, 0, 0x7f]).unwrap(), text);
    assert_eq!(decode(text).unwrap(), frame([0x61, 0x62, 0, 0]));
    assert!(matches!(encode([1, 2, 3, 4]), Err(Error::Text { .. })));
    // Characters after the zero are no part of the string.
    assert_eq!(decode(stub([4, 0, 4], &[0x61, 0, 0x62, 0])).unwrap(), frame([0x61, 0, 0, 0]));
    for units in [&[0x61, 0x62][..], &[0x61, 0, 0x62], &[]] {
        assert!(matches!(decode(stub([4, 0, units.len() as u32], units)), Err(Error::Text { .. })), "{units:?}");
    }
    assert!(matches!(decode(stub([4, 1, 1], &[0])), Err(Error::Offset { .. })));
    // A method that fails has written nothing. A string has at least its zero.
    let method = given.plan.method(3).unwrap();
    let fail = |size: i64| {
        let (numbers, mut failed) = ([size].into_iter().collect::<Numbers>(), Vec::new());
        method.encode_response(&given.plan, FORMATS[0], &numbers, 0x8000_4005, &[], &mut failed).unwrap();
        failed
    };
    assert_eq!(fail(4), [&stub([4, 0, 1], &[0])[..16], &[5, 0x40, 0, 0x80]].concat());
    // An array without elements has no string.
    assert_eq!(fail(0), [&stub([0, 0, 0], &[])[..12], &[5, 0x40, 0, 0x80]].concat());
    for (words, units) in [([3, 0, 1], &[0][..]), ([4, 0, 5], &[0; 5]), ([4, 0, 4], &[0]), ([u32::MAX, 0, 1], &[0])] {
        let found = decode(stub(words, units));
        assert!(matches!(found, Err(Error::Count { .. })), "{words:?}: {found:?}");
    }
}

/// The direction of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Request,
    Reply,
}

impl Interface {
    fn of(path: &str, name: &str) -> Self {
        Self::in_compilation(Compiler::new().check(&file(path)).unwrap(), name)
    }

    fn in_compilation(compilation: Compilation, name: &str) -> Self {
        let at = compilation.model.interfaces.iter().position(|interface| interface.name == name).unwrap();
        let plan = obvia_idl::ndr::plan(&compilation.model, obvia_idl::model::InterfaceId(at)).unwrap();
        Self { plan, compilation, at }
    }

    fn opnum(&self, method: &str) -> u16 {
        let model = &self.compilation.model;
        let all = model.all_methods(obvia_idl::model::InterfaceId(self.at));
        all.iter().find(|found| found.name == method).unwrap().opnum
    }

    fn encode(
        &self,
        method: &str,
        part: Part,
        format: Format,
        numbers: &Numbers,
        frame: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let method = self.plan.method(self.opnum(method)).unwrap();
        let mut stub = vec![0xee; format.headers];
        match part {
            Part::Request => method.encode_request(&self.plan, format, frame, &mut stub)?,
            Part::Reply => method.encode_response(&self.plan, format, numbers, 0, frame, &mut stub)?,
        }
        Ok(stub)
    }

    fn decode(
        &self,
        method: &str,
        part: Part,
        format: Format,
        numbers: &Numbers,
        stub: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let method = self.plan.method(self.opnum(method)).unwrap();
        let mut frame = vec![0xaa; 3];
        match part {
            Part::Request => method.decode_request(&self.plan, format, stub, FRAME_MAX, &mut frame)?,
            Part::Reply => {
                method.decode_response(&self.plan, format, numbers, stub, FRAME_MAX, &mut frame)?;
            }
        }
        Ok(frame)
    }
}
