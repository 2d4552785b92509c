//! Every construct of the language in every permitted place, as IDL.

use crate::forms::{FAMILIES, Form, Value};
use std::fmt::Write;

/// A construct of the language: a type, with the declarations and attributes that it needs.
pub struct Construct {
    pub name: &'static str,
    /// The declarations that the construct needs. `@` is replaced by a unique name.
    declared: &'static str,
    /// The attributes that the construct adds to the attributes of its place.
    attributes: &'static str,
    /// The type, with the stars before the name.
    ty: &'static str,
    /// Whether a quick run includes the construct.
    is_quick: bool,
}

const fn construct(name: &'static str, declared: &'static str, ty: &'static str) -> Construct {
    Construct { name, declared, attributes: "", ty, is_quick: true }
}

/// Returns a construct that only a wide run includes.
const fn wide(name: &'static str, declared: &'static str, ty: &'static str) -> Construct {
    Construct { is_quick: false, ..construct(name, declared, ty) }
}

const UNION: &str = "typedef [switch_type(long)] union @ { [case(1)] long a; [case(2)] double b; [case(3)] ; } @;";
const POINTING_UNION: &str =
    "typedef [switch_type(long)] union @ { [case(1)] long *a; [case(2, 4)] short b; [default] ; } @;";

/// All constructs.
pub const CONSTRUCTS: &[Construct] = &[
    construct("boolean", "", "boolean"),
    wide("byte", "", "byte"),
    wide("char", "", "char"),
    wide("small", "", "small"),
    wide("usmall", "", "unsigned small"),
    wide("short", "", "short"),
    wide("ushort", "", "unsigned short"),
    construct("long", "", "long"),
    wide("ulong", "", "unsigned long"),
    wide("hyper", "", "hyper"),
    wide("uhyper", "", "unsigned hyper"),
    wide("float", "", "float"),
    wide("double", "", "double"),
    wide("wchar", "", "wchar_t"),
    wide("status", "", "HRESULT"),
    construct("guid", "", "GUID"),
    construct("enum", "enum @ { @_a, @_b = 5 };", "enum @"),
    wide("v1_enum", "typedef [v1_enum] enum { @_a, @_b = -70000 } @;", "@"),
    wide("open_enum", "typedef [v1_enum, open] enum { @_a, @_b } @;", "@"),
    wide("name", "typedef long @;", "@"),
    construct("named_pointer", "typedef long *@;", "@"),
    wide("named_array", "typedef long @[3];", "@"),
    construct("values", "struct @ { long a; double b; boolean c; };", "struct @"),
    wide("padded", "struct @_in { byte a; hyper b; }; typedef struct { struct @_in c[2]; short d; } @;", "@"),
    wide("bits", "struct @ { byte a; unsigned long b : 3, c : 29; unsigned short d : 1; short e; };", "struct @"),
    wide("limited", "typedef struct { [range(1, 9)] long a; } @;", "@"),
    construct("pointing", "typedef struct @ { long n; [size_is(n)] long *a; struct @ *next; } @;", "@"),
    construct("circular", "typedef struct @ { [ptr] struct @ *next; long a; } @;", "@"),
    wide("texts", "typedef struct @ { [string] wchar_t *a; [string] char *b; } @;", "@"),
    wide("objects", "typedef struct @ { IOther *a; IUnknown *b; } @;", "@"),
    construct("open", "typedef struct @ { long n; [size_is(n)] short a[]; } @;", "@"),
    wide("within", "typedef struct @ { struct { long a; } b; struct { long *a; } c; } @;", "@"),
    construct(
        "choosing",
        "typedef struct @ { long t; [switch_is(t)] union { [case(1)] long a; [case(2)] long *b; } u; } @;",
        "@",
    ),
    construct(
        "tagged",
        "union @ switch (long t) u { case 1: long a; case 2: case 3: double b; default: ; };",
        "union @",
    ),
    wide("tagged_pointer", "typedef union @ switch (short t) u { case 1: long *a; case 2: short b; } @;", "@"),
    Construct { attributes: "switch_is(t)", ..construct("union", UNION, "@") },
    Construct { attributes: "switch_is(t)", ..wide("pointing_union", POINTING_UNION, "@") },
    Construct { attributes: "string", ..construct("text", "", "wchar_t *") },
    Construct { attributes: "string", ..wide("narrow_text", "", "char *") },
    wide("known_text", "", "LPWSTR"),
    construct("object", "", "IOther *"),
    wide("unknown", "", "IUnknown *"),
    wide("dispatch", "", "IDispatch *"),
    wide("local_object", "", "ILocal *"),
    construct("bstr", "", "BSTR"),
    wide("variant", "", "VARIANT"),
    wide("safe_array", "", "SAFEARRAY(long)"),
    wide("currency", "", "CURRENCY"),
    wide("wire_bytes", "", "BYTE_SIZEDARR"),
    Construct { attributes: "string, utf8", ..construct("utf8_text", "", "char *") },
];

/// A place in which a construct may be.
pub struct Place {
    pub name: &'static str,
    kind: Kind,
    /// The parameters or members before the place, as text.
    before: &'static str,
    attributes: &'static str,
    /// The declarator around the name: `*a[]`.
    declarator: &'static str,
    is_quick: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Param,
    Member,
    Arm,
    Returned,
}

const fn param(name: &'static str, before: &'static str, attributes: &'static str, declarator: &'static str) -> Place {
    Place { name, kind: Kind::Param, before, attributes, declarator, is_quick: true }
}

const fn member(name: &'static str, before: &'static str, attributes: &'static str, declarator: &'static str) -> Place {
    Place { kind: Kind::Member, ..param(name, before, attributes, declarator) }
}

const fn arm(name: &'static str, attributes: &'static str, declarator: &'static str) -> Place {
    Place { kind: Kind::Arm, ..param(name, "", attributes, declarator) }
}

/// Returns a place that only a wide run includes.
const fn in_wide_run(place: Place) -> Place {
    Place { is_quick: false, ..place }
}

/// All places.
pub const PLACES: &[Place] = &[
    param("in", "", "in", "a"),
    in_wide_run(param("in_ref", "", "in, ref", "*a")),
    param("in_unique", "", "in, unique", "*a"),
    param("in_full", "", "in, ptr", "*a"),
    param("in_two", "", "in", "**a"),
    param("in_array", "[in] long n, ", "in, size_is(n)", "*a"),
    in_wide_run(param("in_open", "[in] long n, ", "in, size_is(n)", "a[]")),
    param("in_unique_array", "[in] long n, ", "in, unique, size_is(n)", "*a"),
    param("in_varying", "[in] long n, [in] long m, ", "in, size_is(n), length_is(m)", "*a"),
    param("in_fixed", "", "in", "a[3]"),
    param("out", "", "out", "*a"),
    param("out_two", "", "out", "**a"),
    param("retval", "", "out, retval", "*a"),
    param("out_array", "[in] long n, ", "out, size_is(n)", "*a"),
    param("out_varying", "[in] long n, [out] long *m, ", "out, size_is(n), length_is(*m)", "*a"),
    param("out_allocated", "[out] long *n, ", "out, size_is(, *n)", "**a"),
    param("out_fixed", "", "out", "a[3]"),
    param("inout", "", "in, out", "*a"),
    param("inout_two", "", "in, out", "**a"),
    param("inout_array", "[in] long n, ", "in, out, size_is(n)", "*a"),
    param("inout_fixed", "", "in, out", "a[3]"),
    param("inout_unique", "", "in, out, unique", "*a"),
    param("inout_unique_array", "[in] long n, ", "in, out, unique, size_is(n)", "*a"),
    member("member", "", "", "a"),
    member("member_ref", "", "ref", "*a"),
    member("member_unique", "", "unique", "*a"),
    member("member_full", "", "ptr", "*a"),
    member("member_fixed", "", "", "a[3]"),
    member("member_array", "long n; ", "size_is(n)", "*a"),
    in_wide_run(member("member_varying", "long n; long m; ", "size_is(n), length_is(m)", "*a")),
    member("member_open", "long n; ", "size_is(n)", "a[]"),
    arm("arm", "", "a"),
    arm("arm_unique", "unique", "*a"),
    arm("arm_fixed", "", "a[3]"),
    Place { kind: Kind::Returned, ..param("returned", "", "", "") },
];

/// The ways in which a method passes a structure or a union that contains the construct.
const PASSED: [(&str, &str); 3] = [("in", "[in] @ *s"), ("out", "[out] @ *s"), ("inout", "[in, out] @ *s")];

/// The kind of interface that the method belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum InterfaceKind {
    /// An object's interface that other processes call.
    Remote,
    /// An object's interface with methods that only its own process calls: see [`file`].
    Local,
    /// A server's interface without objects.
    Plain,
}

/// A construct in a place, or a value in a form.
pub struct Case {
    /// The unique name of the case.
    pub name: String,
    /// The name of the construct or of the value.
    pub construct: &'static str,
    /// The name of the place or of the form.
    pub place: &'static str,
    /// The way in which the containing type is passed. Empty if the construct itself is passed.
    pub passed: &'static str,
    pub kind: InterfaceKind,
    types: String,
    method: String,
}

/// The step by which a quick run selects combinations of a construct, a place and a way of passing.
/// The step does not apply to functions.
const STEP: usize = 12;

/// The step by which a quick run selects combinations of a value and a form. No family's number of
/// forms is a multiple of this step, so a quick run tests different values in different forms.
const FORM_STEP: usize = 37;

/// Returns all combinations, or those of a quick run. In a quick run each selected construct is in
/// places of each kind, and each selected place has several constructs.
pub fn cases(is_wide: bool) -> Vec<Case> {
    let constructs = CONSTRUCTS.iter().filter(|construct| is_wide || construct.is_quick).enumerate();
    let places = PLACES.iter().filter(|place| is_wide || place.is_quick).enumerate();
    let mut cases = Vec::new();
    for kind in [InterfaceKind::Remote, InterfaceKind::Local, InterfaceKind::Plain] {
        let all = constructs.clone().flat_map(|construct| places.clone().map(move |place| (construct, place)));
        for ((at, construct), (place_at, place)) in all {
            // A quick run skips repetitions. Functions behave like methods, except for their
            // results, and types behave in local interfaces as in other interfaces.
            let is_other = !is_wide
                && match kind {
                    InterfaceKind::Remote => false,
                    InterfaceKind::Local => place.kind != Kind::Param,
                    InterfaceKind::Plain => place.kind != Kind::Returned,
                };
            if is_other
                || (place.kind == Kind::Returned) != (kind == InterfaceKind::Plain) && place.kind == Kind::Returned
            {
                continue;
            }
            let passed: &[(&str, &str)] =
                if matches!(place.kind, Kind::Member | Kind::Arm) { &PASSED } else { &[("", "")] };
            // In a quick run, a structure or union around the construct is passed in at most one of
            // three ways.
            let is_taken =
                |way: usize| is_wide || kind == InterfaceKind::Plain || (at + place_at + way).is_multiple_of(STEP);
            let passed = passed.iter().enumerate().filter(|(way, _)| is_taken(*way + kind as usize));
            cases.extend(passed.map(|(_, passed)| case(construct, place, *passed, kind)));
        }
        cases.extend(formed(kind, is_wide));
    }
    cases
}

/// Returns the values in their forms. Functions behave like methods, and types behave in local
/// interfaces as in other interfaces.
fn formed(kind: InterfaceKind, is_wide: bool) -> impl Iterator<Item = Case> {
    let families = FAMILIES.iter().filter(move |family| match kind {
        InterfaceKind::Remote => true,
        InterfaceKind::Local => family.is_local,
        InterfaceKind::Plain => false,
    });
    let of = |values: &'static [Value], forms: &'static [Form]| {
        values.iter().flat_map(move |value| forms.iter().map(move |form| (value, form)))
    };
    let all = families.flat_map(move |family| of(family.values, family.forms));
    all.step_by(if is_wide { 1 } else { FORM_STEP }).map(move |(value, form)| case_of_form(value, form, kind))
}

/// Returns the name of a case.
fn name(kind: InterfaceKind, parts: &[&str]) -> String {
    let letter = match kind {
        InterfaceKind::Remote => 'r',
        InterfaceKind::Local => 'l',
        InterfaceKind::Plain => 'p',
    };
    format!("{letter}_{}", parts.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("_"))
}

fn case_of_form(value: &'static Value, form: &'static Form, kind: InterfaceKind) -> Case {
    let name = name(kind, &[value.name, form.name]);
    let (own, holder) = (format!("{name}_t"), format!("{name}_h"));
    let ty = value.ty.replace('@', &own);
    let filled = |text: &str| text.replace('@', &holder).replace('#', &ty).replace('%', value.limits);
    let types = format!("{} {}", value.declared.replace('@', &own), filled(form.types));
    let method = format!("HRESULT {name}({});", filled(form.params));
    Case { name, construct: value.name, place: form.name, passed: "", kind, types, method }
}

fn case(
    construct: &'static Construct,
    place: &'static Place,
    passed: (&'static str, &'static str),
    kind: InterfaceKind,
) -> Case {
    let name = name(kind, &[construct.name, place.name, passed.0]);
    let own = format!("{name}_t");
    let ty = construct.ty.replace('@', &own);
    let switched = construct.attributes.contains("switch_is");
    let attributes = [place.attributes, construct.attributes]
        .iter()
        .filter(|text| !text.is_empty())
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    let attributes = if attributes.is_empty() { String::new() } else { format!("[{attributes}] ") };
    let stands = format!("{attributes}{ty} {}", place.declarator);
    let mut types = construct.declared.replace('@', &own);
    let holder = format!("{name}_h");
    let method = match place.kind {
        Kind::Param => {
            let before = format!("{}{}", if switched { "[in] long t, " } else { "" }, place.before);
            // In functions, counts and discriminants come after the parameters that need them.
            match before.strip_suffix(", ").filter(|_| kind == InterfaceKind::Plain) {
                Some(after) => format!("HRESULT {name}({stands}, {after});"),
                None => format!("HRESULT {name}({before}{stands});"),
            }
        }
        Kind::Returned => format!("{ty} {name}();"),
        Kind::Member => {
            let before = format!("{}{}", if switched { "long t; " } else { "" }, place.before);
            let _ = match kind {
                // An open array is the last member.
                InterfaceKind::Plain if !place.declarator.ends_with("[]") => {
                    write!(types, "\nstruct {holder} {{ {stands}; {before}}};")
                }
                _ => write!(types, "\nstruct {holder} {{ {before}{stands}; }};"),
            };
            format!("HRESULT {name}({});", passed.1.replace('@', &format!("struct {holder}")))
        }
        Kind::Arm => {
            let _ = write!(types, "\nunion {holder} switch (long t) u {{ case 1: {stands}; case 2: short b; }};");
            format!("HRESULT {name}({});", passed.1.replace('@', &format!("union {holder}")))
        }
    };
    Case { name, construct: construct.name, place: place.name, passed: passed.0, kind, types, method }
}

/// Returns an IDL file with these combinations. All combinations of a construct and a kind of
/// interface are in one interface. For [`InterfaceKind::Local`] there are two interfaces, which get
/// the combinations in turn: a `[local]` interface, and an interface that other processes call,
/// with `[local]` methods. If `begins_with_method`, the second interface gets the first
/// combination.
pub fn file(cases: &[&Case], begins_with_method: bool) -> String {
    let mut text = "import \"oaidl.idl\";\n\
        [object, uuid(c0135700-0000-4000-8000-000000000001)] interface IOther : IUnknown { HRESULT Other(); }\n"
        .to_owned();
    if cases.iter().any(|case| case.construct == "local_object") {
        text.push_str("[object, local, uuid(c0135700-0000-4000-8000-000000000002)] interface ILocal : IUnknown { HRESULT Here(); }\n");
    }
    let mut uuid = 0x100;
    let mut interface = |text: &mut String, attributes: &str, name: &str, base: &str, methods: &[String]| {
        let _ = writeln!(text, "[{attributes}uuid(c0135700-0000-4000-8000-{uuid:012x})]\ninterface {name} {base}{{");
        methods.iter().for_each(|method| _ = writeln!(text, "    {method}"));
        text.push_str("}\n");
        uuid += 1;
    };
    for group in cases.chunk_by(|one, other| one.construct == other.construct && one.kind == other.kind) {
        let (kind, construct) = (group[0].kind, group[0].construct);
        for case in group {
            let _ = writeln!(text, "{}", case.types);
        }
        let methods = || group.iter().map(|case| case.method.clone());
        let name = format!("I{kind:?}_{construct}");
        match kind {
            InterfaceKind::Plain => interface(&mut text, "", &name, "", &methods().collect::<Vec<_>>()),
            InterfaceKind::Remote => {
                interface(&mut text, "object, ", &name, ": IUnknown ", &methods().collect::<Vec<_>>());
            }
            InterfaceKind::Local => {
                let every_second = |first: usize| methods().skip(first).step_by(2);
                let (first, second) = if begins_with_method { (1, 0) } else { (0, 1) };
                let whole: Vec<String> = every_second(first).collect();
                if !whole.is_empty() {
                    interface(&mut text, "object, local, ", &name, ": IUnknown ", &whole);
                }
                let mut mixed: Vec<String> = every_second(second).map(|method| format!("[local] {method}")).collect();
                if !mixed.is_empty() {
                    mixed.push("HRESULT Far();".to_owned());
                    interface(&mut text, "object, ", &format!("IMixed_{construct}"), ": IUnknown ", &mixed);
                }
            }
        }
    }
    text
}
