//! Values in whole declarations: counts of elements, limited integers, discriminants, IIDs, strings
//! of numbers, and arrays of arrays.

/// Values and forms. Each value is tested in each of the forms.
pub struct Family {
    pub values: &'static [Value],
    pub forms: &'static [Form],
    /// Whether `[local]` methods have the forms, too.
    pub is_local: bool,
}

/// A type, which a form can have in several places.
pub struct Value {
    pub name: &'static str,
    /// The declarations that the type needs. `@` is replaced by a unique name.
    pub declared: &'static str,
    pub ty: &'static str,
    /// The attribute that limits the type.
    pub limits: &'static str,
}

/// A method, and the types that it needs. In the text, `#` is replaced by the value's type, `%` by
/// its limits, and `@` by a unique name.
pub struct Form {
    pub name: &'static str,
    pub types: &'static str,
    pub params: &'static str,
}

const fn value(name: &'static str, declared: &'static str, ty: &'static str) -> Value {
    Value { name, declared, ty, limits: "" }
}

const fn limited(name: &'static str, ty: &'static str, limits: &'static str) -> Value {
    Value { limits, ..value(name, "", ty) }
}

const fn form(name: &'static str, types: &'static str, params: &'static str) -> Form {
    Form { name, types, params }
}

const ENUM: &str = "typedef enum { @_zero, @_one, @_two } @;";

const COUNTS: Family = Family {
    values: &[
        value("count_boolean", "", "boolean"),
        value("count_char", "", "char"),
        value("count_wchar", "", "wchar_t"),
        value("count_small", "", "small"),
        value("count_ushort", "", "unsigned short"),
        value("count_long", "", "long"),
        value("count_ulong", "", "unsigned long"),
        value("count_hyper", "", "hyper"),
        value("count_uhyper", "", "unsigned hyper"),
        value("count_enum", ENUM, "@"),
        value("count_name", "typedef short @;", "@"),
    ],
    forms: &[
        form("before", "", "[in] # n, [in, size_is(n)] long *a"),
        form("after", "", "[in, size_is(n)] long *a, [in] # n"),
        form("most", "", "[in] # n, [in, max_is(n)] long *a"),
        form("capped", "", "[in, max_value(9)] # n, [in, size_is(n)] long *a"),
        form("computed", "", "[in, size_is(n + 1)] long *a, [in] # n, [in, unique, size_is(n * 2)] short *b"),
        form("used", "", "[in, length_is(n)] long *a, [in] # n"),
        form("of_two", "", "[in, size_is(n)] long *a, [in] # n, [in, size_is(n)] boolean *b"),
        form("of_optional", "", "[in, unique, size_is(n)] long *b, [in] # n, [in, size_is(n)] hyper *a"),
        form("of_optionals", "", "[in] # n, [in, unique, size_is(n)] long *a, [in, unique, size_is(n)] short *b"),
        form("behind", "", "[in, size_is(*n)] long *a, [in] # *n"),
        form("changed", "", "[in, out] # *n, [in, size_is(*n)] long *a"),
        form("room", "", "[out, size_is(n)] long *a, [in] # n, [out, size_is(n)] short *b"),
        form("exchanged", "", "[in, out, size_is(n)] long *a, [in] # n"),
        form("partly", "", "[out, size_is(n), length_is(*m)] long *a, [in] # n, [out] # *m"),
        form("made", "", "[out] # *n, [out, size_is(, *n)] long **a"),
        form("made_before", "", "[out, size_is(, *n)] long **a, [out] # *n"),
        form("made_as_asked", "", "[in, out] # *n, [out, size_is(, *n)] long **a"),
        form("changed_room", "", "[in, out] # *n, [out, size_is(*n)] long *a, [in, out, size_is(*n)] short *b"),
        form("changed_length", "", "[in] long n, [in, out] # *m, [out, size_is(n), length_is(*m)] long *a"),
        form(
            "changed_computed",
            "",
            "[in, size_is(*n + 1)] long *a, [in, out] # *n, [in, unique, size_is(*n)] short *b",
        ),
        form("changed_of_two", "", "[in, unique, size_is(*n)] long *a, [in, out] # *n, [in, size_is(*n)] byte *b"),
        form("changed_lent", "", "[in, out] # *n, [out, lend, size_is(, *n)] long **a"),
        form(
            "changed_shared",
            "",
            "[in, zero_copy, size_is(*n)] long *a, [in, out] # *n, [out, map, size_is(*n)] hyper *b",
        ),
        form(
            "changed_led",
            "struct @ { long *p; };",
            "[in, out] # *n, [in, size_is(*n)] struct @ *a, [out, size_is(*n)] struct @ *b",
        ),
        form("changed_led_made", "struct @ { long *p; };", "[out, size_is(, *n)] struct @ **a, [in, out] # *n"),
        form("lent", "", "[out, lend, size_is(, *n)] long **a, [out] # *n"),
        form("shared", "", "[in, size_is(n), zero_copy] long *a, [in] # n, [out, map, size_is(n)] hyper *b"),
        form(
            "led",
            "struct @ { long *p; };",
            "[in, size_is(n)] struct @ *a, [in] # n, [in, unique, size_is(n)] long *b",
        ),
        form("led_back", "struct @ { long *p; };", "[out, size_is(n)] struct @ *a, [in] # n"),
        form("led_made", "struct @ { long *p; };", "[out, size_is(, *n)] struct @ **a, [out] # *n"),
        form(
            "inside",
            "struct @ { [size_is(n)] long *a; # n; [unique, size_is(n)] hyper *b; [string] char *c; };",
            "[in] struct @ *s, [out] struct @ *t",
        ),
        form(
            "inside_ref",
            "struct @ { [ref, size_is(n)] long *a; [size_is(n)] struct { [size_is(m)] long *b; # m; } *c; # n; };",
            "[in] struct @ *s, [out] struct @ *t",
        ),
        form("inside_computed", "struct @ { [size_is(n + 1)] long *a; # n; };", "[in] struct @ *s, [out] struct @ *t"),
        form("at_end", "struct @ { # n; [size_is(n)] short a[]; };", "[in] struct @ *s, [out] struct @ *t"),
        form("maybe", "", "[in, unique] # *n, [in, size_is(*n)] long *a"),
        form("later", "", "[in, size_is(*n)] long *a, [out] # *n"),
        form("later_room", "", "[out, size_is(*n)] long *a, [out] # *n"),
    ],
    is_local: true,
};

const RANGES: Family = Family {
    values: &[
        limited("range_boolean", "boolean", "range(0, 1)"),
        limited("range_byte", "byte", "range(0, 255)"),
        limited("range_char", "char", "range(1, 0x7f)"),
        limited("range_wchar", "wchar_t", "range(0x20, 0xffff)"),
        limited("range_small", "small", "range(-128, 127)"),
        limited("range_usmall", "unsigned small", "range(-5, 300)"),
        limited("range_short", "short", "range(-5, 40000)"),
        limited("range_ushort", "unsigned short", "range(0, 65534)"),
        limited("range_long", "long", "range(-0x7fffffff - 1, 0x7fffffff)"),
        limited("range_ulong", "unsigned long", "range(1, 0xffffffff)"),
        limited("range_hyper", "hyper", "range(-0x7fffffffffffffff - 1, 0x7fffffffffffffff)"),
        limited("range_uhyper", "unsigned hyper", "range(1, 0x7fffffffffffffff)"),
        limited("range_uhyper_any", "unsigned hyper", "range(-5, 1)"),
        Value { limits: "range(0, 1)", ..value("range_enum", ENUM, "@") },
        Value { limits: "range(1, 9)", ..value("range_name", "typedef long @;", "@") },
        limited("range_double", "double", "range(0, 1)"),
    ],
    forms: &[
        form("in", "", "[in, %] # a"),
        form("in_ref", "", "[in, ref, %] # *a"),
        form("back", "", "[in, out, %] # *a, [out, %] # *b"),
        form("retval", "", "[out, retval, %] # *a"),
        form("named", "typedef [%] # @;", "[in] @ a, [in, out] @ *b, [out] @ *c"),
        form("counting", "", "[in, %] # n, [in, size_is(n)] long *a"),
        form("beside", "struct @ { long *p; };", "[in, %] # a, [in] struct @ *s, [in, out, %] # *b, [out, %] # *c"),
        form("member", "struct @ { [%] # a; };", "[in] struct @ *s, [out] struct @ *t"),
        form(
            "member_named",
            "typedef [%] # @_a; struct @ { @_a a; byte b; @_a c; };",
            "[in] struct @ *s, [in, out] struct @ *t",
        ),
        form(
            "member_counting",
            "struct @ { [size_is(n)] long *a; [%] # n; [unique, size_is(n)] short *b; };",
            "[in] struct @ *s, [out] struct @ *t",
        ),
        form("maybe", "", "[in, unique, %] # *a"),
        form("array", "", "[in, size_is(n), %] # *a, [in] long n"),
        form("fixed", "", "[in, %] # a[3]"),
        form("two", "", "[out, %] # **a"),
        form("member_maybe", "struct @ { [unique, %] # *a; };", "[in] struct @ *s"),
        form("member_fixed", "struct @ { [%] # a[3]; };", "[in] struct @ *s"),
        form("member_open", "struct @ { long n; [%, size_is(n)] # a[]; };", "[in] struct @ *s"),
        form("arm", "union @ switch (long t) u { case 1: [%] # a; case 2: long *b; };", "[in] union @ *s"),
        form(
            "arm_named",
            "typedef [%] # @_a; union @ switch (long t) u { case 1: @_a a; case 2: long *b; };",
            "[in] union @ *s",
        ),
    ],
    is_local: false,
};

const TAGS: Family = Family {
    values: &[
        value("tag_boolean", "", "boolean"),
        value("tag_byte", "", "byte"),
        value("tag_char", "", "char"),
        value("tag_wchar", "", "wchar_t"),
        value("tag_small", "", "small"),
        value("tag_usmall", "", "unsigned small"),
        value("tag_short", "", "short"),
        value("tag_ushort", "", "unsigned short"),
        value("tag_long", "", "long"),
        value("tag_ulong", "", "unsigned long"),
        value("tag_hyper", "", "hyper"),
        value("tag_uhyper", "", "unsigned hyper"),
        value("tag_enum", ENUM, "@"),
        value("tag_v1_enum", "typedef [v1_enum] enum { @_one = 1, @_zero = 0 } @;", "@"),
        value("tag_open_enum", "typedef [v1_enum, open] enum { @_zero, @_one } @;", "@"),
        value("tag_name", "typedef short @;", "@"),
    ],
    forms: &[
        form(
            "own",
            "union @ switch (# t) u { case 0: long a; case 1: hyper b; };",
            "[in] union @ *a, [in, out] union @ *b, [out] union @ *c",
        ),
        form("own_rest", "union @ switch (# t) u { case 0: long a; case 1: default: byte b; };", "[in] union @ *a"),
        form("own_leading", "union @ switch (# t) u { case 0: long *a; default: ; };", "[in, unique] union @ *a"),
        form(
            "own_inside",
            "union @_u switch (# t) u { case 0: long *a; case 1: ; }; struct @ { long n; [size_is(n)] union @_u *u; };",
            "[in] struct @ *s, [out] struct @ *t",
        ),
        form("own_negative", "union @ switch (# t) u { case -1: long a; default: byte b; };", "[in] union @ *a"),
        form(
            "beside",
            "typedef [switch_type(#)] union { [case(0)] long a; [case(1)] ; } @;",
            "[in, switch_is(t)] @ a, [in] # t, [out, switch_is(t)] @ *b",
        ),
        form(
            "beside_ref",
            "typedef [switch_type(#)] union { [case(0)] long a; [default] hyper b; } @;",
            "[in] # *t, [in, switch_is(*t)] @ *a",
        ),
        form(
            "beside_leading",
            "typedef [switch_type(#)] union { [case(0)] long *a; [case(1), default] short b; } @;",
            "[in] # t, [in, switch_is(t)] @ a",
        ),
        form(
            "beside_changed",
            "typedef [switch_type(#)] union { [case(0)] long a; [default] hyper b; } @;",
            "[in, out] # *t, [in, out, switch_is(*t)] @ *a",
        ),
        form(
            "beside_made",
            "typedef [switch_type(#)] union { [case(0)] long a; [default] hyper b; } @;",
            "[out, switch_is(*t)] @ *a, [out] # *t",
        ),
        form(
            "inside",
            "typedef [switch_type(#)] union { [case(0)] long a; [default] long *b; } @_u; \
             struct @ { [switch_is(t)] @_u u; # t; };",
            "[in] struct @ *s, [out] struct @ *t",
        ),
        form(
            "inside_unnamed",
            "struct @ { # t; [switch_is(t)] union { [case(0)] long a; [case(1)] byte b; } u; };",
            "[in] struct @ *s, [out] struct @ *t",
        ),
        form(
            "by_long",
            "typedef [switch_type(#)] union { [case(0)] long a; [case(1)] ; } @;",
            "[in] long t, [in, switch_is(t)] @ a",
        ),
        form(
            "by_long_inside",
            "typedef [switch_type(#)] union { [case(0)] long a; [case(1)] byte b; } @_u; \
             struct @ { long t; [switch_is(t)] @_u u; };",
            "[in] struct @ *s",
        ),
        form(
            "maybe",
            "typedef [switch_type(#)] union { [case(0)] long a; [case(1)] ; } @;",
            "[in, unique] # *t, [in, switch_is(*t)] @ *a",
        ),
        form(
            "later",
            "typedef [switch_type(#)] union { [case(0)] long a; [case(1)] ; } @;",
            "[in, switch_is(*t)] @ *a, [out] # *t",
        ),
    ],
    is_local: false,
};

const IIDS: Family = Family {
    values: &[value("iid_unknown", "", "IUnknown"), value("iid_void", "", "void")],
    forms: &[
        form("in", "", "[in] REFIID i, [in, iid_is(i)] # *a"),
        form("after", "", "[in, iid_is(i)] # *a, [in] GUID i"),
        form("out", "", "[in] REFIID i, [out, iid_is(i)] # **a"),
        form("retval", "", "[in] GUID *i, [out, retval, iid_is(i)] # **a"),
        form("inout", "", "[in] GUID i, [in, out, iid_is(i)] # **a"),
        form("made", "", "[out, iid_is(i)] # **a, [out] GUID *i"),
        form("array", "", "[in] REFIID i, [in] long n, [in, size_is(n), iid_is(i)] # **a"),
        form("fixed", "", "[in] GUID i, [in, iid_is(i)] # *a[2]"),
        form("inside", "struct @ { [iid_is(i)] # *a; GUID i; };", "[in] struct @ *s, [out] struct @ *t"),
        form("maybe", "", "[in, unique] GUID *i, [in, iid_is(i)] # *a"),
        form("later", "", "[in, iid_is(i)] # *a, [out] GUID *i"),
    ],
    is_local: true,
};

const TEXTS: Family = Family {
    values: &[
        value("text_byte", "", "byte"),
        value("text_char", "", "char"),
        value("text_usmall", "", "unsigned small"),
        value("text_ushort", "", "unsigned short"),
        value("text_wchar", "", "wchar_t"),
    ],
    forms: &[
        form("in", "", "[in, string] # *a, [in, string] const # *b"),
        form("in_open", "", "[in, string] # a[]"),
        form("in_maybe", "", "[in, unique, string] # *a, [in, ptr, string] # *b"),
        form("in_array", "", "[in] long n, [in, string, size_is(n,)] # **a"),
        form("out", "", "[out, string] # **a, [out] long *b"),
        form("inside", "struct @ { [string] # *a; [string, ref] # *b; };", "[in] struct @ *s, [out] struct @ *t"),
        form("changed", "", "[in, out, string] # *a"),
        form("placed", "", "[in] long n, [out, string, size_is(n)] # *a"),
        form(
            "placed_beside",
            "struct @ { long *p; };",
            "[in] struct @ *s, [in, out] long *n, [out, string, size_is(*n + 1)] # *a",
        ),
        form("sized", "", "[in] long n, [in, string, size_is(n)] # *a"),
        form("resized", "", "[in] long n, [in, out, string, size_is(n)] # *a"),
        form("sized_inside", "struct @ { long n; [string, size_is(n)] # *a; };", "[in] struct @ *s"),
    ],
    is_local: true,
};

const LEVELS: Family = Family {
    values: &[
        value("level_long", "", "long"),
        value("level_values", "struct @ { char a; hyper b; };", "struct @"),
        value("level_leading", "struct @ { long *a; };", "struct @"),
    ],
    forms: &[
        form("constant", "", "[in, size_is(2)] # *a, [out, size_is(3)] # *b"),
        form("vast", "", "[in, size_is(0x100000000)] # *a, [in, unique, size_is(0x7fffffffffffffff)] # *b"),
        form("inner_constant", "", "[in, size_is(2, 3)] # **a"),
        form("outer", "", "[in] long n, [in, size_is(n, 3)] # **a"),
        form("inner", "", "[in] long n, [in, size_is(2, n)] # **a"),
        form("inner_fixed", "", "[in] long n, [in, size_is(, n)] # *a[2]"),
        form("replaced", "", "[in] long *n, [in, out, size_is(, *n)] # **a"),
        form("replaced_maybe", "", "[in, unique] long *n, [in, out, size_is(, *n)] # **a"),
        form("made_constant", "", "[out, size_is(, 3)] # **a"),
        form("made_as_given", "", "[in] long n, [out, size_is(, n)] # **a"),
        form("made_partly", "", "[in] long n, [out] long *m, [out, size_is(, n), length_is(, *m)] # **a"),
        form("made_inner", "", "[out] long *n, [out, size_is(, , *n)] # ***a"),
    ],
    is_local: false,
};

/// All families.
pub const FAMILIES: &[Family] = &[COUNTS, RANGES, TAGS, IIDS, TEXTS, LEVELS];
