//! Names with a meaning in some language, for all kinds of declarations.

use std::collections::BTreeSet;
use std::fmt::Write;

/// Keywords of Rust, C, C++ and Java, and common names of their libraries, which are ordinary names
/// in IDL.
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
    alignof asm export import typename is_same forward swap declval uint wint_t";

/// The suffixes of variables that generated code has for a parameter.
const ENDINGS: &str = "\
    asked at borrowing count data ended final from given got in length lent made memory most out own owned raw reference \
    room small taken to used value wire";

/// The number of kinds of declarations with a global name.
pub const KINDS: usize = 8;

/// Returns a file that declares each of these names, and the same name with an underscore. In each
/// of the [`KINDS`] turns, a name declares something of another kind.
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
        let (form, passed) = match (at + turn / 2) % 6 {
            0 => (
                format!("struct Form{at} {{ long {name}; double {next}; }};"),
                format!("[in] long {name}, [in, size_is({name})] struct Form{at} *{next}"),
            ),
            1 => (
                format!("struct Form{at} {{ long {name}; [size_is({name})] long *{next}; [string] char *z; }};"),
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
            4 => (
                format!("union Form{at} switch (long t) u {{ case 1: long *{name}; case 2: long {next}; }};"),
                format!("[in] union Form{at} *{name}, [in, out] long *{next}"),
            ),
            _ => (String::new(), format!("[out] long *{name}, [out, size_is(, *{name})] long **{next}")),
        };
        let _ = writeln!(text, "{form}");
        members.push(format!(
            "    HRESULT {name}({passed});\n    HRESULT {next}([in] {ty}{name}, [in] {other}{next}, [out] long *z);\n"
        ));
    }
    // In Java the description of an interface is a single string, whose length is limited.
    for (at, some) in members.chunks(40).enumerate() {
        let _ = writeln!(
            text,
            "[object, uuid(c0135700-0000-4000-8003-{at:012x})] interface IHas{at} : IUnknown {{\n{}}}",
            some.concat()
        );
    }
    text
}

/// Declares a name as something of this kind. Returns the type of a parameter that uses the
/// declaration.
fn declaration(text: &mut String, at: usize, kind: usize, name: &str) -> String {
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

/// Returns the parameter lists of methods that pass a parameter of this name, one list for each way
/// of passing.
fn ways(name: &str) -> Vec<String> {
    vec![
        format!("[in] long n, [in, size_is(n)] boolean *{name}"),
        format!("[in] long n, [in, out, size_is(n)] struct Padded *{name}"),
        format!("[in] long room, [out] long *used, [out, size_is(room), length_is(*used)] long *{name}"),
        format!("[out] long *n, [out, size_is(, *n)] long **{name}"),
        format!("[out] long *n, [out, lend, size_is(, *n)] long **{name}"),
        format!("[out] long *{name}, [out, lend, size_is(, *{name})] long **back"),
        format!("[out, string] char **{name}"),
        format!("[in, string] wchar_t *{name}"),
        format!("[in, unique] long *{name}"),
        format!("[in, out] struct Padded *{name}"),
        format!("[in] struct Leads *{name}, [out] struct Leads *back"),
        format!("[in, out] struct Leads **{name}"),
        format!("[in] union Arms *{name}, [out] long *back"),
        format!("[in] IUnknown *{name}, [out] IUnknown **back"),
        format!("[in] long n, [in, size_is(n), zero_copy] long *{name}"),
        format!("[in, range(1, 5)] long {name}, [out] long *back"),
        format!("[in] long {name}, [in, size_is({name})] struct Padded *back"),
        format!("[out] long *{name}, [out, size_is(, *{name})] long **back"),
    ]
}

/// Declarations of the types that the methods of [`ways`] pass.
const TYPES_OF_WAYS: &str = "import \"unknwn.idl\";\nstruct Padded { char a; hyper b; };\n\
    struct Leads { long n; [size_is(n)] long *p; };\nunion Arms switch (long t) u { case 1: long *a; case 2: long b; };\n";

/// Returns a file with methods that pass a parameter called `name` in each way, and with more
/// declarations.
pub fn passing(name: &str, more: &str) -> String {
    let methods = ways(name).into_iter().enumerate().map(|(at, way)| format!("    HRESULT M{at}({way});\n"));
    let methods = methods.collect::<String>();
    format!(
        "{TYPES_OF_WAYS}{more}[object, uuid(c0135700-0000-4000-8006-000000000000)] interface IWays : IUnknown {{\n{methods}}}\n"
    )
}

/// Variables of generated functions, which parameters may have as names.
const VARIABLES: &str = "\
    at call count error failed found frame item length object outcome proxy reply request result results selected status \
    text this value";

/// Returns a file that declares each name that generated code derives from a parameter's name. Its
/// methods pass parameters with such names, and with the names of variables, in each way. `lends`
/// is false for Java, which lends no arrays.
pub fn made_up(lends: bool) -> String {
    let mut text = TYPES_OF_WAYS.to_owned();
    let kinds = [4, 5, 3, 7, 0].map(|kind| (kind, format!("p{kind}")));
    for (at, (kind, name)) in kinds.iter().enumerate() {
        for (ending_at, ending) in ENDINGS.split(' ').enumerate() {
            declaration(&mut text, 2000 + 100 * at + ending_at, *kind, &format!("{name}_{ending}"));
        }
    }
    let names = kinds.iter().map(|(_, name)| name.as_str()).chain(VARIABLES.split(' '));
    for (at, name) in names.enumerate() {
        let methods = ways(name)
            .into_iter()
            .enumerate()
            .filter(|(_, way)| lends || !way.contains("lend"))
            .map(|(at, way)| format!("    HRESULT M{at}({way});\n"));
        let _ = writeln!(
            text,
            "[object, uuid(c0135700-0000-4000-8004-{at:012x})] interface IWays{at} : IUnknown {{\n{}}}",
            methods.collect::<String>()
        );
    }
    text
}

/// The suffixes that generated C code may append to the name of an interface, of a method and of a
/// type.
const OF_INTERFACES: &str = "Vtbl _INFO _proxies _stubs _ndr _endpoints _types _types_words _calls _methods _adapter";
const OF_METHODS: &str = "\
    _proxy _prepare _other_regions _stub _select_regions _refill _invoke _request _reply _table _table_words _results _by_reference \
    _by_reference_proxy _by_reference_prepare _by_reference_other_regions _by_reference_stub \
    _by_reference_select_regions _by_reference_request";
const OF_TYPES: &str = "_is_valid _store _free _clear _copy";

/// A kind of method. `$` is the number of the case.
struct KindOfMethod {
    name: &'static str,
    params: &'static str,
    /// The suffixes of the functions that C code has for the method.
    functions: &'static str,
    /// The suffixes of the types and objects that C or C++ code has for the method.
    objects: &'static str,
}

static KINDS_OF_METHODS: [KindOfMethod; 4] = [
    KindOfMethod {
        name: "Own",
        params: "[in] long a, [in] enum Kind$ k, [in] struct Gap$ *g, [out] long *b, [out] long *c",
        functions: "_proxy _prepare _stub",
        objects: "_request _reply _results",
    },
    KindOfMethod {
        name: "Tabled",
        params: "[in] struct Chain$ *a, [in, string] char *t",
        functions: "_proxy _stub _invoke",
        objects: "_table _table_words",
    },
    KindOfMethod {
        name: "Shared",
        params: "[in] long n, [in, size_is(n), zero_copy] hyper *a",
        functions: "_proxy _prepare _stub _by_reference_proxy _by_reference_prepare _by_reference_other_regions \
            _by_reference_stub _by_reference_select_regions",
        objects: "_request _by_reference_request",
    },
    KindOfMethod {
        name: "Lent",
        params: "[out] long *n, [out, lend, size_is(, *n)] long **p",
        functions: "_proxy _prepare _stub _refill",
        objects: "_reply",
    },
];

/// The index of the kind of method for interfaces with a single method. These interfaces test the
/// declarations whose names are an interface's name with one of the suffixes [`OF_INTERFACES`].
const TABLED: usize = 1;
/// The suffixes that C code appends to the name of such an interface.
const OBJECTS_OF_INTERFACES: &str = "Vtbl _INFO _proxies _stubs _ndr _types _types_words _calls _methods _adapter";

/// The types that the [`KINDS_OF_METHODS`] pass. Each has the suffixes that C code appends to its
/// name for functions. A file with such a name has a method of the first kind.
const TYPES: [(&str, &str); 3] = [("Kind$", "_is_valid"), ("Gap$", "_store"), ("Chain$", "_free _clear _copy")];

/// Declarations, one of which has a name that generated code may also declare.
pub struct MadeOfNames {
    pub text: String,
    /// Whether generated code for C has the name, so that the back end must refuse the
    /// declarations.
    pub is_refused: bool,
}

/// Returns all such declarations.
pub fn made_of_names() -> Vec<MadeOfNames> {
    let mut combined = Vec::new();
    let mut add = |base: String, endings: &'static str, kind: &'static KindOfMethod, functions, objects| {
        let is_in = |list: &str, ending| list.split(' ').any(|one| one == ending);
        let named = |ending| (format!("{base}{ending}"), kind, is_in(functions, ending), is_in(objects, ending));
        combined.extend(endings.split(' ').map(named));
    };
    add("Is$".to_owned(), OF_INTERFACES, &KINDS_OF_METHODS[TABLED], "", OBJECTS_OF_INTERFACES);
    for kind in &KINDS_OF_METHODS {
        add(format!("Is$_{}", kind.name), OF_METHODS, kind, kind.functions, kind.objects);
    }
    for (ty, functions) in TYPES {
        add(ty.to_owned(), OF_TYPES, &KINDS_OF_METHODS[0], functions, "");
    }
    let mut parts = Vec::new();
    for (name, passing, is_function, is_object) in combined {
        for kind in 0..KINDS {
            let at = 3000 + parts.len();
            let (mut text, name) = (String::new(), name.replace('$', &at.to_string()));
            let method = name.strip_prefix(&format!("Is{at}_")).filter(|_| kind % 4 == 0);
            if method.is_none() {
                declaration(&mut text, at, kind, &name);
            }
            let _ = writeln!(
                text,
                "enum Kind$ {{ First$, Second$ }}; struct Gap$ {{ char a; hyper b; }};\n\
                 struct Chain$ {{ long a; [unique] struct Chain$ *next; }};\n\
                 [object, uuid(c0135700-0000-4000-8005-{at:012x})] interface Is$ : IUnknown {{ HRESULT {}({}); {} }}",
                passing.name,
                passing.params,
                method.map_or_else(String::new, |method| format!("HRESULT {method}([in] long a);"))
            );
            // Macros of methods do not clash with objects of the same name. A method that is called
            // `Shared_by_reference` clashes with `Shared`, whose form with arrays by reference has
            // functions of this name.
            let is_refused = match method {
                Some(method) => is_function || method == "Shared_by_reference",
                None => is_function || is_object,
            };
            parts.push(MadeOfNames { text: text.replace('$', &at.to_string()), is_refused });
        }
    }
    parts
}

/// Returns a file with each of these names for types, members, methods, parameters,
/// constants and enumerators.
pub fn file() -> String {
    let mut text = "import \"unknwn.idl\";\n".to_owned();
    for name in NAMES {
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
    text.push_str("}\n[object, uuid(c0135700-0000-4000-8000-00000000a002)]\ninterface IMethods : IUnknown {\n");
    for name in METHODS {
        let _ = writeln!(text, "    HRESULT {name}([in] long {name});");
    }
    text.push_str("    HRESULT Same([in] enum Same s, [out] enum Kinds *k);\n    HRESULT IMethods_Release();\n    HRESULT X_Release();\n    HRESULT IMethods_clone();\n}\n");
    text.push_str("[object, uuid(c0135700-0000-4000-8000-00000000a003)]\ninterface X : IMethods { HRESULT X_AddRef(); HRESULT X_M(); HRESULT M(); }\n");
    text
}
