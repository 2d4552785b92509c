//! Interfaces for tools that write programs: declarations that match the generated code, and calls
//! with the simplest arguments.

use obvia_idl::emit::component::{Component, Method};
use obvia_idl::model::InterfaceId;
use obvia_idl::{Compilation, Compiler, emit};
use std::path::Path;

fn compiled(text: &str) -> Compilation {
    Compiler::new().check_text(Path::new("x.idl"), text).unwrap_or_else(|failure| panic!("{failure}"))
}

fn methods(component: &Component) -> impl Iterator<Item = &Method> {
    component.interfaces.iter().flat_map(|interface| &interface.methods)
}

#[test]
fn component_declarations_match_the_generated_traits_and_classes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/matrix/idl");
    for name in ["values", "shapes", "functions"] {
        let path = root.join(format!("{name}.idl"));
        let compilation = Compiler::new().check(&path).unwrap_or_else(|failure| panic!("{failure}"));
        let rust = emit::rust::emit(&compilation).expect("it is all done");
        let cpp = emit::c::emit(&compilation, name).expect("it is all done").projection;
        for id in (0..compilation.model.interfaces.len()).map(InterfaceId) {
            let [in_rust, in_cpp] = [emit::rust::component, emit::c::component].map(|of| of(&compilation.model, id));
            assert_eq!(methods(&in_rust).count(), compilation.model.all_methods(id).len());
            for (method, in_cpp) in methods(&in_rust).zip(methods(&in_cpp)) {
                let (line, line_in_cpp) =
                    (format!("{};\n", method.declaration), format!("virtual {} = 0;\n", in_cpp.declaration));
                assert!(rust.contains(&line) && cpp.contains(&line_in_cpp), "{line}{line_in_cpp}");
            }
        }
    }
}

#[test]
fn programs_for_interfaces_that_extend_idispatch_implement_their_own_methods() {
    let compilation = compiled(
        "import \"oaidl.idl\"; [object, dual, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a78)] interface ITwo : IDispatch {
        [id(1)] HRESULT Add([in] long a, [out, retval] long *sum); [id(2)] HRESULT Take([in] IDispatch *object); }",
    );
    let id = InterfaceId(compilation.model.interfaces.len() - 1);
    let component = emit::rust::component(&compilation.model, id);
    assert_eq!(methods(&component).map(|method| method.name.as_str()).collect::<Vec<_>>(), ["Add", "Take"]);
    let calls = emit::rust::random_calls(&compilation, "x");
    assert!(calls.contains("impl ITwo_Impl for ITwo_test_Impl") && !calls.contains("IDispatch_Impl"), "{calls}");
    let code = emit::rust::emit(&compilation).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert!(code.contains("<obvia::IDispatch as obvia::Remote>::INFO") && !code.contains("<IDispatch as"), "{code}");
}

/// Each row has the parameters of a method, the method's call in Rust, and the method's call in C++
/// with the declarations before the call. If there is no call, the row has the reason instead.
const CALLS: [(&str, &str, &str); 16] = [
    ("[in] boolean b, [in] double d, [in] HRESULT h", "M(false, 0.0, obvia::code::S_OK)", "M(false, 0.0, S_OK)"),
    ("[in, range(-9, -2)] long n, [in, range(3, 9)] byte m", "M(-2, 3)", "M(-2, 3)"),
    (
        "[in] Mode mode, [in] const Place *place",
        "M(Mode::FAST, &Place { mode: Mode::FAST, ..Place::default() })",
        "`place` is made of values that may not be 0",
    ),
    ("[in] unsigned long n, [in, size_is(n)] long *of, [out, size_is(n)] short *to", "M(&[], &mut [])", "M({}, {})"),
    ("[in, range(2, 5)] unsigned long n, [in, size_is(n)] long *of", "M(&[0; 2])", "int32_t of[2] = {}; M(of)"),
    ("[in] long n, [in, size_is(2 * n + 1)] const byte *of", "M(0, &[0; 1])", "uint8_t of[1] = {}; M(0, of)"),
    (
        "[in] long n, [in, size_is(n - 1)] const byte *of",
        "`of` is an array that may not be empty",
        "`of` is an array that may not be empty",
    ),
    (
        "[in] long n, [in, size_is(n + 1000)] const byte *of",
        "`of` is an array that may not be empty",
        "`of` is an array that may not be empty",
    ),
    ("[in, string] const char *a, [in, string, unique] const wchar_t *b", "M(c\"\", None)", "M(\"\", std::nullopt)"),
    (
        "[in, out] hyper *n, [in, out] Mode *mode",
        "M(&mut 0, &mut Mode::FAST)",
        "int64_t n = {}; Mode mode = FAST; M(n, mode)",
    ),
    ("[in] const long m[2], [out] long *n", "M(&[0; 2])", "int32_t m[2] = {}; M(m)"),
    (
        "[in] IOther *other, [in, unique] const Place *place, [out] IOther **made",
        "M(None, None)",
        "M(nullptr, nullptr)",
    ),
    (
        "[in, unique] const List *list, [in, out] List **other",
        "M(None, &mut None)",
        "obvia::owned<List> other = {}; M(nullptr, other)",
    ),
    ("[in] const List *list", "`list` is a structure with pointers, or a union, that may not be left out", "M(List{})"),
    (
        "[in] unsigned long n, [in, map, size_is(n)] byte *of",
        "`of` is an array in shared memory",
        "`of` is an array in shared memory",
    ),
    ("[in] unsigned long n, [in, zero_copy, size_is(n)] byte *of", "M((&[][..]).into())", "M({})"),
];

#[test]
fn calls_have_the_simplest_arguments() {
    for (parameters, in_rust, in_cpp) in CALLS {
        let compilation = compiled(&format!(
            "typedef enum Mode {{ FAST = 4, SLOW }} Mode; typedef struct Place {{ Mode mode; long x; }} Place;
            typedef struct List {{ long x; [unique] struct List *next; }} List;
            [object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b01)] interface IOther : IUnknown {{ }}
            [object, uuid(5f0e4c52-0a34-4ac4-8d6c-2c9f3a1f7b02)] interface IOne : IUnknown {{ HRESULT M({parameters}); }}"
        ));
        for (of, wanted) in [(emit::rust::component as fn(_, _) -> _, in_rust), (emit::c::component, in_cpp)] {
            let component: Component = of(&compilation.model, InterfaceId(1));
            let method = methods(&component).next().expect("there is one");
            let call = method
                .call
                .as_ref()
                .map(|call| [&call.before[..], std::slice::from_ref(&call.text)].concat().join(" "));
            assert_eq!(call.unwrap_or_else(Clone::clone), wanted, "{parameters}");
        }
    }
}
