//! Interfaces by their textual descriptions: [`crate::model::canonical::text`], as running servers
//! and generated code report it.

use crate::compile::Compiler;
use crate::model::{InterfaceId, Model, canonical};
use crate::text::diagnostic::Failure;
use std::fmt::Write;
use std::path::Path;

/// Compiles a description. Returns the model and the described interface. `None` if the text is not
/// the canonical text of an interface.
///
/// Descriptions come from other processes, so the compiler reads no files for them.
///
/// `iid_of` returns the IIDs of interfaces that the text only names, if known.
///
/// # Errors
///
/// The errors in the text.
pub fn interface(
    name: &str,
    text: &str,
    iid_of: impl Fn(&str) -> Option<u128>,
) -> Result<Option<(Model, InterfaceId)>, Failure> {
    let whole = format!("{text}{}", announced(text, iid_of));
    let model = Compiler::new().closed().check_text(Path::new(name), &whole)?.model;
    let found = described(text).and_then(|name| model.interfaces.iter().position(|found| found.name == name));
    // A text with further declarations is refused. The further declarations would take memory, and
    // the fingerprint would not depend on them.
    let found = found.map(InterfaceId).filter(|id| canonical::text(&model, *id) == text);
    Ok(found.map(|id| (model, id)))
}

/// Returns the name of the interface that a text describes: the last interface with a body, since
/// an interface comes after its base interfaces.
fn described(text: &str) -> Option<&str> {
    let head = text.lines().rev().find_map(|line| line.strip_prefix("interface ")?.strip_suffix('{'))?;
    head.split_whitespace().next()
}

/// Returns declarations, without methods, of the interfaces that a text only names.
fn announced(text: &str, iid_of: impl Fn(&str) -> Option<u128>) -> String {
    let names = text.lines().filter_map(|line| line.strip_prefix("interface ")?.strip_suffix(';'));
    names.enumerate().fold(String::new(), |mut declared, (at, name)| {
        // Only the interfaces' names matter. An interface without a known IID gets an arbitrary
        // one.
        let iid = iid_of(name).unwrap_or(at as u128 + 1);
        // Writing to a String cannot fail.
        let _ = writeln!(declared, "[object, uuid({})] interface {name} : IUnknown {{}}", uuid(iid));
        declared
    })
}

fn uuid(value: u128) -> String {
    let digits = format!("{value:032x}");
    format!("{}-{}-{}-{}-{}", &digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndr;

    const TEXT: &str = "import \"unknwn.idl\";
        [object, uuid(e1a90b6c-37d5-4c8f-9b52-60f4d8a3c701)] interface IThing : IUnknown { HRESULT Number([out] long *number); }
        [object, uuid(e1a90b6c-37d5-4c8f-9b52-60f4d8a3c703)] interface IVictim : IUnknown { HRESULT Visit([in] IThing *thing); }";

    #[test]
    fn an_interface_description_reproduces_the_interface() {
        let whole = Compiler::new().check_text(Path::new("victim.idl"), TEXT).unwrap().model;
        let victim = InterfaceId(whole.interfaces.iter().position(|found| found.name == "IVictim").unwrap());
        let told = canonical::text(&whole, victim);
        let iid_of = |name: &str| (name == "IThing").then_some(0xe1a9_0b6c_37d5_4c8f_9b52_60f4_d8a3_c701);
        let (model, found) = interface("IVictim", &told, iid_of).unwrap().unwrap();
        assert_eq!(model.interfaces[found.0].name, "IVictim");
        assert_eq!(canonical::fingerprint(&model, found), canonical::fingerprint(&whole, victim));
        let (model, found) = interface("IVictim", &told, |_| None).unwrap().unwrap();
        assert_eq!(ndr::words(&model, found), ndr::words(&whole, victim));
    }

    /// Returns the canonical text of an interface whose method has these parameters.
    fn with_method(params: &str) -> String {
        format!(
            "[object, uuid(e1a90b6c-37d5-4c8f-9b52-60f4d8a3c705), pointer_default(unique)]\n\
             interface IX : IUnknown {{\n    HRESULT M({params});\n}}\n"
        )
    }

    #[test]
    fn descriptions_read_no_files() {
        let folder = ground::Folder::new("idl-description");
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let word = file("word", "secret");
        let declared = file("declared.idl", "typedef long Number;");
        file("IX.acf", "interface IX { [nonsense] M(); }");
        let name = folder.join("IX").display().to_string();
        let whole = with_method("[in] long secret");
        assert!(interface(&name, &whole, |_| None).unwrap().is_some());
        for bad in [
            with_method(&format!("[in] long\n#include \"{word}\"\n")),
            format!("import \"{declared}\";\n{}", with_method("[in] Number secret")),
            format!("import \"declared.idl\";\n{}", with_method("[in] Number secret")),
            format!("import \"{declared}\";\n{whole}"),
        ] {
            let failure = interface(&name, &bad, |_| None).err().unwrap_or_else(|| panic!("accepted: {bad}"));
            let codes: Vec<_> = failure.diagnostics.iter().map(|found| found.code).collect();
            assert_eq!(codes[0], "no-such-file", "{failure}");
        }
    }

    #[test]
    fn descriptions_must_be_canonical_texts() {
        let whole = with_method("[in] long a");
        assert!(interface("x", &whole, |_| None).unwrap().is_some());
        for other in [
            format!("struct Unused {{\n    long a;\n}};\n{whole}"),
            format!("interface IUnused;\n{whole}"),
            format!("import \"oaidl.idl\";\n{whole}"),
            format!("{whole}\n"),
            format!("// A comment.\n{whole}"),
            whole.replace("long a", "long  a"),
            format!("#define A a\n{}", with_method("[in] long A")),
            format!("{whole}{}", whole.replace("IX", "IY").replace("c705", "c706")),
        ] {
            assert!(interface("x", &other, |_| None).unwrap().is_none(), "{other}");
        }
    }

    #[test]
    fn descriptions_without_an_interface_are_refused() {
        assert!(interface("nothing", "const long A = 1;", |_| None).unwrap().is_none());
        assert!(interface("nonsense", "interface IA : {", |_| None).is_err());
    }
}
