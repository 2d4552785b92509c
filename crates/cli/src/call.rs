//! The subcommand `obvia call`: calls a method of an exported object, or a function of a server,
//! without generated code.

mod argument_text;
mod by_name;
mod library;
mod repeated;
mod reply;
mod request;
mod target;

pub(crate) use repeated::{Connected, Repeated};
pub(crate) use target::Target;

use crate::credentials::User;
use crate::describe::nearest::did_you_mean;
use crate::describe::{Described, no_such_name};
use crate::limit::Limit;
use crate::values::Outcome;
use crate::{exit, print};
use anyhow::anyhow;
use clap::Args;
use obvia::dynamic::guid;
use obvia::{HRESULT, code, dynamic};
use obvia_idl::frames::{Frames, Layout};
use obvia_idl::model::{Base, Type};
use obvia_idl::plan::{MethodPlan, Passing, in_place};
use serde_json::{Map, Value, json};
use std::process::ExitCode;

/// The longest result, in bytes of JSON, that is printed on one line.
const WIDTH_MAX: usize = 100;

/// The arguments of `obvia call`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  obvia call calc Add 2 3
  obvia call calc ICalc.Compute DIVIDE 1 NaN
  obvia call calc Sum '[1, 2, 3]'
  obvia call calc Sum @numbers.json                  the argument is in a file; @- is the standard input, @@x the word @x
  obvia call calc Tape/Length                        calls Length of the object that Tape returns
  obvia call 'ncacn_vi_udp:10.0.0.1[5555,name=calc]' Add 2 3
  obvia call --idl echo.idl 'ncacn_ip_tcp:10.0.0.1[49152]' echo.AddOne 7
The results of a failed method are printed as well, and the exit code is 1; `obvia --help` lists all exit codes.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    target: Target,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    user: User,
}

pub(crate) fn main(mut arguments: Arguments) -> anyhow::Result<ExitCode> {
    arguments.user.set()?;
    arguments.target.fetch()?;
    arguments.limit.run(move || run(&arguments))
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let target = &arguments.target;
    if let Some(object) = by_name::object(target)? {
        return by_name::run(arguments, object);
    }
    let (described, method, object) = locate(target)?;
    let method = Method::new(&described, method)?;
    let given = iids(target, &method);
    let request = method.request(&given)?;
    if method.plan().method.oneway {
        if let Err(error) = object.call_oneway(method.plan().method.opnum, &request) {
            return failed(arguments, &method, &error, exit::code_for(&error));
        }
        return show(arguments, &method, HRESULT(0), &[]);
    }
    let (result, frame) = match object.call(method.plan().method.opnum, &request) {
        // The method has run, although its HRESULT is a failure.
        Ok((result, _)) if result.is_err() => return failed(arguments, &method, &result.into(), ExitCode::FAILURE),
        Ok(done) => done,
        Err(error) => return failed(arguments, &method, &error, exit::code_for(&error)),
    };
    show(arguments, &method, result, &method.results(&object, &request, &frame)?)
}

/// Returns the description of the called interface, the method's name, and the object to call. The
/// object is exported under the target's name, or is returned by the methods before the last
/// method.
fn locate(target: &Target) -> anyhow::Result<(Described, &str, dynamic::Object)> {
    if !target.named.is_empty() {
        let text = "this object is not called by name, so its arguments have no names: give all of them, in order";
        return Err(exit::usage(text));
    }
    let (path, last) = target.method.rsplit_once('/').unwrap_or(("", &target.method));
    let mut object = None;
    for step in path.split('/').filter(|step| !step.is_empty()) {
        object = Some(follow(target, object, step)?);
    }
    open(target, object, last)
}

/// Calls a method without arguments, and returns the object that is the method's result.
fn follow(target: &Target, object: Option<dynamic::Object>, step: &str) -> anyhow::Result<dynamic::Object> {
    let (described, method, object) = open(target, object, step)?;
    let method = Method::new(&described, method)?;
    let request = method.request(&[])?;
    let frame = object
        .call(method.plan().method.opnum, &request)
        .and_then(|(result, frame)| if result.is_err() { Err(result.into()) } else { Ok(frame) })
        .map_err(|error| exit::runtime_error(&error, failure(&method, &error)))?;
    let results = method.results(&object, &request, &frame)?;
    let found = results.into_iter().find_map(|(_, outcome)| match outcome {
        Outcome::Object(object) => Some(object),
        Outcome::Value(_) => None,
    });
    found.ok_or_else(|| anyhow!("{} returned no object for the next call", method.name()))
}

/// Returns the description of the interface named in `Interface.Method`, the method's name, and the
/// object to call.
fn open<'m>(
    target: &Target,
    object: Option<dynamic::Object>,
    method: &'m str,
) -> anyhow::Result<(Described, &'m str, dynamic::Object)> {
    let name = &target.name;
    let (interface, method) = method.rsplit_once('.').map_or((None, method), |(left, right)| (Some(left), right));
    let described = match (&object, &target.idl) {
        (Some(object), _) => Described::of_object(name, &object.iid())?,
        (None, Some(file)) => Described::in_file(file, interface)?,
        (None, None) => Described::at(name, interface)?,
    };
    let described = match interface {
        Some(other) if other != described.interface().name => Described::named(name, other)?,
        _ => described,
    };
    let identity = described.identity();
    let (is_plain, interface) = (described.interface().plain, &described.interface().name);
    let opened = match object {
        None if is_plain => dynamic::Object::bind(name, &described.functions()),
        None => dynamic::Object::connect(name, identity),
        Some(object) if object.iid() == identity.iid => Ok(object),
        Some(object) => object.query(identity),
    };
    let opened = opened.map_err(|error| match error.code() {
        code::E_NOINTERFACE | code::RPC_S_UNKNOWN_IF if is_plain => {
            exit::usage(format!("`{name}` does not serve interface {interface}: {error}"))
        }
        code::E_NOINTERFACE => exit::usage(format!("the object has no interface {interface}")),
        _ => no_such_name(name, error),
    })?;
    Ok((described, method, opened))
}

/// A method to be called.
pub(crate) struct Method<'a> {
    described: &'a Described,
    frames: Frames<'a>,
    // The interface that declares the method: the called interface or one of its bases.
    owner: &'a str,
}

impl<'a> Method<'a> {
    fn new(described: &'a Described, name: &str) -> anyhow::Result<Self> {
        let model = &described.model;
        let mut methods = Vec::new();
        for id in model.lineage(described.id) {
            let owner = &model.interfaces[id.0];
            methods.extend(owner.remote_methods().map(|method| (owner.name.as_str(), method)));
        }
        let names: Vec<&str> = methods.iter().map(|(_, method)| method.name.as_str()).collect();
        let Some(at) = names.iter().position(|known| *known == name) else {
            let interface = &described.interface().name;
            let meant = did_you_mean(name, names.iter().copied());
            let names = names.join(", ");
            return Err(exit::usage(format!("{interface} has no method `{name}`{meant}\nit has {names}")));
        };
        let layout = Layout::new(model, &model.all_methods(described.id));
        let (owner, method) = methods[at];
        Ok(Self { described, frames: Frames::new(layout, method), owner })
    }

    fn plan(&self) -> &MethodPlan<'a> {
        self.frames.plan()
    }

    /// Lays out the frame of a request.
    fn request(&self, arguments: &[String]) -> anyhow::Result<Vec<u8>> {
        request::frame(self, arguments).map_err(|wrong| exit::usage(format!("{wrong}\n  {}", self.line())))
    }

    /// Returns the results in the frame of a reply.
    fn results(
        &self,
        object: &dynamic::Object,
        request: &[u8],
        frame: &[u8],
    ) -> anyhow::Result<Vec<(String, Outcome)>> {
        let results = reply::results(self, object, request, frame);
        results.map_err(|flaw| anyhow!("{}: the reply does not match the interface: {flaw}", self.name()))
    }

    /// Whether the parameter is a floating-point number.
    fn is_number(&self, name: &str) -> bool {
        let mut params = self.plan().params.iter().filter(|param| param.param.name == name);
        params.any(|param| matches!(in_place(&self.described.model, param.param), Type::Base(Base::F32 | Base::F64)))
    }

    /// Returns the names of the interface and of the method, as `Interface.Method`.
    fn name(&self) -> String {
        format!("{}.{}", self.described.interface().name, self.plan().method.name)
    }

    /// Returns the line of IDL that declares the method.
    fn line(&self) -> String {
        self.described.line(self.owner, &self.plan().method.name)
    }
}

/// Returns the arguments, with names of interfaces replaced by their IIDs where the parameter is a
/// GUID.
fn iids(target: &Target, method: &Method<'_>) -> Vec<String> {
    let mut given = target.arguments.clone();
    for (at, text) in method.frames.plan().arguments().into_iter().zip(&mut given) {
        let param = &method.plan().params[at];
        let is_guid =
            matches!(&param.passing, Passing::Value(ty) | Passing::RefPointer(ty) if *ty == Type::Base(Base::Guid));
        if !is_guid || guid::parse(text.trim_matches('"')).is_some() {
            continue;
        }
        if let Some(iid) = known(&target.name).iter().find(|known| known.name == text.trim_matches('"')) {
            *text = guid::to_text(&iid.iid);
        }
    }
    given
}

/// Returns the interfaces that the server describes; none when the query fails.
fn known(name: &str) -> Vec<dynamic::Known> {
    dynamic::interfaces(name).unwrap_or_default()
}

/// Reports the failure of a call, and returns the exit code.
fn failed(
    arguments: &Arguments,
    method: &Method<'_>,
    error: &obvia::Error,
    exit: ExitCode,
) -> anyhow::Result<ExitCode> {
    let code = format!("{:#010x}", error.code().0);
    if arguments.json {
        let message = error.to_string();
        print::document(&json!({ "error": { "method": method.name(), "hresult": code, "message": message } }))?;
    } else {
        print::note(&format!("obvia: {}", failure(method, error)));
    }
    Ok(exit)
}

/// Describes the failure of a call, with its HRESULT.
fn failure(method: &Method<'_>, error: &obvia::Error) -> String {
    let (text, code) = (error.to_string(), format!("{:#010x}", error.code().0));
    let code = if text.contains(&code) { String::new() } else { format!(" [{code}]") };
    format!("{} failed: {text}{code}", method.name())
}

fn show(
    arguments: &Arguments,
    method: &Method<'_>,
    result: HRESULT,
    results: &[(String, Outcome)],
) -> anyhow::Result<ExitCode> {
    let mut shown = Map::new();
    if result.0 != 0 {
        shown.insert("HRESULT".to_owned(), json!(format!("{:#010x}", result.0)));
    }
    for (name, outcome) in results {
        let value = match outcome {
            Outcome::Value(value) => value.clone(),
            Outcome::Object(object) => describe_object(arguments, method, object),
        };
        shown.insert(name.clone(), value);
    }
    if arguments.json {
        print::document(&Value::Object(shown))?;
    } else if shown.is_empty() {
        print::line("done")?;
    } else {
        for (name, value) in &shown {
            let shown = if method.is_number(name) { plain_number(value) } else { None };
            print::line(&format!("{name} = {}", shown.map_or_else(|| readable(value), Ok)?))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Describes an object that was returned as a result.
fn describe_object(arguments: &Arguments, method: &Method<'_>, object: &dynamic::Object) -> Value {
    let iid = object.iid();
    let declared = method.described.model.interfaces.iter().find(|interface| interface.uuid == iid.to_u128());
    let name = declared.map(|interface| interface.name.clone());
    let name = name
        .or_else(|| known(&arguments.target.name).into_iter().find(|known| known.iid == iid).map(|known| known.name));
    json!({ "interface": name, "iid": guid::to_text(&iid), "released": true })
}

/// Returns the name of a number that is not finite, without the quotation marks that it has in
/// JSON; `None` for other values.
fn plain_number(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Formats a result, on one line if there is room.
fn readable(value: &Value) -> anyhow::Result<String> {
    if let (Some(_), Some(iid)) = (value.get("released"), value["iid"].as_str()) {
        let interface = value["interface"].as_str().unwrap_or("an object");
        return Ok(format!("{interface} {{{iid}}}, released"));
    }
    let short = value.to_string();
    if short.len() <= WIDTH_MAX { Ok(short) } else { Ok(serde_json::to_string_pretty(value)?) }
}
