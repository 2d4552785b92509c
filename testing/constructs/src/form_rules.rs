//! The rules that refuse values in their forms.

use crate::rule::{Names, Rule, Stage, and_local, every, java, language, local_rust, rule, rust};

const COUNTS: Names = &[
    "count_boolean",
    "count_char",
    "count_wchar",
    "count_small",
    "count_ushort",
    "count_long",
    "count_ulong",
    "count_hyper",
    "count_uhyper",
    "count_enum",
    "count_name",
];
const RANGES: Names = &[
    "range_byte",
    "range_char",
    "range_wchar",
    "range_small",
    "range_usmall",
    "range_short",
    "range_ushort",
    "range_long",
    "range_ulong",
    "range_hyper",
    "range_uhyper",
    "range_uhyper_any",
    "range_name",
];
const LIMITED_ENUM: Names = &["range_enum"];
/// Types that have limits, but are not integers.
const UNLIMITED: Names = &["range_boolean", "range_double"];
const DOUBLE: Names = &["range_double"];
const SIGNED_TAGS: Names = &["tag_small", "tag_short", "tag_long", "tag_hyper", "tag_name"];
const ENUM_TAGS: Names = &["tag_enum", "tag_v1_enum", "tag_open_enum"];
const UNSIGNED_TAGS: Names =
    &["tag_boolean", "tag_byte", "tag_char", "tag_wchar", "tag_usmall", "tag_ushort", "tag_ulong", "tag_uhyper"];
const IIDS: Names = &["iid_unknown", "iid_void"];
const TEXTS: Names = &["text_byte", "text_char", "text_usmall", "text_ushort", "text_wchar"];
const LEVELS: Names = &["level_long", "level_values", "level_leading"];

/// Forms that have a range in a place other than an open array or an arm.
const RANGED: Names = &[
    "in",
    "in_ref",
    "back",
    "retval",
    "named",
    "counting",
    "beside",
    "member",
    "member_named",
    "member_counting",
    "maybe",
    "array",
    "fixed",
    "two",
    "member_maybe",
    "member_fixed",
    "arm_named",
];

const MAYBE: Names = &["maybe"];
const LATER: Names = &["later"];
const NOT_AN_INTEGER: &str = "a structure or union with [range] on an arm, or on a member that is no integer";
const COUNT_MAYBE: &str = "an array whose size is behind a pointer that may be null";

/// All rules of values in forms.
pub(crate) const FORM_RULES: &[Rule] = &[
    // Rules about counts.
    language(
        "bad-max-value",
        "the greatest value of an [in] integer",
        &[&["count_boolean", "count_enum"]],
        &[&["capped"]],
    ),
    every(COUNT_MAYBE, &[COUNTS], &[MAYBE]),
    every("an array whose size depends on a result", &[COUNTS], &[LATER, &["later_room"]]),
    java("an array that the method lends", &[COUNTS], &[&["lent", "changed_lent"]]),
    rust(
        "a lent array whose length is a boolean or an enumeration",
        &[&["count_boolean", "count_enum"]],
        &[&["lent", "changed_lent"]],
    ),
    // Rules about limited integers.
    language("bad-range", "[range] is not on an integer", &[UNLIMITED], &[RANGED]),
    language("not-an-integer", "is not an integer", &[DOUBLE], &[&["counting", "member_counting"]]),
    language("misplaced-attribute", "[range] means nothing on an arm", &[RANGES, LIMITED_ENUM, UNLIMITED], &[&["arm"]]),
    every(
        "is an enumeration that [range] limits",
        &[LIMITED_ENUM],
        &[&["in", "in_ref", "back", "retval", "named", "counting", "beside"]],
    ),
    every(NOT_AN_INTEGER, &[LIMITED_ENUM], &[&["member", "member_named", "member_counting"]]),
    every(NOT_AN_INTEGER, &[RANGES, LIMITED_ENUM], &[&["member_maybe", "member_fixed"]]),
    every("is a pointer that may be null that [range] limits", &[RANGES, LIMITED_ENUM], &[MAYBE]),
    every("is an array that [range] limits", &[RANGES, LIMITED_ENUM], &[&["array", "fixed"]]),
    every("is a pointer to a pointer that [range] limits", &[RANGES, LIMITED_ENUM], &[&["two"]]),
    every(NOT_AN_INTEGER, &[RANGES, LIMITED_ENUM, UNLIMITED], &[&["member_open"]]),
    every(NOT_AN_INTEGER, &[RANGES, LIMITED_ENUM], &[&["arm_named"]]),
    // Rules about discriminants. The value -1 is refused only for unsigned types.
    language("bad-switch", "no discriminant has the value", &[UNSIGNED_TAGS], &[&["own_negative"]]),
    every(
        "a union whose discriminant is behind a pointer that may be null",
        &[SIGNED_TAGS, UNSIGNED_TAGS, ENUM_TAGS],
        &[MAYBE],
    ),
    every("a union whose discriminant depends on a result", &[SIGNED_TAGS, UNSIGNED_TAGS, ENUM_TAGS], &[LATER]),
    java("an enumeration that a value of another type selects", &[ENUM_TAGS], &[&["by_long", "by_long_inside"]]),
    // Rules about objects whose IID is another parameter or member.
    every("an object whose IID is behind a pointer that may be null", &[IIDS], &[MAYBE]),
    every("an object whose IID depends on a result", &[IIDS], &[LATER]),
    every("an array of objects whose IID is an argument", &[IIDS], &[&["array", "fixed"]]),
    local_rust("of fixed size with interface pointers", &[IIDS], &[&["fixed"]]),
    // Rules about strings.
    and_local(rust("a string that the method writes in its caller's memory", &[TEXTS], &[&["changed"]])),
    local_rust("a string that the method writes in its caller's memory", &[TEXTS], &[&["resized"]]),
    rule(Stage::C, "a string that the method changes in place", &[TEXTS], &[&["changed"]]),
    java("an [out] array in the caller's room beside structures with pointers", &[TEXTS], &[&["placed_beside"]]),
    every("is a string that has a size or a length of its own", &[TEXTS], &[&["sized", "resized"]]),
    every("a structure or union with a string that has a size or a length", &[TEXTS], &[&["sized_inside"]]),
    // Rules about arrays of arrays.
    every(COUNT_MAYBE, &[LEVELS], &[&["replaced_maybe"]]),
    every(
        "through other pointers to an array whose size depends on a parameter",
        &[LEVELS],
        &[&["inner", "inner_fixed", "made_inner"]],
    ),
    rust("a pointer to pointers to several values", &[LEVELS], &[&["inner_constant", "outer"]]),
    java("an array of pointers to pointers or arrays", &[LEVELS], &[&["inner_constant", "outer"]]),
    rust("an [in, out] array that the method may replace", &[LEVELS], &[&["replaced"]]),
    rust(
        "an array that the method allocates, with length_is",
        &[LEVELS],
        &[&["made_constant", "made_as_given", "made_partly"]],
    ),
];
