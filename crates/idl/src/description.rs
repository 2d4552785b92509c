//! Interfaces by their textual descriptions: [`crate::model::canonical::text`], as running servers
//! and generated code report it.

use crate::compile::Compiler;
use crate::model::{Interface, InterfaceId, Model};
use crate::text::diagnostic::Failure;
use std::fmt::Write;
use std::path::Path;

/// Compiles a description. Returns its model and the interface that it describes, or `None` if it
/// describes no interface.
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
    // An empty side file keeps the compiler from reading a side file that happens to be on disk
    // under this name.
    let model = Compiler::new().acf_text(name, "").check_text(Path::new(name), &whole)?.model;
    // The described interface comes after the interfaces that it extends.
    let last = model.interfaces.iter().rposition(|interface| text.contains(&header(interface)));
    Ok(last.map(|at| (model, InterfaceId(at))))
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

fn header(interface: &Interface) -> String {
    format!("\ninterface {} {}", interface.name, if interface.plain { "{" } else { ":" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{canonical, ndr};

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

    #[test]
    fn descriptions_without_an_interface_are_refused() {
        assert!(interface("nothing", "const long A = 1;", |_| None).unwrap().is_none());
        assert!(interface("nonsense", "interface IA : {", |_| None).is_err());
    }
}
