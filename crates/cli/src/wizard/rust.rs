//! Generation of projects in Rust.

use super::answers::Answers;
use super::fill::{fill, indented, quoted, wrapped};
use super::idl::plain;
use super::project::{QUERY, Texts, before_written, bindings, calls, commands, texts};
use super::write::File;
use obvia_idl::emit::component::Component;
use std::path::Path;

/// The width of generated lines, and of a call's arguments on one line, in columns.
const WIDTH: usize = 100;
const ARGUMENTS_WIDTH: usize = 60;

/// Returns the project's files.
pub(super) fn files(answers: &Answers) -> anyhow::Result<Vec<File>> {
    let component = answers.component();
    let name = &answers.name;
    let texts = all_texts(answers, &component, answers.origin.checkout("Rust")?);
    let file = |path: &str, template| File::new(path, fill(template, &texts));
    let [object, client] = if answers.is_example {
        [include_str!("rust/example/component.rs.in"), include_str!("rust/example/client.rs.in")]
    } else {
        [include_str!("rust/component.rs.in"), include_str!("rust/client.rs.in")]
    };
    let mut files = vec![
        file("Cargo.toml", include_str!("rust/Cargo.toml.in")),
        file("build.rs", include_str!("rust/build.rs.in")),
        file("src/lib.rs", include_str!("rust/lib.rs.in")),
        file("src/component.rs", object),
        file(&format!("src/bin/{name}-server.rs"), include_str!("rust/server.rs.in")),
        file(&format!("src/bin/{name}-client.rs"), client),
        file("tests/calls.rs", include_str!("rust/calls.rs.in")),
        file("README.md", include_str!("rust/README.md.in")),
        file(".gitignore", include_str!("rust/gitignore.in")),
    ];
    if is_in_workspace(&answers.output) {
        files[0].bytes.extend(b"\n# Not a member of a workspace in a folder above.\n[workspace]\n");
    }
    files.extend(answers.idl.files());
    Ok(files)
}

/// Returns the texts for the templates' names.
fn all_texts(answers: &Answers, component: &Component, checkout: &Path) -> Texts {
    let name = &answers.name;
    let mut all = texts(answers, component, &format!("cargo run --bin {name}-client"));
    let main = answers.idl.main();
    let includes: String = answers.idl.includes.iter().map(|folder| format!(".include(\"{folder}\")")).collect();
    let build = if includes.is_empty() {
        format!("obvia_idl::build(\"idl/{main}\");")
    } else {
        format!("obvia_idl::build_with(&obvia_idl::Compiler::new(){includes}, \"idl/{main}\");")
    };
    let is_plain = answers.interface().plain;
    let is_network = !is_plain && (answers.is_over_vi || !answers.transports.is_empty());
    let connect = Connect::of(is_plain);
    let network = answers.transports.iter().map(|transport| {
        let any_port = transport.any_port();
        let texts = [("transport", transport.name()), ("any_port", &any_port), ("connect", connect.there)];
        fill(include_str!("rust/network.rs.in"), &texts.map(|(name, text)| (name, text.to_owned())))
    });
    let run = |program| format!("cargo run --bin {name}-{program}");
    let over_vi = if answers.is_over_vi {
        fill(include_str!("rust/over_vi.rs.in"), &[("interface", component.name.clone())])
    } else {
        String::new()
    };
    all.extend([
        ("commands", commands(&[], ["cargo test", &run("server"), &run("client")], name)),
        ("crate", name.replace('-', "_")),
        ("obvia", dependency(checkout, "com")),
        ("obvia_idl", dependency(checkout, "idl")),
        ("build", build),
        ("bindings", listed(&bindings(&answers.transports))),
        ("lints", lints(component).to_owned()),
        ("methods", methods(component, &answers.class)),
        ("serve", connect.serve.to_owned()),
        ("connect", connect.place.replace("@interface@", &component.name)),
        ("place", if is_network { include_str!("rust/place.in") } else { "" }.to_owned()),
        ("connect_here", connect.here.to_owned()),
        ("network", network.chain([over_vi]).collect()),
        ("reported", reported(component)),
        ("expected", expected(component)),
    ]);
    let every_method = if answers.is_example {
        include_str!("rust/example/every_method.in")
    } else {
        include_str!("rust/every_method.in")
    };
    all.push(("every_method", fill(every_method, &all)));
    all
}

/// The expressions by which servers serve and clients connect.
struct Connect {
    serve: &'static str,
    place: &'static str,
    here: &'static str,
    there: &'static str,
}

impl Connect {
    const fn of(is_plain: bool) -> Self {
        if is_plain {
            Self {
                serve: "let _serving = obvia::serve_interface(object)?;\n    bindings.push(format!(\"ncacn_vi_shm:[{name}]\"));",
                place: "let is_binding = obvia::is_string_binding(&place);\n    \
                        let here = format!(\"ncacn_vi_shm:[{place}]\");\n    \
                        let object: @interface@ = obvia::bind(if is_binding { &place } else { &here })",
                here: "obvia::bind(&format!(\"ncacn_vi_shm:[{}]\", server.name))",
                there: "obvia::bind(&server.bindings[0])",
            }
        } else {
            Self {
                serve: "let _export = obvia::export(&name, object)?;",
                place: "let object: @interface@ = obvia::connect(&place)",
                here: "obvia::connect(&server.name)",
                there: "obvia::connect(&server.place())",
            }
        }
    }
}

/// Returns the value of a dependency in Cargo.toml: the path of a crate in the checkout.
fn dependency(checkout: &Path, folder: &str) -> String {
    // `Debug` escapes strings as TOML does.
    format!("{{ path = {:?} }}", checkout.join("crates").join(folder).display().to_string())
}

/// Whether a directory is below the root of a workspace. Cargo would take a project there for a
/// member of that workspace.
fn is_in_workspace(output: &Path) -> bool {
    let path = plain(output).unwrap_or_default();
    let is_root = |folder: &Path| {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        manifest.lines().any(|line| line.starts_with("[workspace"))
    };
    path.ancestors().skip(1).any(is_root)
}

/// Returns the attribute that allows the IDL's names, if they are not in Rust's style.
fn lints(component: &Component) -> &'static str {
    let mut methods = component.interfaces.iter().flat_map(|interface| &interface.methods);
    let is_other = |name: &String| name.contains("__") || name.contains(|letter: char| letter.is_ascii_uppercase());
    if methods.any(|method| method.parameters.iter().any(is_other)) { "#![allow(non_snake_case)]\n" } else { "" }
}

/// Returns the definitions of the object's methods, which return E_NOTIMPL.
fn methods(component: &Component, class: &str) -> String {
    let mut text = String::new();
    for interface in &component.interfaces {
        let mut lines = Vec::new();
        for method in &interface.methods {
            if !lines.is_empty() {
                lines.push(String::new());
            }
            lines.extend(method.doc.lines().map(|line| format!("/// {line}")));
            lines.extend(wrapped(&method.declaration, WIDTH).lines().map(str::to_owned));
            if let Some(last) = lines.last_mut() {
                last.push_str(" {");
            }
            match method.parameters.as_slice() {
                [] => {}
                [one] => lines.push(format!("    let _ = {one};")),
                several => lines.push(format!("    let _ = ({});", several.join(", "))),
            }
            lines.push("    Err(obvia::code::E_NOTIMPL.into())".to_owned());
            lines.push("}".to_owned());
        }
        let body = indented(lines.iter().map(String::as_str), 1);
        let body = if body.is_empty() { body } else { format!("\n{body}") };
        text.push_str(&format!("\nimpl {}_Impl for {class}_Impl {{{body}}}\n", interface.name));
    }
    text
}

/// Returns a call of QueryInterface for IUnknown.
fn query(object: &str) -> String {
    format!("obvia::Interface::cast::<obvia::IUnknown>({object}).map_err(|error| error.code().into())")
}

/// Formats a list of texts as rustfmt does: several texts on lines of their own.
fn listed(texts: &[String]) -> String {
    match texts {
        [_, _, ..] => texts.iter().fold("\n".to_owned(), |list, text| format!("{list}    \"{text}\",\n")),
        short => quoted(short),
    }
}

/// Formats a call as rustfmt does: long arguments on lines of their own.
fn statement(function: &str, arguments: &[&str]) -> String {
    let whole = arguments.join(", ");
    if whole.len() <= ARGUMENTS_WIDTH {
        return format!("{function}({whole});");
    }
    let lines: String = arguments.iter().map(|argument| format!("    {argument},\n")).collect();
    format!("{function}(\n{lines});")
}

/// Returns the client's statements, which report the result of each method.
fn reported(component: &Component) -> String {
    let line = |name: &str, call: &str| statement("report", &[&format!("\"{name}\""), call]);
    let asked = line(QUERY, &query("&object"));
    let lines = calls(component, &asked, |method, call| vec![line(&method.name, &format!("object.{}", call.text))]);
    indented(lines.iter().flat_map(|line| line.lines()), 1)
}

/// Returns the test's statements, which expect the result of each method.
fn expected(component: &Component) -> String {
    let line = |name: &str, wanted: &str, call: &str| {
        statement("expect", &[&format!("\"{name}\""), &format!("code::{wanted}"), call])
    };
    let asked = line(QUERY, "S_OK", &query("object"));
    let lines = calls(component, &asked, |method, call| {
        vec![line(&method.name, before_written(method), &format!("object.{}", call.text))]
    });
    indented(lines.iter().flat_map(|line| line.lines()), 1)
}

#[cfg(test)]
mod tests {
    use super::is_in_workspace;
    use std::path::Path;

    #[test]
    fn projects_inside_a_workspace_are_excluded_from_its_members() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(is_in_workspace(&here.join("new")) && is_in_workspace(here));
        assert!(!is_in_workspace(Path::new("/")) && !is_in_workspace(&here.join("../..")));
    }
}
