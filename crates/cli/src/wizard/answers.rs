//! The properties of a project: from the command line, from questions, or by default.

use super::idl::Idl;
use super::names;
use super::origin::Origin;
use super::questions::{Asking, Question};
use super::{Arguments, Language, Transport};
use crate::exit;
use anyhow::bail;
use clap::ValueEnum;
use obvia_idl::emit::component::Component;
use obvia_idl::model::InterfaceId;
use obvia_idl::{emit, model};
use std::path::{Path, PathBuf};

/// The properties of a project.
pub(super) struct Answers {
    pub(super) idl: Idl,
    pub(super) interface: InterfaceId,
    pub(super) language: Language,
    pub(super) class: String,
    /// The project's name.
    pub(super) name: String,
    pub(super) output: PathBuf,
    /// The transports for clients on other hosts.
    pub(super) transports: Vec<Transport>,
    pub(super) origin: Origin,
    /// Whether the project has the methods of the example as well.
    pub(super) is_example: bool,
    /// Whether the object is called over virtual interfaces.
    pub(super) is_over_vi: bool,
}

impl Answers {
    /// Returns the interface in the IDL's model.
    pub(super) fn interface(&self) -> &model::Interface {
        &self.idl.model().interfaces[self.interface.0]
    }

    /// Returns the interface's description in the project's language.
    pub(super) fn component(&self) -> Component {
        match self.language {
            Language::Rust => emit::rust::component(self.idl.model(), self.interface),
            Language::Cpp => emit::c::component(self.idl.model(), self.interface),
        }
    }
}

/// Determines the properties of a project.
pub(super) fn answers(arguments: &Arguments, asking: &mut Asking) -> anyhow::Result<Answers> {
    let idl = idl(arguments, asking)?;
    let language = language(arguments, asking, &idl)?;
    if language == Language::Cpp {
        names::check_header(&idl.stem()).map_err(exit::usage)?;
    }
    let interface = interface(arguments, asking, &idl)?;
    let proposal = names::class(language, idl.model(), interface);
    let question = optional("--class", "What is the object's class called", &proposal);
    let class = asking.ask(&question, arguments.class.as_deref(), |text| {
        names::check_class(text, language, idl.model(), interface).map(|()| text.to_owned())
    })?;
    let proposal = names::project(&idl.stem());
    let question = optional("--name", "What is the project called", &proposal);
    let name = asking
        .ask(&question, arguments.name.as_deref(), |text| names::check_project(text).map(|()| text.to_owned()))?;
    let given = arguments.output.as_ref().map(|path| path.display().to_string());
    let output =
        asking.ask(&optional("--output", "Which directory is it written to", &name), given.as_deref(), |text| {
            let path = Path::new(text);
            if path.exists() && !path.is_dir() {
                Err(format!("{text} is not a directory"))
            } else {
                Ok(path.to_owned())
            }
        })?;
    let transports = transports(arguments, asking)?;
    let origin = Origin::find(arguments.obvia.as_deref())?;
    if let Some(path) = &arguments.obvia {
        asking.note(&["--obvia", &path.display().to_string()]);
    }
    if language == Language::Rust {
        origin.checkout("Rust")?;
    }
    let is_over_vi = arguments.over_vi;
    if is_over_vi {
        asking.note(&["--over-vi"]);
        if idl.model().interfaces[interface.0].plain {
            bail!("--over-vi is for objects: functions are called over the binding that the client chooses");
        }
    }
    Ok(Answers { idl, interface, language, class, name, output, transports, origin, is_example: false, is_over_vi })
}

/// Returns a question whose proposal is the answer if there is no terminal.
pub(super) fn optional<'a>(flag: &'a str, text: &'a str, proposal: &'a str) -> Question<'a> {
    Question { flag, text, proposal: Some(proposal), is_needed: false }
}

/// Returns the IDL file.
fn idl(arguments: &Arguments, asking: &mut Asking) -> anyhow::Result<Idl> {
    let read = |path: &str| Idl::read(Path::new(path), &arguments.include).map_err(|error| format!("{error:#}"));
    let question = Question {
        flag: "an IDL file",
        text: "Which IDL file has the interface (`obvia new` begins without one)",
        proposal: None,
        is_needed: true,
    };
    let given = arguments.file.as_ref().map(|path| path.display().to_string());
    let idl = match given {
        // A wrong path fails at once, instead of being asked for again.
        Some(path) => {
            asking.note(&[&path]);
            read(&path).map_err(anyhow::Error::msg)?
        }
        None => asking.ask(&question, None, read)?,
    };
    for folder in &arguments.include {
        asking.note(&["--include", &folder.display().to_string()]);
    }
    if idl.interfaces().is_empty() {
        bail!("{} declares no interface that other processes can call", idl.compilation.name);
    }
    Ok(idl)
}

fn language(arguments: &Arguments, asking: &mut Asking, idl: &Idl) -> anyhow::Result<Language> {
    let name = |language: Language| language.to_possible_value().map(|value| value.get_name().to_owned());
    let question =
        Question { flag: "--language", text: "Which language, rust or cpp", proposal: Some("rust"), is_needed: true };
    asking.ask(&question, arguments.language.and_then(name).as_deref(), |text| {
        let language = Language::from_str(text, true).map_err(|_| format!("`{text}` is neither rust nor cpp"))?;
        idl.check_for(language)?;
        Ok(language)
    })
}

fn interface(arguments: &Arguments, asking: &mut Asking, idl: &Idl) -> anyhow::Result<InterfaceId> {
    let interfaces = idl.interfaces();
    if let ([only], None) = (interfaces.as_slice(), &arguments.interface) {
        return Ok(*only);
    }
    let names: Vec<&str> = interfaces.iter().map(|id| idl.model().interfaces[id.0].name.as_str()).collect();
    let text = format!("Which interface does the object have, of {}", names.join(", "));
    let question = Question { flag: "--interface", text: &text, proposal: names.last().copied(), is_needed: true };
    asking.ask(&question, arguments.interface.as_deref(), |text| idl.interface(text))
}

/// Returns the transports for other hosts. `shm` is not among them, because it needs no code.
fn transports(arguments: &Arguments, asking: &mut Asking) -> anyhow::Result<Vec<Transport>> {
    let name = |transport: &Transport| transport.to_possible_value().map(|value| value.get_name().to_owned());
    let given: Vec<String> = arguments.transport.iter().filter_map(name).collect();
    let given = (!given.is_empty()).then(|| given.join(","));
    let question =
        optional("--transport", "How do other hosts reach it: shm (not at all), udp, tcp, or udp,tcp", "shm");
    asking.ask(&question, given.as_deref(), |text| {
        let mut found = Vec::new();
        for word in text.split(',') {
            let transport = Transport::from_str(word.trim(), true);
            let transport = transport.map_err(|_| format!("`{word}` is not one of shm, udp and tcp"))?;
            if transport != Transport::Shm && !found.contains(&transport) {
                found.push(transport);
            }
        }
        Ok(found)
    })
}
