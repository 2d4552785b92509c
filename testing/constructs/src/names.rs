//! Names with a meaning in some language, for all kinds of declarations.

use std::collections::BTreeSet;
use std::fmt::Write;

/// Keywords of Rust, C, C++ and Java, and common names of their libraries. In IDL they are ordinary
/// names.
const NAMES: &[&str] = &[
    "as",
    "async",
    "await",
    "crate",
    "dyn",
    "fn",
    "impl",
    "loop",
    "match",
    "mod",
    "move",
    "mut",
    "pub",
    "self",
    "Self",
    "super",
    "trait",
    "type",
    "use",
    "where",
    "yield",
    "gen",
    "Option",
    "Some",
    "None",
    "Result",
    "Ok",
    "Err",
    "Vec",
    "String",
    "Box",
    "Clone",
    "Copy",
    "Default",
    "Drop",
    "From",
    "Into",
    "Send",
    "bool",
    "str",
    "u8",
    "i32",
    "usize",
    "std",
    "obvia",
    "auto",
    "register",
    "restrict",
    "volatile",
    "inline",
    "class",
    "template",
    "this",
    "new",
    "delete",
    "virtual",
    "operator",
    "friend",
    "namespace",
    "private",
    "public",
    "using",
    "nullptr",
    "explicit",
    "mutable",
    "concept",
    "requires",
    "abstract",
    "assert",
    "extends",
    "final",
    "finally",
    "implements",
    "instanceof",
    "native",
    "package",
    "synchronized",
    "throws",
    "transient",
    "var",
    "record",
    "sealed",
    "permits",
    "Object",
    "obvia_holder",
    "Made",
    "Raw",
    "obvia_raw",
    "List",
    "Integer",
    "Override",
    "frame",
    "call",
    "reply",
    "result",
    "request",
    "object",
    "values",
    "length",
    "in_",
    "at",
];

/// Names of methods that every type has in some language.
const METHODS: &[&str] = &[
    "clone",
    "into",
    "from",
    "drop",
    "fmt",
    "eq",
    "cmp",
    "hash",
    "deref",
    "as_raw",
    "cast",
    "query",
    "new",
    "default",
    "to_string",
    "toString",
    "hashCode",
    "equals",
    "getClass",
    "notify",
    "wait",
    "finalize",
    "main",
    "exit",
    "errno",
    "close",
    "compareTo",
    "name",
    "notifyAll",
    "ordinal",
    "valueOf",
    "values",
    "borrow",
    "clone_from",
    "from_raw",
    "into_raw",
    "max",
    "ne",
    "to_owned",
    "try_into",
    "type_id",
    "call",
    "checkCopied",
    "isShared",
    "oneway",
    "perform",
    "reference",
    "target",
    "transport",
];

/// Names of types, functions, macros and values that libraries or generated code declare.
const DECLARED: &str = "\
    IntoIterator Fn ToOwned AsRef Debug Hash PartialEq Eq Ord Iterator Sized Sync ToString core alloc \
    windows_core vec format println assert_eq matches derive panic u128 isize f64 size_of size_of_val Owned \
    Union int32_t uint8_t size_t ptrdiff_t intptr_t EOF INT64_C memcpy strlen abs time index stdin offsetof \
    static_assert alignas REFCLSID S_OK E_FAIL lpVtbl OBVIA_ALIGN OBVIA_LOAD obvia_interface obvia_wchar unix \
    linux co_await co_return char8_t constinit module override vector span get put proxy prepared wrong calls \
    results arguments image wires arrays outcome count data size len value raw text Vtbl Impl Ref Type Self_ T R \
    F E I N a b f i n p s x y it Math Enum Record Iterable Class Thread System Exception Character MemorySegment \
    Frame Flat Guid Proxy Remote View of copy retain begin perform with when exports opens _1 _a a__b \
    iid first base info lpVtbl free clear item items error code text count_of want place entry0 argc argv \
    test_same test_values test_place test_expect test_room test_copy test_seed test_draw_object major minor st_atime \
    va_start read stat environ sigmask si_lower log gamma y0 INFINITY M_PI become macro unsized priv raw safe \
    TryInto FnMut AsMut Extend unreachable debug_assert transmute Pin Cell HRESULT Void Short Long Boolean \
    Deprecated Throwable Runnable Comparable AutoCloseable Arrays Objects Optional Consumer Supplier ByteBuffer Arena \
    Hresult RpcException Channel InCall Reference Known Bytes strictfp goto transitive typeid dynamic_cast \
    own never measure Identity D OFFSET Extending alignof asm export import typename is_same forward swap declval uint wint_t";

/// The number of kinds of declarations with a global name.
pub const KINDS: usize = 8;

/// The kinds of declarations that have words of generated code as names: a structure, an
/// enumeration, an interface and a constant.
pub const KINDS_OF_WORDS: [usize; 4] = [1, 3, 5, 7];

/// Returns declarations of this kind with these names, and an interface that uses them. Interfaces
/// have only names that begin with a capital letter. `is_dual` adds an interface that is called by
/// name, if its methods can pass values of this kind.
pub fn declared(words: &BTreeSet<String>, kind: usize, is_dual: bool) -> String {
    let is_named = |word: &&String| kind != 5 || word.starts_with(|first: char| first.is_ascii_uppercase());
    let mut text = String::new();
    let words = words.iter().filter(is_named).enumerate();
    let params: Vec<String> =
        words.map(|(at, word)| format!("[in] {}p{at}", declaration(&mut text, 5000 + at, kind, word))).collect();
    let methods = || {
        let methods = params.chunks(8).enumerate();
        methods.map(|(at, params)| format!("HRESULT M{at}({});\n", params.join(", ")))
    };
    let _ = writeln!(
        text,
        "[object, uuid(c0135700-0000-4000-8008-000000000000)] interface IWords : IUnknown {{\n{}}}",
        methods().collect::<String>()
    );
    if is_dual && matches!(kind, 3 | 7) {
        let methods = methods().enumerate().map(|(at, method)| format!("    [id({})]{method}", at + 1));
        let _ = writeln!(
            text,
            "[object, dual, uuid(c0135700-0000-4000-8008-000000000001)] interface IDual : IDispatch {{\n{}}}",
            methods.collect::<String>()
        );
    }
    text
}

/// Whether [`dangerous`] declares a name.
pub fn is_dangerous(name: &str) -> bool {
    NAMES.contains(&name) || METHODS.contains(&name) || DECLARED.split(' ').any(|one| one == name)
}

/// Returns a file that declares each of these names, and the same name with an underscore. In each
/// of the [`KINDS`] turns, a name has a declaration of another kind.
pub fn dangerous(turn: usize) -> String {
    let mut text = "import \"unknwn.idl\";\n".to_owned();
    let (mut members, mut done) = (Vec::new(), BTreeSet::new());
    let names = NAMES.iter().chain(METHODS).copied().chain(DECLARED.split(' '));
    for (at, name) in names.enumerate() {
        let next = format!("{name}_");
        if !done.insert(name.to_owned()) || !done.insert(next.clone()) {
            continue;
        }
        let ty = declaration(&mut text, at, (at + turn) % KINDS, name);
        let other = declaration(&mut text, at + 1000, (at + turn + 3) % KINDS, &next);
        let (form, passed) = match (at + turn / 2) % 7 {
            0 => (
                format!("struct Form{at} {{ long {name}; double {next}; }};"),
                format!("[in] long {name}, [in, size_is({name})] struct Form{at} *{next}"),
            ),
            1 => (
                format!(
                    "struct Form{at} {{ [range(0, 9)] long {name}; [size_is({name})] long *{next}; \
                     [unique, size_is({name})] hyper *zy; [string] char *z; }};"
                ),
                format!("[in] struct Form{at} *{name}, [out] struct Form{at} *{next}"),
            ),
            2 => (
                format!("struct Form{at} {{ long {name}; [size_is({name})] long {next}[]; }};"),
                format!("[in] struct Form{at} *{name}, [in] IUnknown *{next}, [out] IUnknown **z"),
            ),
            3 => (
                format!("union Form{at} switch (long {name}) {next} {{ case 1: long {name}; case 2: long {next}; }};"),
                format!("[in] union Form{at} *{name}, [in, string] wchar_t *{next}, [out, string] wchar_t **z"),
            ),
            4 => {
                // The nested structure is named after its arm. In C, the union has functions that
                // are called `clear`, `copy` and `free`, so an arm with such a name would be an
                // error.
                let arm = if matches!(name, "clear" | "copy" | "free") { "arm" } else { name };
                (
                    format!(
                        "union Form{at} switch (long t) u {{ case 1: struct {{ long *{name}; long {next}; }} {arm}; \
                         case 2: long {next}; }};"
                    ),
                    format!("[in] union Form{at} *{name}, [in, out] long *{next}"),
                )
            }
            5 => (
                format!("struct Form{at} {{ [ptr] struct Form{at} *{name}; [range(1, 9)] long {next}; }};"),
                format!("[in, unique] struct Form{at} *{name}, [in] long {next}"),
            ),
            _ => (String::new(), format!("[out] long *{name}, [out, size_is(, *{name})] long **{next}")),
        };
        let _ = writeln!(text, "{form}");
        members.push(format!(
            "    HRESULT {name}({passed});\n    HRESULT {next}([in] {ty}{name}, [in] {other}{next}, [out] long *z);\n"
        ));
    }
    for (at, some) in members.chunks(40).enumerate() {
        let _ = writeln!(
            text,
            "[object, uuid(c0135700-0000-4000-8003-{at:012x})] interface IHas{at} : IUnknown {{\n{}}}",
            some.concat()
        );
    }
    text
}

/// Base types among the names. A typedef cannot have such a name.
const BASE_TYPES: [&str; 4] = ["HRESULT", "REFCLSID", "REFIID", "SCODE"];

/// Writes a declaration of this kind with this name. Returns the type of a parameter that uses the
/// declaration.
pub(crate) fn declaration(text: &mut String, at: usize, kind: usize, name: &str) -> String {
    let kind = if BASE_TYPES.contains(&name) && matches!(kind, 0 | 1 | 3 | 4) { 2 } else { kind };
    let (declared, ty) = match kind {
        0 => (format!("typedef struct {name} {{ long {name}; }} {name};"), format!("struct {name} *")),
        1 => (format!("typedef struct {{ long *{name}; }} {name};"), format!("{name} *")),
        2 => (format!("union {name} switch (long t) u {{ case 1: long {name}; }};"), format!("union {name} *")),
        3 => (format!("typedef enum {name} {{ Value{at} }} {name};"), format!("{name} ")),
        4 => (format!("typedef long {name};"), format!("{name} ")),
        5 => (
            format!(
                "[object, uuid(c0135700-0000-4000-8001-{at:012x})] interface {name} : IUnknown \
                 {{ HRESULT {name}([in] {name} *{name}); HRESULT {name}_M(); }}"
            ),
            format!("{name} *"),
        ),
        6 => (format!("typedef enum Enum{at} {{ {name} }} Enum{at};"), format!("Enum{at} ")),
        _ => (format!("const long {name} = {at};"), "long ".to_owned()),
    };
    let _ = writeln!(text, "{declared}");
    ty
}

/// Returns a file with each of these names for types, members, methods, parameters,
/// constants and enumerators.
pub fn file() -> String {
    let mut text = "import \"unknwn.idl\";\n".to_owned();
    for (at, name) in NAMES.iter().enumerate() {
        // The names of types and values have different scopes, so a structure may have the
        // constant's name. The three excluded names are those of enumerators below.
        if !matches!(*name, "Ok" | "None" | "Err") {
            let _ = writeln!(text, "const long {name} = {at};");
        }
        let _ = writeln!(text, "struct {name} {{ long {name}; double after; }};");
        let _ = writeln!(
            text,
            "struct {name}_leads {{ long *{name}; long count; [size_is(count)] struct {name} *of_{name}; }};"
        );
        let _ = writeln!(
            text,
            "union {name}_arms switch (long t) u {{ case 1: long {name}; case 2: struct {name} *of_{name}; }};"
        );
    }
    let _ = writeln!(
        text,
        "const wchar_t *TEXT = L\"quote \\\" back \\\\ tab \\t line \\n number \\x41\\101 ?\\? \u{e4}\";"
    );
    let _ = writeln!(text, "const char *NARROW = \"quote \\\" back \\\\ tab \\t line \\n braces {{}} $x %d\";");
    text.push_str(
        "enum Same { Same, Other };\nenum Kinds { Fine, Ok, None, Err };\ntypedef struct Fine { long a; } Fine_t;\n",
    );
    text.push_str("[object, uuid(c0135700-0000-4000-8000-00000000a001)]\ninterface INames : IUnknown {\n");
    for name in NAMES {
        let _ = writeln!(text, "    HRESULT {name}([in] long {name}, [in] long after);");
        let _ = writeln!(
            text,
            "    HRESULT leads_{name}([in] struct {name}_leads *a, [in] union {name}_arms *arms, [out] struct {name} *back);"
        );
    }
    text.push_str(
        "}\n[object, uuid(c0135700-0000-4000-8000-00000000a004)]\ninterface IShared : IUnknown {\n\
         HRESULT isShared([in] long n, [in, map, size_is(n)] long *a, [in] boolean b);\n}\n\
         [object, uuid(c0135700-0000-4000-8000-00000000a005)]\ninterface IBare : IUnknown {\n",
    );
    METHODS.iter().for_each(|name| _ = writeln!(text, "    HRESULT {name}();"));
    text.push_str("}\n[object, uuid(c0135700-0000-4000-8000-00000000a002)]\ninterface IMethods : IUnknown {\n");
    for name in METHODS {
        let _ = writeln!(text, "    HRESULT {name}([in] long {name});");
    }
    text.push_str("    HRESULT Same([in] enum Same s, [out] enum Kinds *k);\n    HRESULT IMethods_Release();\n    HRESULT X_Release();\n    HRESULT IMethods_clone();\n}\n");
    text.push_str("[object, uuid(c0135700-0000-4000-8000-00000000a003)]\ninterface X : IMethods { HRESULT X_AddRef(); HRESULT X_M(); HRESULT M(); }\n");
    text
}
