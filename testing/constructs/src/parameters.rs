//! Parameters of every name that generated code gives to variables, passed in every way.

use crate::names::declaration;
use crate::rule::Stage;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The suffixes of variables that generated code has for a parameter.
const ENDINGS: &str = "\
    asked at borrowing count data ended final from given got in length lent made memory most out own owned raw reference \
    room small taken to used value wire";

/// The prefix of the names of the other parameters. No name to be tested begins with this prefix.
pub const OTHER: &str = "lion_";

/// The parameter lists of methods that pass a parameter called `$`, one list for each way of
/// passing. `@` is [`OTHER`].
const WAYS: [&str; 24] = [
    "[in] long @n, [in, size_is(@n)] boolean *$",
    "[in] long @n, [in, out, size_is(@n)] struct Padded *$",
    "[in] long @room, [out] long *@used, [out, size_is(@room), length_is(*@used)] long *$",
    "[out] long *@n, [out, size_is(, *@n)] long **$",
    "[out, string] char **$",
    "[in, string] wchar_t *$",
    "[in, unique] long *$",
    "[in, out] struct Padded *$",
    "[in] struct Leads *$, [out] struct Leads *@back",
    "[in, out] struct Leads **$",
    "[in] union Arms *$, [out] long *@back",
    "[in] IUnknown *$, [out] IUnknown **@back",
    "[in] long @n, [in, size_is(@n), zero_copy] long *$",
    "[in, range(1, 5)] long $, [out] long *@back",
    "[in] long $, [in, size_is($)] struct Padded *@back",
    "[out] long *$, [out, size_is(, *$)] long **@back",
    "[in] long $, [out] long *@one, [out] long *@two",
    "[in] long $, [out] struct Flags *@back",
    "[in] long $, [in] long @n, [out, size_is(@n)] long *@back",
    "[in] long $, [in, unique, size_is($ + 1)] long *@back, [in, size_is($ * 2)] struct Leads *@to",
    "[in, size_is(@n + 1)] long *$, [in] long @n, [in, unique, size_is(@n)] long *@one, [in, size_is(@n)] long *@two",
    "[in] GUID $, [in, iid_is($)] IUnknown *@one, [out, iid_is($)] IUnknown **@back",
    "[in, iid_is(@i)] IUnknown *$, [in] GUID @i, [out] IUnknown **@back",
    "[in, out] long *$, [in, out, switch_is(*$)] Bare *@back",
];

/// Further ways of passing, in languages that lend arrays.
const LENT: [&str; 2] =
    ["[out] long *@n, [out, lend, size_is(, *@n)] long **$", "[out] long *$, [out, lend, size_is(, *$)] long **@back"];

/// Further ways of passing, in Rust alone.
const OF_RUST: [&str; 2] = [
    "[in] long $, [in, unique, switch_is($)] Bare *@back",
    "[in] BSTR @text, [out] VARIANT *@back, [in] long $, [out, size_is($)] long *@room",
];

/// Declarations of the types that the methods pass.
const TYPES: &str = "import \"oaidl.idl\";\nstruct Padded { char a; hyper b; };\n\
    struct Leads { long n; [size_is(n)] long *p; };\nunion Arms switch (long t) u { case 1: long *a; case 2: long b; };\n\
    struct Flags { boolean b[4]; [unique] long *p; };\n\
    typedef [switch_type(long)] union { [case(1)] long a; [case(2)] short b; [default] ; } Bare;\n";

/// Returns the ways of passing a parameter that a language supports.
pub fn ways(stage: Stage) -> Vec<&'static str> {
    let lent = LENT.iter().filter(|_| stage != Stage::Java);
    WAYS.iter().chain(lent).chain(OF_RUST.iter().filter(|_| stage == Stage::Rust)).copied().collect()
}

/// Returns the declaration of a method with a parameter called `name`. `way` is the method's list
/// of parameters, in which `name` replaces `$`.
fn method(at: usize, way: &str, name: &str) -> String {
    format!("    HRESULT M{at}({});\n", way.replace('$', name).replace('@', OTHER))
}

/// Returns a file with methods that pass a parameter called `name` in each of the ways, and with
/// more declarations.
pub fn passing(ways: &[&str], name: &str, more: &str) -> String {
    let methods: String = ways.iter().enumerate().map(|(at, way)| method(at, way, name)).collect();
    format!(
        "{TYPES}{more}[object, uuid(c0135700-0000-4000-8006-000000000000)] interface IWays : IUnknown {{\n{methods}}}\n"
    )
}

/// Returns a file that declares each name that generated code derives from the names of some
/// parameters. The file's methods pass these parameters in each way. For each way, further methods
/// pass parameters that have the names of the `variables` in the code for that way.
pub fn made_up(variables: &[(&str, BTreeSet<String>)]) -> String {
    let mut text = TYPES.to_owned();
    let kinds = [4, 5, 3, 7, 0].map(|kind| (kind, format!("p{kind}")));
    for (at, (kind, name)) in kinds.iter().enumerate() {
        for (ending_at, ending) in ENDINGS.split(' ').enumerate() {
            declaration(&mut text, 2000 + 100 * at + ending_at, *kind, &format!("{name}_{ending}"));
        }
    }
    for (at, (way, names)) in variables.iter().enumerate() {
        let names = kinds.iter().map(|(_, name)| name).chain(names);
        let methods: String = names.enumerate().map(|(at, name)| method(at, way, name)).collect();
        let _ = writeln!(
            text,
            "[object, uuid(c0135700-0000-4000-8004-{at:012x})] interface IWays{at} : IUnknown {{\n{methods}}}"
        );
    }
    text
}
