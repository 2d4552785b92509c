//! Specialisation of existing components for virtual interfaces: rewrites their file with obvia's
//! marshaler for one class.

mod cpp;
mod rust;

use super::Arguments;
use super::Language;
use super::answers::optional;
use super::idl::Idl;
use super::questions::{Asking, Question};
use super::write::{File, write};
use crate::print;
use anyhow::{Context, bail};
use std::path::Path;

/// An object's class in a file.
#[derive(Debug)]
pub(super) struct Class {
    name: String,
    /// The names of the interfaces that the class implements, without modules.
    interfaces: Vec<String>,
    /// The insertions that add the marshaler, with their offsets, the last first; or the reason why
    /// the marshaler cannot be added.
    insertions: Result<Vec<(usize, String)>, String>,
}

impl Class {
    /// Returns the file's text with the marshaler.
    fn specialised(&self, text: &str) -> Result<String, String> {
        let insertions = self.insertions.as_ref().map_err(Clone::clone)?;
        let mut text = text.to_owned();
        for (at, part) in insertions {
            text.insert_str(*at, part);
        }
        Ok(text)
    }
}

/// Finds the classes of objects in a file.
fn classes(text: &str, language: Language) -> Result<Vec<Class>, String> {
    match language {
        Language::Rust => rust::classes(text),
        Language::Cpp => Ok(cpp::classes(text)),
    }
}

/// Adds the marshaler to the class of a component that the wizard has just generated.
pub(super) fn component(text: &str, name: &str, language: Language) -> Result<String, String> {
    let classes = classes(text, language)?;
    let class = classes.iter().find(|class| class.name == name);
    class.ok_or_else(|| format!("the component has no class `{name}`"))?.specialised(text)
}

/// Rewrites a component's file for `obvia wizard --specialise`.
pub(super) fn main(arguments: &Arguments, path: &Path, asking: &mut Asking) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    asking.note(&["--specialise", &path.display().to_string()]);
    let language = language(arguments, path)?;
    let found = classes(&text, language).map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))?;
    let found = with_interface(arguments, found, path)?;
    let class = class(arguments, asking, &found, path)?;
    let specialised = class.specialised(&text).map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))?;
    let output = arguments.output.as_deref().unwrap_or(path);
    let Some(name) = output.file_name() else { bail!("--output {}: the path names no file", output.display()) };
    if let Some(output) = &arguments.output {
        asking.note(&["--output", &output.display().to_string()]);
    }
    write(output.parent().unwrap_or_else(|| Path::new("")), &[File::new(name, specialised)], arguments.force)?;
    print::line(&format!(
        "objects of `{}` are called over virtual interfaces, on every transport of their server",
        class.name
    ))?;
    Ok(())
}

fn language(arguments: &Arguments, path: &Path) -> anyhow::Result<Language> {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    match (arguments.language, &*ending) {
        (Some(language), _) => Ok(language),
        (None, "rs") => Ok(Language::Rust),
        (None, "h" | "hh" | "hpp" | "hxx" | "cc" | "cpp" | "cxx") => Ok(Language::Cpp),
        _ => bail!("{}: the file's extension belongs to no supported language: set --language", path.display()),
    }
}

/// If an IDL file is given, keeps only the classes with a remotable interface of that file.
fn with_interface(arguments: &Arguments, mut found: Vec<Class>, path: &Path) -> anyhow::Result<Vec<Class>> {
    let Some(file) = &arguments.file else { return Ok(found) };
    let idl = Idl::read(file, &arguments.include)?;
    let interfaces = idl.interfaces();
    let objects = interfaces.iter().map(|id| &idl.model().interfaces[id.0]).filter(|interface| !interface.plain);
    let names: Vec<&str> = objects.map(|interface| interface.name.as_str()).collect();
    found.retain(|class| class.interfaces.iter().any(|name| names.contains(&name.as_str())));
    if found.is_empty() {
        let names = names.join(", ");
        bail!("{} has no class that implements an interface of {}: {names}", path.display(), file.display());
    }
    Ok(found)
}

fn class<'a>(arguments: &Arguments, asking: &mut Asking, found: &'a [Class], path: &Path) -> anyhow::Result<&'a Class> {
    let Some(first) = found.first() else {
        bail!(
            "{} has no class of objects: expected #[obvia::object(...)] in Rust, or a base obvia::implements or \
                obvia::implementation in C++",
            path.display()
        );
    };
    let names: Vec<&str> = found.iter().map(|class| class.name.as_str()).collect();
    let text = format!("Which class, of {}", names.join(", "));
    let question = match found {
        [_] => optional("--class", &text, &first.name),
        _ => Question { flag: "--class", text: &text, proposal: None, is_needed: true },
    };
    let given = arguments.class.as_deref().or_else(|| (found.len() == 1).then_some(first.name.as_str()));
    asking.ask(&question, given, |text| {
        let class = found.iter().find(|class| class.name == text);
        class.ok_or_else(|| format!("{} has no class `{text}` of objects; it has {}", path.display(), names.join(", ")))
    })
}
