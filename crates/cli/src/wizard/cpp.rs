//! Generation of projects in C++.

use super::answers::Answers;
use super::fill::{fill, indented, quoted, wrapped};
use super::origin::Origin;
use super::project::{QUERY, Texts, before_written, bindings, calls, commands, texts};
use super::write::File;
use obvia_idl::emit::component::{Call, Component};

/// The width of generated lines, in columns.
const WIDTH: usize = 110;

/// Returns the project's files.
pub(super) fn files(answers: &Answers) -> Vec<File> {
    let texts = all_texts(answers, &answers.component());
    let file = |path: &str, template| File::new(path, fill(template, &texts));
    let [object, client] = if answers.is_example {
        [include_str!("cpp/example/component.hpp.in"), include_str!("cpp/example/client.cc.in")]
    } else {
        [include_str!("cpp/component.hpp.in"), include_str!("cpp/client.cc.in")]
    };
    let mut files = vec![
        file("CMakeLists.txt", include_str!("cpp/CMakeLists.txt.in")),
        file("src/component.hpp", object),
        file("src/server.cc", include_str!("cpp/server.cc.in")),
        file("src/client.cc", client),
        file("tests/calls.cc", include_str!("cpp/calls.cc.in")),
        file("README.md", include_str!("cpp/README.md.in")),
        file(".gitignore", include_str!("cpp/gitignore.in")),
    ];
    files.extend(answers.idl.files());
    files
}

/// Returns the texts for the templates' names.
fn all_texts(answers: &Answers, component: &Component) -> Texts {
    let name = &answers.name;
    let [server, client] = ["server", "client"].map(|program| format!("build/{name}-{program}"));
    let mut all = texts(answers, component, &client);
    let mut files: Vec<String> = answers.idl.compiled().collect();
    if !answers.idl.includes.is_empty() {
        files.push("INCLUDE".to_owned());
        files.extend(answers.idl.includes.iter().cloned());
    }
    let connect = Connect::of(answers.interface().plain, &component.name);
    let network = answers.transports.iter().map(|transport| {
        let (name, any_port) = (transport.name(), transport.any_port());
        let connect = connect.there.replace("@name@", name);
        fill(include_str!("cpp/network.in"), &[("name", name.to_owned()), ("any_port", any_port), ("connect", connect)])
    });
    let over_vi = if answers.is_over_vi {
        fill(include_str!("cpp/over_vi.in"), &[("interface", component.name.clone())])
    } else {
        String::new()
    };
    let is_raw =
        component.interfaces.iter().flat_map(|interface| &interface.methods).any(|method| method.returns_hresult);
    all.extend([
        ("commands", commands(&build(&answers.origin), ["ctest --test-dir build", &server, &client], name)),
        ("find", find(&answers.origin)),
        ("files", files.join(" ")),
        ("bindings", quoted(&bindings(&answers.transports))),
        ("methods", methods(component)),
        ("not_written_raw", if is_raw { include_str!("cpp/not_written_raw.in") } else { "" }.to_owned()),
        ("serve", connect.serve.replace("@class@", &answers.class)),
        ("connect", connect.place),
        ("connect_here", connect.here),
        ("network", network.chain([over_vi]).collect()),
        ("reported", reported(component)),
        ("expected", expected(component)),
    ]);
    let every_method = if answers.is_example {
        include_str!("cpp/example/every_method.in")
    } else {
        include_str!("cpp/every_method.in")
    };
    all.push(("every_method", fill(every_method, &all)));
    all
}

/// The expressions by which servers serve and clients connect.
struct Connect {
    serve: &'static str,
    place: String,
    here: String,
    there: String,
}

impl Connect {
    fn of(is_plain: bool, interface: &str) -> Self {
        if is_plain {
            Self {
                serve: "const obvia::serving serving = obvia::serve_interface(obvia::make<@class@>());\n        \
                        bindings.push_back(\"ncacn_vi_shm:[\" + name + \"]\");",
                place: format!(
                    "obvia::bind<{interface}>(place.find(':') == place.npos ? \"ncacn_vi_shm:[\" + place + \"]\" : place)"
                ),
                here: format!("obvia::bind<{interface}>(\"ncacn_vi_shm:[\" + server.name + \"]\")"),
                there: format!("obvia::bind<{interface}>(server_@name@.bindings.at(0))"),
            }
        } else {
            Self {
                serve: "const obvia::served entry = obvia::serve(name, obvia::make<@class@>());",
                place: format!("obvia::connect<{interface}>(place)"),
                here: format!("obvia::connect<{interface}>(server.name)"),
                there: format!("obvia::connect<{interface}>(server_@name@.place())"),
            }
        }
    }
}

/// Returns the CMake commands that find obvia.
pub(super) fn find(origin: &Origin) -> String {
    match origin {
        Origin::Checkout(path) => {
            format!(
                "# A checkout, which is built with the project.\nadd_subdirectory({} obvia)",
                quoted(&[path.display().to_string()])
            )
        }
        Origin::Installation(path) => format!(
            "list(APPEND CMAKE_PREFIX_PATH {})\nfind_package(obvia REQUIRED)",
            quoted(&[path.display().to_string()])
        ),
        Origin::Version => "find_package(obvia REQUIRED)".to_owned(),
    }
}

/// Returns the commands that build the project.
pub(super) fn build(origin: &Origin) -> Vec<String> {
    let prefix =
        if *origin == Origin::Version { " -DCMAKE_PREFIX_PATH=$HOME/obvia   # where obvia is installed" } else { "" };
    vec![format!("cmake -S . -B build{prefix}"), "cmake --build build".to_owned()]
}

/// Returns the definitions of the object's methods. The bodies only report that the methods are not
/// written yet.
fn methods(component: &Component) -> String {
    let mut lines = Vec::new();
    for (interface, method) in
        component.interfaces.iter().flat_map(|one| one.methods.iter().map(move |method| (one, method)))
    {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(method.doc.lines().map(|line| format!("// {line}")));
        lines.extend(wrapped(&format!("{} override", method.declaration), WIDTH).lines().map(str::to_owned));
        lines.push("{".to_owned());
        let parameters = method.parameters.join(", ");
        lines.push(if method.returns_hresult {
            format!("    return not_written_hresult({parameters});")
        } else {
            let comma = if parameters.is_empty() { "" } else { ", " };
            format!("    not_written(\"{}::{}\"{comma}{parameters});", interface.name, method.name)
        });
        lines.push("}".to_owned());
    }
    indented(lines.iter().map(String::as_str), 1)
}

/// Returns the client's statements, which report the result of each method.
fn reported(component: &Component) -> String {
    let query = format!("report(\"{QUERY}\", [&] {{ object.as<IUnknown>(); }});");
    let lines =
        calls(component, &query, |method, call| around(&format!("report(\"{}\", ", method.name), call, "return "));
    indented(lines.iter().map(String::as_str), 2)
}

/// Returns the test's statements, which expect the result of each method.
fn expected(component: &Component) -> String {
    let query = format!("expect(\"{QUERY}\", S_OK, [&] {{ object.as<IUnknown>(); }});");
    let lines = calls(component, &query, |method, call| {
        around(&format!("expect(\"{}\", {}, ", method.name, before_written(method)), call, "")
    });
    indented(lines.iter().map(String::as_str), 1)
}

/// Returns the lines of a statement: a function call whose last argument is a lambda with the call
/// of the method. `begin` is the text before the lambda, `result` the text before the method's
/// call.
fn around(begin: &str, Call { before, text }: &Call, result: &str) -> Vec<String> {
    let call = format!("{result}object.{text};");
    if before.is_empty() {
        return vec![format!("{begin}[&] {{ {call} }});")];
    }
    let inner = before.iter().chain(std::iter::once(&call)).map(|line| format!("    {line}"));
    std::iter::once(format!("{begin}[&] {{")).chain(inner).chain(std::iter::once("});".to_owned())).collect()
}
