//! Parts of projects that do not depend on the language: the README's texts, and the servers'
//! bindings.

use super::Transport;
use super::answers::Answers;
use obvia_idl::emit::component::{Call, Component, Method};

/// The texts for the templates' names.
pub(super) type Texts = Vec<(&'static str, String)>;

impl Transport {
    /// Returns a server's string binding at a port.
    fn binding(self, port: u16) -> String {
        let protocol = match self {
            Self::Shm => return String::new(),
            Self::Udp => "ncacn_vi_udp",
            Self::Tcp => "ncacn_ip_tcp",
        };
        format!("{protocol}:127.0.0.1[{port}]")
    }

    /// Returns a server's string binding in tests, where the system chooses the port.
    pub(super) fn any_port(self) -> String {
        self.binding(0)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Shm => "shm",
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        }
    }
}

/// The default port of servers.
const PORT: u16 = 5555;

/// Returns the default bindings of a server.
pub(super) fn bindings(transports: &[Transport]) -> Vec<String> {
    transports.iter().map(|transport| transport.binding(PORT)).collect()
}

/// Returns the texts that do not depend on the language; `client` is the command that runs the
/// client.
pub(super) fn texts(answers: &Answers, component: &Component, client: &str) -> Texts {
    let Answers { name, transports, idl, class, .. } = answers;
    let bindings = bindings(transports);
    let elsewhere = if bindings.is_empty() { "" } else { " and on other hosts" };
    let is_plain = answers.interface().plain;
    let place = |binding: &String| if is_plain { binding.clone() } else { named(binding, name) };
    let other_hosts = bindings.first().map_or_else(String::new, |first| {
        let listens = bindings.iter().map(|binding| format!("`{binding}`")).collect::<Vec<_>>().join(" and ");
        format!(
            "The server listens at {listens}, which only this host can reach. With `0.0.0.0`\ninstead of `127.0.0.1` \
                other hosts can, and **every client that reaches the address can call the object**.\n`{client} '{}'` \
                calls it there.\n\n",
            place(first)
        )
    });
    let methods = component.interfaces.iter().flat_map(|interface| &interface.methods);
    let (methods_are, results_are) = if answers.is_example {
        ("", "")
    } else {
        (
            ": **write the methods here**, which return E_NOTIMPL until then",
            ": once a method is written, add its expected results there",
        )
    };
    let method = methods.last().map_or("METHOD", |method| method.name.as_str());
    let here = if is_plain { format!("'ncacn_vi_shm:[{name}]'") } else { name.clone() };
    vec![
        ("project", name.clone()),
        ("stem", idl.stem()),
        ("main", idl.main()),
        ("class", class.clone()),
        ("interface", component.name.clone()),
        ("methods_are", methods_are.to_owned()),
        ("results_are", results_are.to_owned()),
        ("elsewhere", elsewhere.to_owned()),
        ("other_hosts", other_hosts),
        ("example_call", format!("{here} {}.{method} ARGUMENTS...", answers.interface().name)),
    ]
}

/// Returns a README's commands: the build commands, then the other ones, each with a comment.
pub(super) fn commands(build: &[String], [test, server, client]: [&str; 3], name: &str) -> String {
    let serves = format!("serves the object by the name \"{name}\"");
    let explained = [
        (test, "starts the server, and calls every method"),
        (server, &serves),
        (client, "calls the object, from another terminal"),
    ];
    let width = explained.iter().map(|(command, _)| command.len()).max().unwrap_or(0);
    let explained = explained.map(|(command, what)| format!("{command:width$}   # {what}\n"));
    build.iter().map(|command| format!("{command}\n")).chain(explained).collect()
}

/// Returns the string binding of the object that is exported as `name` at a server's binding.
fn named(binding: &str, name: &str) -> String {
    binding.replace(']', &format!(",name={name}]"))
}

/// Returns the result of a method that is not yet written. Callers get no result of a oneway
/// method.
pub(super) fn before_written(method: &Method) -> &'static str {
    if method.oneway { "S_OK" } else { "E_NOTIMPL" }
}

/// The method that is called if none of the object's own methods can be called.
pub(super) const QUERY: &str = "QueryInterface";

/// Returns the lines that call each method, with comments for methods that cannot be called. If no
/// method can be called, `query` comes first.
pub(super) fn calls(component: &Component, query: &str, lines: impl Fn(&Method, &Call) -> Vec<String>) -> Vec<String> {
    let methods = || component.interfaces.iter().flat_map(|interface| &interface.methods);
    let of = |method: &Method| match &method.call {
        Ok(call) => lines(method, call),
        Err(why) => vec![format!("// {} is not called here: {why}.", method.name)],
    };
    let is_called = methods().any(|method| method.call.is_ok());
    let query = (!is_called).then(|| query.to_owned());
    query.into_iter().chain(methods().flat_map(of)).collect()
}
