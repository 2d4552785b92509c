//! Names of types in other languages, with the types of the IDL that have the same values.

/// The names of types in C, C++, C#, Go, Rust, Java, Python and protocol buffers, each list with
/// the type of the IDL.
const FOREIGN: [(&[&str], &str); 13] = [
    (&["bool", "_Bool", "Boolean"], "boolean"),
    (&["int8_t", "i8", "sbyte", "int8"], "small"),
    (&["uint8_t", "u8", "uint8"], "byte"),
    (&["int16_t", "i16", "int16"], "short"),
    (&["uint16_t", "u16", "uint16", "ushort"], "unsigned short"),
    (&["int32_t", "i32", "int32", "Integer"], "long"),
    (&["uint32_t", "u32", "uint32", "uint"], "unsigned long"),
    (&["int64_t", "i64", "int64", "isize", "ssize_t", "ptrdiff_t"], "hyper"),
    (&["uint64_t", "u64", "uint64", "usize", "size_t", "ulong"], "unsigned hyper"),
    (&["f32", "Float"], "float"),
    (&["f64", "Double"], "double"),
    (&["char16_t"], "wchar_t"),
    (&["Guid", "uuid", "Uuid"], "GUID"),
];

/// The names of strings in other languages.
const STRINGS: [&str; 5] = ["string", "String", "wstring", "str", "CString"];

/// Returns the advice for a type with this name in another language. `None` for other names.
pub(super) fn instead_of(name: &str) -> Option<String> {
    if STRINGS.contains(&name) {
        return Some(
            "write a parameter as `[in, string] const wchar_t* name`, or a result as `[out, string] wchar_t** name`"
                .to_owned(),
        );
    }
    let (_, own) = FOREIGN.iter().find(|(names, _)| names.contains(&name))?;
    Some(format!("write `{own}`, which has these values"))
}
