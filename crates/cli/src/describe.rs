//! The subcommand `obvia describe`: shows an exported object's interface as IDL, as the running
//! server describes it.

pub(crate) mod nearest;

use crate::credentials::User;
use crate::limit::Limit;
use crate::{exit, print};
use anyhow::{anyhow, bail};
use clap::Args;
use nearest::did_you_mean;
use obvia::dynamic::guid;
use obvia::{GUID, code, dynamic};
use obvia_idl::model::{Interface, InterfaceId, Model};
use obvia_idl::{Compilation, Compiler, Failure, canonical, description, plan};
use serde_json::json;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

/// The arguments of `obvia describe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia describe calc                                        the interface that calc is exported by
  obvia describe calc ITape                                  another interface that its server knows
  obvia describe 'ncacn_vi_udp:10.0.0.1[5555,name=calc]'")]
pub(crate) struct Arguments {
    /// The exported name; `obvia ls` lists them
    name: String,
    /// Another interface that the server knows, by name or IID
    interface: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    user: User,
}

pub(crate) fn main(arguments: Arguments) -> anyhow::Result<ExitCode> {
    arguments.user.set()?;
    arguments.limit.run(move || run(&arguments))
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let described = match &arguments.interface {
        None => Described::exported(&arguments.name)?,
        Some(interface) => Described::named(&arguments.name, interface)?,
    };
    if arguments.json {
        print::document(&described.document(&arguments.name))?;
    } else {
        print::line(described.text.trim_end())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// An interface, as a running server or an IDL file describes it.
pub(crate) struct Described {
    /// The canonical IDL text.
    pub(crate) text: String,
    /// The declarations of the text.
    pub(crate) model: Model,
    /// The described interface, in the model.
    pub(crate) id: InterfaceId,
}

impl Described {
    /// Fetches the description of the interface under which a name is exported.
    pub(crate) fn exported(name: &str) -> anyhow::Result<Self> {
        let text = obvia::describe(name).map_err(|error| no_such_name(name, error))?;
        Self::of(name, text)
    }

    /// Fetches the description of an interface, by its name or IID, from the server of an exported
    /// name.
    pub(crate) fn named(name: &str, interface: &str) -> anyhow::Result<Self> {
        let known = dynamic::interfaces(name).map_err(|error| no_such_name(name, error))?;
        let found = known.iter().find(|known| known.name == interface).map(|known| known.iid);
        let Some(iid) = found.or_else(|| guid::parse(interface)) else {
            let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
            let meant = did_you_mean(interface, names.iter().copied());
            let text = format!("the server of `{name}` knows no interface `{interface}`{meant}");
            return Err(exit::usage(text + &listed("it knows", &names)));
        };
        let text = dynamic::describe(name, &iid).map_err(|error| {
            exit::runtime_error(&error, format!("the server of `{name}` does not describe `{interface}`: {error}"))
        })?;
        Self::of(name, text)
    }

    /// Fetches the description of the interface under which a name is exported. If the name is a
    /// string binding without an exported object, fetches the description of the plain interface
    /// named `interface`, or of the only plain interface that the server performs.
    pub(crate) fn at(name: &str, interface: Option<&str>) -> anyhow::Result<Self> {
        let failure = match Self::exported(name) {
            Err(failure) if obvia::is_string_binding(name) => failure,
            found => return found,
        };
        let performed = obvia::performed_at(name).unwrap_or_default();
        if performed.is_empty() {
            return Err(failure);
        }
        let mut found: Vec<_> =
            performed.iter().filter_map(|one| Some((one.interface.as_deref()?, one.uuid))).collect();
        // The server lists an interface once for each object UUID for which it performs the
        // interface.
        found.dedup();
        match (interface, &found[..]) {
            (_, []) => {
                let text = format!("`{name}` does not describe its interfaces: name their IDL file by --idl FILE");
                Err(exit::usage(text))
            }
            (Some(wanted), _) => Self::named(name, wanted),
            (None, [(only, _)]) => Self::named(name, only),
            (None, _) => {
                let names: Vec<_> = found.iter().map(|(known, _)| *known).collect();
                let names = names.join(", ");
                Err(exit::usage(format!("the server has several interfaces, {names}: select one by INTERFACE.METHOD")))
            }
        }
    }

    /// Reads an interface from an IDL file: the one named `interface`, or the only one that the
    /// file itself declares.
    pub(crate) fn in_file(file: &Path, interface: Option<&str>) -> anyhow::Result<Self> {
        let invalid = |failure: Failure| anyhow!("{failure}");
        let Compilation { model, sources, .. } = Compiler::new().check(file).map_err(invalid)?;
        let own: Vec<_> = model.interfaces.iter().filter(|it| !it.imported).map(|it| it.name.as_str()).collect();
        let wanted = match (interface, &own[..]) {
            (Some(wanted), _) => wanted,
            (None, [only]) => only,
            (None, []) => return Err(exit::usage(format!("{} declares no interface", file.display()))),
            (None, _) => {
                let (file, own) = (file.display(), own.join(", "));
                return Err(exit::usage(format!("{file} has the interfaces {own}: select one by INTERFACE.METHOD")));
            }
        };
        let Some(at) = model.interfaces.iter().position(|found| found.name == wanted) else {
            let meant = did_you_mean(wanted, own.iter().copied());
            let text = format!("{} has no interface `{wanted}`{meant}", file.display());
            return Err(exit::usage(text + &listed("it has", &own)));
        };
        let refused = plan::refusals(&model, InterfaceId(at), "`obvia call`");
        if !refused.is_empty() {
            return Err(invalid(Failure::new(refused, sources)));
        }
        Ok(Self { text: canonical::text(&model, InterfaceId(at)), model, id: InterfaceId(at) })
    }

    /// Fetches the description of the interface of an object that the server of `name` returned.
    pub(crate) fn of_object(name: &str, iid: &GUID) -> anyhow::Result<Self> {
        let text = dynamic::describe(name, iid);
        let text = text.map_err(|error| {
            exit::runtime_error(
                &error,
                format!("the server of `{name}` does not describe the object that it returned: {error}"),
            )
        })?;
        Self::of(name, text)
    }

    fn of(name: &str, text: String) -> anyhow::Result<Self> {
        // The query is made only if the text names interfaces that it does not declare.
        let known = OnceCell::new();
        let iid_of = |wanted: &str| {
            let known: &HashMap<String, GUID> = known.get_or_init(|| {
                let known = dynamic::interfaces(name).unwrap_or_default();
                known.into_iter().map(|known| (known.name, known.iid)).collect()
            });
            known.get(wanted).map(GUID::to_u128)
        };
        let found = description::interface(name, &text, iid_of).map_err(|failure: Failure| {
            anyhow!("the server of `{name}` returned an invalid description:\n{failure}")
        })?;
        let (model, id) = found
            .ok_or_else(|| anyhow!("the server of `{name}` returned a text that does not describe an interface"))?;
        if let Some(refused) = plan::refusals(&model, id, "`obvia call`").first() {
            bail!("the interface of the server of `{name}` cannot be called: {}", refused.message);
        }
        Ok(Self { text, model, id })
    }

    /// Returns the described interface.
    pub(crate) fn interface(&self) -> &Interface {
        &self.model.interfaces[self.id.0]
    }

    /// Returns the IID and the fingerprint, which have to be the same on both sides.
    pub(crate) fn identity(&self) -> dynamic::Identity {
        dynamic::Identity {
            iid: GUID::from_u128(self.interface().uuid),
            fingerprint: canonical::fingerprint(&self.model, self.id),
        }
    }

    /// Returns the data for calls of a plain interface.
    pub(crate) fn functions(&self) -> dynamic::Described {
        let Interface { name, version, plain, endpoints, .. } = self.interface().clone();
        let ndr = obvia_idl::ndr::words(&self.model, self.id);
        dynamic::Described { identity: self.identity(), name, version, plain, endpoints, ndr, idl: self.text.clone() }
    }

    /// Returns the line of IDL that declares a method, or the method's name if there is no such
    /// line.
    pub(crate) fn line(&self, interface: &str, method: &str) -> String {
        let start = self.text.find(&format!("\ninterface {interface} ")).unwrap_or(0);
        let wanted = format!(" {method}(");
        let found = self.text[start..].lines().find(|line| line.contains(&wanted));
        found.unwrap_or(method).trim().to_owned()
    }

    fn document(&self, name: &str) -> serde_json::Value {
        let found = self.interface();
        let mut methods = Vec::new();
        for id in self.model.lineage(self.id) {
            let owner = &self.model.interfaces[id.0];
            for method in owner.remote_methods() {
                methods.push(json!({
                    "interface": owner.name,
                    "name": method.name,
                    "opnum": method.opnum,
                    "idl": self.line(&owner.name, &method.name),
                }));
            }
        }
        let identity = self.identity();
        json!({
            "name": name,
            "interface": found.name,
            "iid": guid::to_text(&identity.iid),
            "fingerprint": format!("{:032x}", identity.fingerprint),
            "methods": methods,
            "idl": self.text,
        })
    }
}

/// Returns a line of a message: the words `what`, and a list of `names`. Without names, the line is
/// empty.
fn listed(what: &str, names: &[&str]) -> String {
    if names.is_empty() { String::new() } else { format!("\n{what} {}", names.join(", ")) }
}

/// Describes the failure to reach a name. If no server exports the name, lists the exported names.
pub(crate) fn no_such_name(name: &str, error: obvia::Error) -> anyhow::Error {
    if error.code() != code::RPC_S_SERVER_UNAVAILABLE || obvia::is_string_binding(name) {
        return exit::runtime_error(&error, format!("`{name}`: {error}"));
    }
    let listed = obvia::list().unwrap_or_default();
    if listed.is_empty() {
        let text = format!("no process exports `{name}` or any other name: is the server running, as this user?");
        return exit::runtime_error(&error, text);
    }
    let names: Vec<&str> = listed.iter().map(|listed| listed.name.as_str()).collect();
    let meant = did_you_mean(name, names.iter().copied());
    exit::runtime_error(
        &error,
        format!("no process exports `{name}`{meant}\nthe exported names are: {}", names.join(", ")),
    )
}
