//! The combinations that are refused, by the language or by a back end without support for them.
//! All other combinations must work.

use crate::combine::{Case, InterfaceKind};
use crate::form_rules::FORM_RULES;
use crate::rule::{Names, Rule, Stage, and_local, arguments, java, language, local_rust, results, rule, rust};

const NUMBERS: Names = &[
    "boolean",
    "byte",
    "char",
    "small",
    "usmall",
    "short",
    "ushort",
    "long",
    "ulong",
    "hyper",
    "uhyper",
    "float",
    "double",
    "wchar",
    "status",
    "guid",
    "enum",
    "v1_enum",
    "open_enum",
    "name",
];
const VALUES: Names = &["values", "padded", "bits"];
/// Structures with pointers, or with values that depend on one another.
const LEADING: Names = &["limited", "pointing", "texts", "objects", "within", "choosing"];
const CIRCULAR: Names = &["circular"];
const OPEN: Names = &["open"];
const TAGGED: Names = &["tagged", "tagged_pointer"];
const UNIONS: Names = &["union", "pointing_union"];
const NAMED_POINTER: Names = &["named_pointer"];
const NAMED_ARRAY: Names = &["named_array"];
const TEXTS: Names = &["text", "narrow_text", "known_text"];
const UTF8: Names = &["utf8_text"];
const OBJECTS: Names = &["object", "unknown", "dispatch"];
const DISPATCH: Names = &["dispatch"];
const LOCAL_OBJECT: Names = &["local_object"];
const AUTOMATION: Names = &["bstr", "variant", "safe_array"];
/// A structure from Automation's built-in file. C does not have this structure.
const CURRENCY: Names = &["currency"];
/// A structure with pointers, from Automation's built-in file. No language has code for it.
const WIRE: Names = &["wire_bytes"];

const SINGLE: Names = &["in", "in_ref", "out", "retval", "inout"];
const OUT_SINGLE: Names = &["out", "retval", "inout"];
const MAYBE: Names = &["in_unique", "in_full"];
const FULL: Names = &["in_full"];
const IN_TWO: Names = &["in_two"];
const OUT_TWO: Names = &["out_two", "inout_two"];
const IN_ARRAYS: Names = &["in_array", "in_open", "in_unique_array", "in_varying"];
const OUT_ARRAYS: Names = &["out_array", "out_varying"];
const OUT_ARRAY: Names = &["out_array"];
/// An array whose length is the target of a pointer. In `[local]` methods the array is a raw
/// pointer.
const OUT_VARYING: Names = &["out_varying"];
const INOUT_ARRAY: Names = &["inout_array"];
const INOUT_UNIQUE: Names = &["inout_unique"];
const INOUT_UNIQUE_ARRAY: Names = &["inout_unique_array"];
const ALLOCATED: Names = &["out_allocated"];
const IN_FIXED: Names = &["in_fixed"];
const OUT_FIXED: Names = &["out_fixed", "inout_fixed"];
const MEMBER: Names = &["member"];
const MEMBER_POINTERS: Names = &["member_ref", "member_unique", "member_full"];
const MEMBER_FULL: Names = &["member_full"];
const MEMBER_FIXED: Names = &["member_fixed"];
const MEMBER_ARRAYS: Names = &["member_array", "member_varying"];
const MEMBER_OPEN: Names = &["member_open"];
const ARM: Names = &["arm"];
const ARM_UNIQUE: Names = &["arm_unique"];
const ARM_FIXED: Names = &["arm_fixed"];
const RETURNED: Names = &["returned"];

const SWITCHED: &str = "a union whose discriminant is not simply another member";
const ENDS_OPEN: &str = "a structure that ends in an open array";
const LAST_OPEN: &str = "a structure with a member that ends in an open array";
const AUTOMATED: &str = "one of Automation's types";
const EXTENDS_DISPATCH: &str = "whose interface is or extends IDispatch";
const NO_PLAIN_VALUES: &str = "is [in, out], may be null, and leads to more than plain values";
const CHANGED: &[Names] = &[NAMED_POINTER, LEADING, CIRCULAR, OPEN, TAGGED, UNIONS, TEXTS, OBJECTS, LOCAL_OBJECT, WIRE];
/// Places in a parameter's declaration, apart from the value itself and the target of one `[ref]`
/// pointer: targets of other pointers, and elements of arrays.
const INDIRECT: &[Names] = &[
    MAYBE,
    IN_TWO,
    OUT_TWO,
    IN_ARRAYS,
    OUT_ARRAYS,
    INOUT_ARRAY,
    INOUT_UNIQUE,
    INOUT_UNIQUE_ARRAY,
    ALLOCATED,
    IN_FIXED,
    OUT_FIXED,
];
/// Places in structures and unions.
const CONTAINED: &[Names] =
    &[MEMBER, MEMBER_POINTERS, MEMBER_FIXED, MEMBER_ARRAYS, MEMBER_OPEN, ARM, ARM_UNIQUE, ARM_FIXED];
const UNION_RESULT: &str = "a union with pointers as a result";

/// All rules.
pub const RULES: &[Rule] = &[
    // Rules of MIDL.
    language(
        "bad-return",
        "not simply a value",
        &[NAMED_POINTER, LEADING, CIRCULAR, OPEN, TAGGED, UNIONS, TEXTS, UTF8, OBJECTS, LOCAL_OBJECT, WIRE],
        &[RETURNED],
    ),
    language(
        "open-array-inside",
        "open array cannot be part of another type",
        &[OPEN],
        &[MEMBER_FIXED, ARM, ARM_FIXED],
    ),
    language("misplaced-attribute", "[switch_is] means nothing on an arm", &[UNIONS], &[ARM, ARM_UNIQUE, ARM_FIXED]),
    // Rules of [utf8].
    language("misplaced-attribute", "[utf8] means nothing on a", &[UTF8], CONTAINED),
    language("bad-utf8", "cannot have [utf8]", &[UTF8], &[&["in_ref", "inout"]]),
    language("bad-utf8", "cannot have [utf8]", &[UTF8], INDIRECT),
    Rule { kind: &[InterfaceKind::Local], ..language("bad-utf8", "a [local] method", &[UTF8], &[&["out"]]) },
    // Rules of MIDL, and constructs that no language supports.
    language("bad-switch", "[switch_is] is for unions", &[UNIONS], &[IN_FIXED, OUT_FIXED, MEMBER_FIXED]),
    language("unsupported", "cannot be behind two pointers", &[UNIONS], &[IN_TWO, OUT_TWO, ALLOCATED]),
    language("unsupported", "for parameters only", &[AUTOMATION], &[RETURNED]),
    // Constructs that no back end supports.
    rule(Stage::C, AUTOMATED, &[CURRENCY], &[RETURNED]),
    and_local(rust(AUTOMATED, &[AUTOMATION], INDIRECT)),
    and_local(rust(AUTOMATED, &[AUTOMATION], CONTAINED)),
    rust(NO_PLAIN_VALUES, CHANGED, &[INOUT_UNIQUE, INOUT_UNIQUE_ARRAY]),
    rule(Stage::C, NO_PLAIN_VALUES, CHANGED, &[INOUT_UNIQUE, INOUT_UNIQUE_ARRAY]),
    java(NO_PLAIN_VALUES, CHANGED, &[INOUT_UNIQUE, INOUT_UNIQUE_ARRAY]),
    rust(AUTOMATED, &[WIRE], INDIRECT),
    rust(AUTOMATED, &[WIRE], CONTAINED),
    rust(AUTOMATED, &[WIRE], &[SINGLE]),
    // Other pointers of [local] methods stay raw.
    local_rust(
        AUTOMATED,
        &[WIRE],
        &[
            &["in", "in_ref", "retval"],
            MAYBE,
            IN_ARRAYS,
            OUT_ARRAY,
            INOUT_ARRAY,
            INOUT_UNIQUE_ARRAY,
            IN_FIXED,
            OUT_FIXED,
        ],
    ),
    arguments(local_rust(AUTOMATED, &[WIRE], &[MEMBER, MEMBER_POINTERS, MEMBER_FIXED, MEMBER_ARRAYS])),
    and_local(rule(Stage::C, AUTOMATED, &[AUTOMATION, DISPATCH, CURRENCY, WIRE], INDIRECT)),
    and_local(rule(Stage::C, AUTOMATED, &[AUTOMATION, DISPATCH, CURRENCY, WIRE], CONTAINED)),
    java(AUTOMATED, &[AUTOMATION, WIRE], INDIRECT),
    java(AUTOMATED, &[AUTOMATION, WIRE], CONTAINED),
    java(EXTENDS_DISPATCH, &[DISPATCH], INDIRECT),
    java(EXTENDS_DISPATCH, &[DISPATCH], CONTAINED),
    java(EXTENDS_DISPATCH, &[DISPATCH], &[SINGLE]),
    rust(LAST_OPEN, &[OPEN], &[MEMBER]),
    rule(Stage::C, LAST_OPEN, &[OPEN], &[MEMBER]),
    java(LAST_OPEN, &[OPEN], &[MEMBER]),
    // Rules of the C back end.
    rule(
        Stage::C,
        "without a discriminant of its own",
        &[UNIONS],
        &[MAYBE, IN_ARRAYS, OUT_ARRAYS, INOUT_ARRAY, MEMBER_POINTERS, MEMBER_ARRAYS, MEMBER_OPEN],
    ),
    and_local(rule(Stage::C, AUTOMATED, &[AUTOMATION, DISPATCH, CURRENCY, WIRE], &[SINGLE])),
    // Rules of the Rust back end.
    and_local(rust(ENDS_OPEN, &[OPEN], &[&["in"], MAYBE, IN_ARRAYS, IN_FIXED])),
    rust(ENDS_OPEN, &[OPEN], &[IN_TWO]),
    rust(ENDS_OPEN, &[OPEN], &[MEMBER_POINTERS, MEMBER_ARRAYS, MEMBER_OPEN]),
    arguments(rust(ENDS_OPEN, &[OPEN], &[ARM_UNIQUE])),
    rust(
        ENDS_OPEN,
        &[NAMED_POINTER, LEADING, CIRCULAR, TAGGED, UNIONS, TEXTS, OBJECTS, LOCAL_OBJECT, WIRE],
        &[MEMBER_OPEN],
    ),
    arguments(local_rust(ENDS_OPEN, &[WIRE], &[MEMBER_OPEN])),
    and_local(rust(SWITCHED, &[UNIONS], &[IN_ARRAYS])),
    rust(SWITCHED, &[UNIONS], &[MEMBER_POINTERS, MEMBER_ARRAYS]),
    arguments(rust("a union whose arms lead to [ptr] pointers", &[CIRCULAR], &[ARM, ARM_UNIQUE, ARM_FIXED])),
    results(rust(UNION_RESULT, &[NUMBERS, VALUES, OPEN, NAMED_ARRAY, CURRENCY], &[ARM_UNIQUE])),
    results(rust(
        UNION_RESULT,
        &[NAMED_POINTER, LEADING, CIRCULAR, TAGGED, TEXTS, OBJECTS, LOCAL_OBJECT, WIRE],
        &[ARM, ARM_UNIQUE, ARM_FIXED],
    )),
    rust(UNION_RESULT, &[TAGGED], &[OUT_TWO]),
    rust(UNION_RESULT, &[&["tagged_pointer", "pointing_union"]], &[OUT_SINGLE]),
    and_local(rust("an array of pointers", &[NAMED_POINTER], &[OUT_ARRAY])),
    rust("an array of pointers", &[NAMED_POINTER], &[OUT_VARYING, ALLOCATED]),
    and_local(rust("an array of unions", &[TAGGED, UNIONS], &[OUT_ARRAY])),
    rust("an array of unions", &[TAGGED, UNIONS], &[OUT_VARYING]),
    rust("an array of unions", &[TAGGED], &[ALLOCATED]),
    rust("a pointer to a pointer, as a result", &[NAMED_POINTER], &[OUT_TWO]),
    rust("an [in, out] string", &[TEXTS], &[&["inout"]]),
    and_local(rust(
        "an [in, out] array with length_is, or with elements",
        &[NAMED_POINTER, LEADING, CIRCULAR, OPEN, TAGGED, UNIONS, TEXTS, OBJECTS, LOCAL_OBJECT],
        &[INOUT_ARRAY, INOUT_UNIQUE_ARRAY],
    )),
    rust("of fixed size that the method allocates", &[NAMED_ARRAY], &[OUT_TWO]),
    and_local(rust("of fixed size with interface pointers", &[OBJECTS, LOCAL_OBJECT], &[IN_FIXED])),
    rust("of fixed size with interface pointers", &[OBJECTS, LOCAL_OBJECT], &[MEMBER_FIXED]),
    arguments(rust("of fixed size with interface pointers", &[OBJECTS, LOCAL_OBJECT], &[ARM_FIXED])),
    and_local(rust(
        "of fixed size with pointers, as a result",
        &[NAMED_POINTER, LEADING, CIRCULAR, OPEN, TAGGED, TEXTS, OBJECTS, LOCAL_OBJECT],
        &[OUT_FIXED],
    )),
    // Rules of the Java back end.
    java("a [ptr] pointer to a number", &[NUMBERS, TAGGED], &[FULL]),
    java(
        "a pointer to a pointer",
        &[NAMED_POINTER, TEXTS, OBJECTS],
        &[MAYBE, IN_TWO, OUT_TWO, MEMBER_POINTERS, ARM_UNIQUE],
    ),
    java("a pointer to a pointer", &[LOCAL_OBJECT], &[MAYBE, IN_TWO, OUT_TWO]),
    java("a pointer to a union", &[UNIONS], &[MAYBE, MEMBER_POINTERS]),
    java(
        "a pointer to an array of fixed size",
        &[NAMED_ARRAY],
        &[FULL, INOUT_UNIQUE, IN_TWO, OUT_TWO, MEMBER_POINTERS, ARM_UNIQUE],
    ),
    java(
        "a structure with [ptr] pointers that is no object of its own",
        &[NUMBERS, VALUES, LEADING, CIRCULAR, OPEN, TAGGED, CURRENCY, WIRE],
        &[MEMBER_FULL],
    ),
    java("a structure with [ptr] pointers that is no object of its own", &[CIRCULAR], &[SINGLE]),
    java("a structure with [ptr] pointers within another", &[CIRCULAR], &[MEMBER, ARM]),
    java(
        "an array of arrays",
        &[NAMED_ARRAY],
        &[IN_ARRAYS, OUT_ARRAYS, INOUT_ARRAY, INOUT_UNIQUE_ARRAY, ALLOCATED, MEMBER_ARRAYS, MEMBER_OPEN],
    ),
    java("an array of fixed size that may be missing", &[NAMED_ARRAY], &[&["in_unique"]]),
    java(
        "an array of fixed size whose elements have pointers, unions or ranges",
        &[NAMED_POINTER, LEADING, CIRCULAR, OPEN, TAGGED, TEXTS, OBJECTS, LOCAL_OBJECT, WIRE],
        &[IN_FIXED, OUT_FIXED],
    ),
    java(
        "an array of structures with [ptr] pointers",
        &[CIRCULAR],
        &[IN_ARRAYS, OUT_ARRAYS, INOUT_ARRAY, ALLOCATED, MEMBER_FIXED, MEMBER_ARRAYS, MEMBER_OPEN, ARM_FIXED],
    ),
    java(
        "an array of unions without discriminants of their own",
        &[UNIONS],
        &[IN_ARRAYS, OUT_ARRAYS, INOUT_ARRAY, MEMBER_ARRAYS, MEMBER_OPEN],
    ),
    java(
        "an object of an interface that is left out",
        &[LOCAL_OBJECT],
        &[
            SINGLE,
            IN_ARRAYS,
            OUT_ARRAYS,
            INOUT_ARRAY,
            ALLOCATED,
            MEMBER,
            MEMBER_POINTERS,
            MEMBER_FIXED,
            MEMBER_ARRAYS,
            MEMBER_OPEN,
            ARM,
            ARM_UNIQUE,
            ARM_FIXED,
        ],
    ),
    java(AUTOMATED, &[AUTOMATION, WIRE], &[SINGLE]),
];

/// Rust's rules for data that `[local]` methods read. These methods write data through pointers,
/// for which the callers are responsible.
const LOCAL_READS: &[Rule] = &[
    arguments(rust(ENDS_OPEN, &[OPEN], &[MEMBER, MEMBER_POINTERS, MEMBER_ARRAYS, MEMBER_OPEN])),
    arguments(rust(
        ENDS_OPEN,
        &[NAMED_POINTER, LEADING, CIRCULAR, TAGGED, UNIONS, TEXTS, OBJECTS, LOCAL_OBJECT],
        &[MEMBER_OPEN],
    )),
    arguments(rust(SWITCHED, &[UNIONS], &[MEMBER_POINTERS, MEMBER_ARRAYS])),
    arguments(rust("of fixed size with interface pointers", &[OBJECTS, LOCAL_OBJECT], &[MEMBER_FIXED])),
    rust(UNION_RESULT, &[&["tagged_pointer", "pointing_union"]], &[&["retval"]]),
];

/// Returns the rules by which a part of the compiler refuses a combination.
pub fn of(case: &Case, stage: Stage) -> impl Iterator<Item = &'static Rule> {
    let is_among = |all: &[Names], name: &str| all.iter().any(|names| names.contains(&name));
    let is_of = move |rule: &&Rule| {
        rule.stage.map_or(stage != Stage::Compiler, |own| own == stage)
            && is_among(rule.constructs, case.construct)
            && is_among(rule.places, case.place)
            && (rule.passed.is_empty() || rule.passed.contains(&case.passed))
    };
    let local = LOCAL_READS.iter().filter(move |rule| case.kind == InterfaceKind::Local && is_of(rule));
    let all = RULES.iter().chain(FORM_RULES);
    all.filter(move |rule| rule.kind.contains(&case.kind) && is_of(rule)).chain(local)
}

/// Whether a combination must work in a language.
pub fn is_accepted(case: &Case, stage: Stage) -> bool {
    of(case, Stage::Compiler).next().is_none() && of(case, stage).next().is_none()
}
