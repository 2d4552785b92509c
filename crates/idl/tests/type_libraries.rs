//! Type libraries: written libraries can be read again and match widl's for the same file. Hostile
//! files are refused.

use obvia_idl::typelib::{self, ForeignId, Kind, Place, TypeDesc, TypeInfo, TypeLibrary, Value, flags};
use obvia_idl::{Compiler, emit};
use std::path::Path;

const TONES: &str = include_str!("../../../testing/vectors/typelib/tones.idl");
/// The library that widl 7.0 writes for this file.
const BY_WIDL: &[u8] = include_bytes!("../../../testing/vectors/typelib/tones.tlb");

/// Returns the library of a text, and the codes of the warnings.
fn made(text: &str) -> (TypeLibrary, Vec<&'static str>) {
    let compilation =
        Compiler::new().check_text(Path::new("a.idl"), text).unwrap_or_else(|failure| panic!("{failure}"));
    let (library, warnings) = emit::tlb::library(&compilation).expect("there is a library");
    (library, warnings.iter().map(|warning| warning.code).collect())
}

fn read(bytes: &[u8]) -> TypeLibrary {
    typelib::read(bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str, code: &str, line: usize) {
    let compilation =
        Compiler::new().check_text(Path::new("a.idl"), text).unwrap_or_else(|failure| panic!("{failure}"));
    let errors = emit::tlb::emit(&compilation).expect_err("it is in no type library");
    let found: Vec<_> =
        errors.iter().map(|error| (error.code, error.span.map_or(0, |span| compilation.sources.line(span)))).collect();
    assert_eq!(found, [(code, line)]);
}

/// Returns a file whose library contains these items.
fn library(items: &str) -> String {
    format!("import \"oaidl.idl\";\n[uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)] library L {{\n{items}\n}};")
}

fn named<'a>(library: &'a TypeLibrary, name: &str) -> &'a TypeInfo {
    library.types.iter().find(|ty| ty.name == name).unwrap_or_else(|| panic!("no type is called {name}"))
}

#[test]
fn written_type_libraries_are_read_back() {
    let (library, warnings) = made(TONES);
    assert!(warnings.is_empty(), "{warnings:?}");
    let bytes = typelib::write(&library).unwrap();
    assert_eq!(read(&bytes), library);
    assert_eq!(typelib::write(&made(TONES).0).unwrap(), bytes, "the same each time");
}

#[test]
fn type_libraries_agree_with_widl() {
    let (mut ours, _) = made(TONES);
    let widl = read(BY_WIDL);
    // The two compilers number the types of other libraries differently. They also give different
    // alignments to classes, for which the alignment has no meaning.
    assert_eq!(typelib::idl(&ours), typelib::idl(&widl));
    for (ours, widl) in ours.types.iter_mut().zip(&widl.types) {
        if ours.kind == Kind::Coclass {
            ours.align = widl.align;
        }
        if matches!(ours.kind, Kind::Interface | Kind::Dispatch) {
            ours.interfaces.clone_from(&widl.interfaces);
        }
        assert_eq!(ours, widl);
    }
}

#[test]
fn the_idl_of_a_type_library_has_the_same_meaning() {
    let (library, _) = made(TONES);
    let (again, _) = made(&format!("import \"oaidl.idl\";\n{}", typelib::idl(&library)));
    assert_eq!(typelib::idl(&again), typelib::idl(&library));
}

#[test]
fn type_libraries_include_the_types_they_use() {
    let text = "import \"oaidl.idl\";
        typedef struct Far { long a; } Far;
        typedef union Choice switch (short tag) arm { case 1: long number; case 2: Far far; } Choice;
        [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a11)] interface IBase : IUnknown { HRESULT Nothing(); }
        [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a12)] interface IUnused : IUnknown { HRESULT Nothing(); }
        [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a13)] interface INamed : IBase {
            HRESULT Use([in] Choice *choice, [in] const GUID *what, [in] unsigned long n, [in, size_is(n)] const long *numbers);
        }
        [uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)] library L { interface INamed; };";
    let (library, warnings) = made(text);
    let names: Vec<&str> = library.types.iter().map(|ty| ty.name.as_str()).collect();
    assert_eq!(names, ["IBase", "INamed", "Far", "Choice", "GUID", "Choice_arm"]);
    assert_eq!(warnings, ["no-discriminant", "no-size-in-library"]);
    assert_eq!(read(&typelib::write(&library).unwrap()), library);
    let named_one = named(&library, "INamed");
    assert_eq!((named_one.inherited, named_one.functions[0].slot), ((4, 2), 32));
    let choice = named(&library, "Choice");
    let places: Vec<_> = choice.variables.iter().map(|member| (member.name.as_str(), member.place.clone())).collect();
    assert_eq!((choice.size, &places[..]), (8, &[("tag", Place::Member(0)), ("arm", Place::Member(4))][..]));
}

#[test]
fn type_libraries_can_have_recursive_types() {
    let node = "struct Node; typedef [public] struct Node *Link;
        typedef struct Node { Link next; struct Node *last; } Node;";
    let (made, _) = made(&library(node));
    assert_eq!(read(&typelib::write(&made).unwrap()), made);
    assert!(typelib::idl(&made).contains("Link next;"), "{}", typelib::idl(&made));
}

#[test]
fn type_library_names_that_differ_only_in_case_share_a_spelling() {
    let methods = "[object, dual, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a11)] interface ICase : IDispatch {
        [propget] HRESULT Count([out, retval] long *count); HRESULT Add([in] long COUNT); }";
    let (made, _) = made(&library(methods));
    let names: Vec<_> =
        made.types[0].functions.iter().map(|function| function.params[0].name.as_deref().unwrap()).collect();
    assert_eq!(names, ["Count", "Count"]);
    assert_eq!(read(&typelib::write(&made).unwrap()), made);
}

#[test]
fn default_values_have_the_type_of_their_parameter() {
    let methods = "[object, dual, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a11)] interface IDefaults : IDispatch {
        HRESULT M([in, defaultvalue(0.5)] float a, [in, defaultvalue(2)] double b, [in, defaultvalue(-1)] hyper c,
            [in, defaultvalue(-1)] unsigned short d, [in, defaultvalue(\"\")] BSTR e, [in, defaultvalue(1.5)] VARIANT f,
            [in, defaultvalue(7)] VARIANT g, [in, defaultvalue(0)] IUnknown *h); }";
    let (made, warnings) = made(&library(methods));
    assert!(warnings.is_empty(), "{warnings:?}");
    let again = read(&typelib::write(&made).unwrap());
    assert_eq!(again, made);
    let function = &again.types[0].functions[0];
    let defaults: Vec<_> = function.params.iter().map(|param| param.default.clone().unwrap()).collect();
    let number = |kind, bits| Value::number(kind, bits).unwrap();
    assert_eq!(
        defaults,
        [
            number(4, u64::from(0.5_f32.to_bits())),
            number(5, 2_f64.to_bits()),
            number(20, u64::MAX),
            number(18, 0xffff),
            Value::Text(String::new()),
            number(5, 1.5_f64.to_bits()),
            number(3, 7),
            number(13, 0),
        ]
    );
    assert_eq!(function.optional, 0, "those with defaults are not counted");
    assert!(function.params.iter().all(|param| param.flags == flags::IN | flags::OPTIONAL | flags::HAS_DEFAULT));
}

#[test]
fn constructs_unsupported_in_type_libraries_are_refused() {
    refused("const long A = 1;", "no-library", 0);
    refused("library L { };", "no-uuid", 1);
    refused(&library("coclass C { interface IUnknown; };"), "no-uuid", 3);
    refused(
        &library("[uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a11)]\ninterface Plain { long Next([in] handle_t binding); }"),
        "not-in-library",
        4,
    );
    let long = "L".repeat(256);
    refused(&format!("[uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)] library {long} {{ }};"), "unwritable", 0);
    let uuid = "uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)";
    refused(&format!("[{uuid}, lcid(0x411)] library L {{ }};"), "unwritable", 0);
    refused(&format!("[{uuid}, helpstring(\"\u{3b1}\")] library L {{ }};"), "unwritable", 0);
    let (_, warnings) = made(&library("importlib(\"other.tlb\");"));
    assert_eq!(warnings, ["ignored-importlib"]);
}

#[test]
fn changed_type_library_bytes_cause_no_panic() {
    let mut bytes = typelib::write(&made(TONES).0).unwrap();
    for end in 0..bytes.len() {
        // Bytes near the end may be unused, so that a file without them is still valid.
        assert!(typelib::read(&bytes[..end]).is_err() || end > bytes.len() / 2);
    }
    for at in 0..bytes.len() {
        let value = [0, 0x7f, 0x80, 0xff][at % 4];
        let before = std::mem::replace(&mut bytes[at], value);
        if let Ok(library) = typelib::read(&bytes) {
            drop(typelib::idl(&library));
        }
        bytes[at] = before;
    }
    for (bytes, why) in [
        (&b"SLTG\0\0\0\0"[..], "no type library: it has the older format SLTG, which is not read, at byte 0x0"),
        (b"MZ", "no type library: it does not begin with MSFT, at byte 0x0"),
        (b"MSFT\x03\0\x01\0", "no type library: its format has another version, at byte 0x4"),
        (b"MSFT\x02\0\x01\0", "no type library: it ends too early, at byte 0x8"),
    ] {
        assert_eq!(typelib::read(bytes).unwrap_err().to_string(), why);
    }
}

#[test]
fn type_library_names_must_be_identifiers() {
    let (library, _) = made(TONES);
    let renamed = |name: &str| {
        let mut library = library.clone();
        name.clone_into(&mut library.types[0].name);
        typelib::read(&typelib::write(&library).unwrap())
    };
    for name in ["_Tone1", "T\u{f6}ne", "\u{d7}"] {
        assert_eq!(renamed(name).unwrap().types[0].name, name);
    }
    for name in
        ["I : IUnknown {}\n#include \"/etc/hostname\"\n", "\u{1b}[2J", "T\u{9b}2J", "1T", "T*", "T t", "T\u{a0}t"]
    {
        let error = renamed(name).unwrap_err().to_string();
        assert!(error.starts_with(&format!("no type library: {name:?} is not a name, at byte 0x")), "{error}");
    }
}

#[test]
fn the_idl_of_a_type_library_has_no_control_characters() {
    let (mut library, _) = made(TONES);
    let harmful = "\u{1b}]0;owned\u{7}1\u{9b}2J\u{7f}\x001\n\r\t";
    library.help.text = Some(harmful.to_owned());
    library.imports[0].file = format!("{harmful}**//");
    let text = typelib::idl(&read(&typelib::write(&library).unwrap()));
    assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n'), "{text:?}");
    let (again, _) = made(&format!("import \"oaidl.idl\";\n{text}"));
    assert_eq!(again.help.text.as_deref(), Some(harmful));
    // A type of another library is shown as a comment. The name of that library must not end the
    // comment.
    library.foreign.iter_mut().for_each(|foreign| foreign.what = ForeignId::At(7));
    let text = typelib::idl(&library);
    let (_, comment) = text.split_once("/* type 7 of ").expect("a type of another library is used");
    let (comment, _) = comment.split_once("*/").expect("the comment ends");
    assert!(comment.ends_with("\" "), "{comment:?}");
}

#[test]
fn the_idl_text_of_a_type_library_is_limited() {
    // Many types have the same members with the same long name.
    const TYPES: usize = 40;
    let long = "L".repeat(255);
    let member = |at: i32| typelib::Variable {
        name: long.clone(),
        id: at,
        flags: 0,
        ty: TypeDesc::Simple(3),
        place: Place::Member(0),
        help: typelib::Help::default(),
    };
    let record = TypeInfo {
        name: "R".to_owned(),
        kind: Kind::Record,
        uuid: None,
        version: (0, 0),
        flags: 0,
        help: typelib::Help::default(),
        size: 4,
        align: 4,
        inherited: (0, 0),
        functions: Vec::new(),
        variables: (0..1000).map(member).collect(),
        interfaces: Vec::new(),
        alias: None,
    };
    let library = TypeLibrary { types: vec![record; TYPES], ..TypeLibrary::default() };
    let mut bytes = typelib::write(&library).unwrap();
    assert_eq!(read(&bytes), library);
    // Every type gets the place of the first type's members as the place of its members. The
    // members of the other types are cut off.
    let types = 0x54 + TYPES * 4 + 15 * 16;
    let first: [u8; 4] = bytes[types + 4..types + 8].try_into().unwrap();
    let second: [u8; 4] = bytes[types + 0x68..types + 0x6c].try_into().unwrap();
    for at in 1..TYPES {
        bytes[types + at * 0x64 + 4..][..4].copy_from_slice(&first);
    }
    bytes.truncate(u32::from_le_bytes(second) as usize);
    let error = typelib::read(&bytes).unwrap_err().to_string();
    assert!(error.contains("its records and texts are repeated too often"), "{error}");
}
