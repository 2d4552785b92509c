//! IDL files whose declarations are not combined with those of other files.

/// A `[local]` interface whose methods return values of many types.
pub const DIRECT: &str = "\
    import \"unknwn.idl\";
    typedef struct Pair { long a; hyper b; } Pair;
    struct Hidden;
    struct Listed { long a; [unique] struct Listed *next; };
    typedef enum Colour { Red, Green } Colour;
    [object, local, uuid(c0135700-0000-4000-8007-000000000000)] interface IDirect : IUnknown {
        void *Alloc([in] unsigned long size);
        void Free([in] byte *memory);
        void Nothing();
        unsigned long Count([in] Pair *pair, [in, string] const wchar_t *text, [out] long *result);
        Pair Both([in] long returned);
        Colour Paint([in] Colour colour);
        boolean Is([in] IUnknown *one, [out] IUnknown **other);
        IDirect *Next();
        IUnknown *Any();
        struct Hidden *Show([in] struct Hidden *hidden);
        struct Listed *List([in] struct Listed *list);
        char *Text();
        const wchar_t *Name();
        const void **Places();
        HRESULT Put([in] const void *from, [in] unsigned long n, [in, size_is(n)] void *bytes, [out] void **to);
        HRESULT Usual([in] long a, [out, retval] long *b);
    }
    [object, local, uuid(c0135700-0000-4000-8007-000000000001)] interface IHeir : IDirect { float More(); }
";

/// A `[local]` interface whose methods can be called by name.
pub const BY_NAME: &str = "\
    import \"oaidl.idl\";
    [object, local, dual, uuid(c0135700-0000-4000-8007-000000000002)] interface IByName : IDispatch {
        HRESULT Nothing();
        HRESULT Sum([in] long a, [in] long b, [out, retval] long *sum);
    }
";

/// Typedefs in the forms that C's headers have. Programs may use the names of the types.
pub const TYPEDEFS: &str = "\
    import \"unknwn.idl\";
    struct _Point { long x; };
    typedef struct _Point Point;
    typedef struct MyItem { long a; } MyItem;
    typedef MyItem Item;
    typedef union _Either switch (long t) u { case 1: long a; case 2: short b; } Either;
    typedef Either MyEither;
    typedef enum _Mood { Good, Bad } Mood;
    typedef Mood LastingMood;
    typedef long Number;
    typedef long *PNumber;
    typedef long Row[3];
    typedef IUnknown *Any;
    [object, uuid(c0135700-0000-4000-8009-000000000000)] interface IFoo : IUnknown {
        HRESULT Give([in] Point *point, [in] Item *item, [in] Either *either, [in] Mood mood, [out] MyEither *back);
        HRESULT Take([in] PNumber number, [in] LastingMood mood, [in] Any object);
    }
    typedef IFoo Foo;
    typedef Foo *PFoo;
";

/// Files with similar names, and a file that imports them. C has headers for all of them.
pub const ALIKE: [(&str, &str); 5] = [
    ("Types", "typedef struct First { long a; } First;"),
    ("types", "typedef struct Second { First *a; } Second;"),
    ("my-types", "typedef struct Third { long a; } Third;"),
    ("my_types", "typedef enum Fourth { One, Two } Fourth;"),
    (
        "alike",
        "[object, uuid(c0135700-0000-4000-8009-000000000001)] interface IAlike : IUnknown {
            HRESULT All([in] First *a, [in] Second *b, [in] Third *c, [in] Fourth d);
        }",
    ),
];

/// Constants of each base type, and comments with characters that compilers warn of.
const CONSTANTS: &str = "\
    import \"unknwn.idl\";
    const boolean YES = 1;
    const byte BYTES = 255;
    const char LETTER = 'a';
    const char QUOTE = '\\'';
    const unsigned char BACKSLASH = '\\\\';
    const wchar_t WIDE = L'\\x20ac';
    const small SMALL = -128;
    const unsigned small USMALL = 255;
    const short SHORT = -32768;
    const unsigned short USHORT = 65535;
    const long LONG = -0x7fffffff - 1;
    const unsigned long ULONG = 0xffffffff;
    const hyper HYPER = -0x7fffffffffffffff - 1;
    const unsigned hyper UHYPER = 0xffffffffffffffff;
    const float WHOLE = 5;
    const float TINY = 1e-50;
    const float PRECISE = 0.1;
    const double NEGATIVE = -3;
    const double GREATEST = 1.7976931348623157e308;
    const double LEAST = 5e-324;
    const HRESULT FAILED_RESULT = 0x80004005;
    typedef enum Mood { Good = 9, Bad = -5, Fine = 9, Better = 2, Worse = -5 } Mood;
    const Mood BEST = 9;
    const char *NARROW = \"quote \\\" back \\\\ tab \\t line \\n \\x41 ??/ */ /* // {} $x %d\";
    const wchar_t *MIXED = L\"\\x202e \\x2066 \\x00e4 \\x0001 \\x20ac ??/ \u{1f600} \u{202e}\";
    const char *NONE = \"\";
    const LPWSTR NAMED = L\"x\";
    /* first\rsecond \u{202e}third\u{2066} ??/
     * } * / ??/
     */
    [object, uuid(c0135700-0000-4000-8009-000000000002)] interface IConstants : IUnknown {
        // begins /* and ends */ {
        HRESULT Size([in] Mood a, [in, size_is(2)] long *b, [out] Mood *c);
        // ??/
        /** \u{202e} first\rsecond \\u0041 */
        HRESULT Other();
    }
";

/// Returns the file with constants. One of its texts is longer than a string in a Java class may
/// be.
pub fn constants() -> String {
    format!("{CONSTANTS}const char *LONG_TEXT = \"{}\";\n", "long ".repeat(14_000))
}

/// Returns the longest lists and names that Java's classes may have.
pub fn limits() -> String {
    let list = |count: usize, item: &str, end: &str| -> String {
        (0..count).map(|at| format!("{}{end}", item.replace('$', &at.to_string()))).collect()
    };
    let params = |count, ty: &str| list(count, &format!("[in] {ty} parameter_$"), ", ");
    let method = |name: &str, params: String| format!("HRESULT {name}({});\n", params.trim_end_matches(", "));
    let long = (0..12).map(|at| method(&format!("M{at}"), params(250, "long"))).collect::<String>();
    format!(
        "import \"unknwn.idl\";\nstruct Plain {{ {} }}; struct Led {{ long *p; {} }}; enum Values {{ {} }};\n\
         [object, uuid(c0135700-0000-4000-8009-000000000003)] interface {} : IUnknown {{\n{}{}{long}\
         HRESULT Use([in] struct Plain *a, [in] struct Led *b, [in] enum Values c);\n}}\n",
        list(254, "long m$", "; "),
        list(126, "hyper m$", "; "),
        list(3000, "Value$", ", ").trim_end_matches(", "),
        "I".repeat(119),
        method("Wide", params(127, "hyper")),
        method("Back", list(127, "[out] double *result_$", ", ")),
    )
}
