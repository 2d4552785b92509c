//! The rules, each with the reason for its findings and their remedy.

use crate::tools::kinds::kinds;

kinds! {
    /// A rule for declarations that compile but are likely to cause trouble.
    Rule;
    UnboundedOut, "unbounded-out",
        "the server decides how much memory each of its clients allocates",
        "limit the parameter that counts the elements by [range(0, n)]";
    UnboundedRoom, "unbounded-room",
        "the server reserves room for as many elements as the client asks for",
        "limit the parameter that counts the elements by [max_value(n)] or [range(0, n)]";
    SignedCount, "signed-count",
        "negative numbers of elements are refused only when a call is made",
        "make the number unsigned, or give it a [range] that begins with 0";
    LayoutHole, "layout-hole",
        "bytes without meaning are copied and sent with each value",
        "declare the members in the order that the finding names, unless the layout is given from outside";
    MissingUuid, "missing-uuid",
        "type libraries and registrations need a uuid, and the compiler refuses to write a type library without one",
        "put [uuid(...)] before it, with a uuid of its own from `uuidgen`";
    MissingVersion, "missing-version",
        "clients bind functions by uuid and version, and 0.0 says that there was never a release",
        "write [version(1.0)], and increase it with each change";
    UnusedType, "unused-type",
        "the type is in the generated code of every language, and no interface of the file uses it",
        "remove the type, or move it to the file whose interfaces use it";
    FullPointer, "full-pointer",
        "both sides keep a table of the addresses in each call, because other pointers may have the same target",
        "write [ref] if the pointer is never null, or [unique] if it may be null but shares no target";
    MissingRetval, "missing-retval",
        "scripts get a result only from a parameter with [retval]",
        "write [out, retval]";
    LargeValue, "large-value",
        "the structure is copied to the stack of each function that passes it on",
        "pass a pointer: [in] const S *s";
    NarrowText, "narrow-text",
        "the encoding of `char` is unknown to the peer, so letters that are not ASCII may get lost",
        "use wchar_t, which is UTF-16, or [utf8] on a string of `char` that is only [in] or only [out]";
    EnumWithoutZero, "enum-without-zero",
        "results are zero before a method sets them, and a peer refuses a zero that is no value of the enumeration",
        "give a value the number 0, or write [open]";
}
