//! Names that mean something in one language or another, for everything that has a name.

use std::fmt::Write;

/// Keywords of Rust, C, C++ and Java, and names that everybody uses there, that IDL has for names like any other.
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

/// Names of methods that everything has in some language.
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
];

/// A file in which types, members, methods, parameters, constants and values of enumerations have them.
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
