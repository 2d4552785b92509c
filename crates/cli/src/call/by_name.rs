//! Calls by name, through IDispatch: for objects whose interface extends IDispatch, and for objects
//! without a description.

use super::{Arguments, Target, argument_text, readable};
use crate::describe::{Described, no_such_name};
use crate::{exit, print, tlb};
use anyhow::{anyhow, bail};
use obvia::automation::{
    Bound, DISPATCH_METHOD, DISPATCH_PROPERTYGET, DISPATCH_PROPERTYPUT, DISPID_PROPERTYPUT, Value as Held, vt,
};
use obvia::dynamic::guid;
use obvia::{IDispatch, Interface, SafeArray, Variant, code};
use obvia_idl::typelib::TypeLibrary;
use serde_json::{Value, json};
use std::process::ExitCode;

/// The name of the interface that carries calls by name.
const IDISPATCH: &str = "IDispatch";

/// Connects to the object by IDispatch, if the object is called by name; otherwise returns `None`.
///
/// # Errors
///
/// Fails when the object cannot be reached, or when the request for its description timed out.
pub(super) fn object(target: &Target) -> anyhow::Result<Option<IDispatch>> {
    if target.idl.is_some() {
        return Ok(None);
    }
    let name = &target.name;
    let connect = || obvia::connect::<IDispatch>(name);
    if target.type_library.is_some() || target.method.starts_with(&format!("{IDISPATCH}.")) {
        return connect().map(Some).map_err(|error| no_such_name(name, error));
    }
    match Described::exported(name) {
        Ok(described) if described.interface().dual || described.identity().iid == IDispatch::IID => {
            connect().map(Some).map_err(|error| no_such_name(name, error))
        }
        Ok(_) => Ok(None),
        // The time limit has passed: no time is left for another attempt.
        Err(error) if exit::is_timeout(&error) => Err(error),
        // An object without a description may still have IDispatch. If it does not, the call by
        // frames follows and reports the error.
        Err(_) => Ok(connect().ok()),
    }
}

/// Calls the last of the target's members. The members before the last one lead from `object` to
/// the called object.
///
/// # Errors
///
/// Fails when the arguments are wrong, when a member before the last one returns no object, or when
/// the call fails.
pub(super) fn run(arguments: &Arguments, object: IDispatch) -> anyhow::Result<ExitCode> {
    let target = &arguments.target;
    let member = match Member::find(target, object)? {
        Ok(member) => member,
        Err(error) => return failed(arguments, &error, not_found(last(target), &error)),
    };
    match member.call() {
        Ok(result) => show(arguments, &result),
        Err(error) => {
            let explained = exit::runtime_error(&error, failure(last(target), &error));
            failed(arguments, &error, explained)
        }
    }
}

/// Reports the failure of a call: as JSON with `--json`, else by the explained error.
fn failed(arguments: &Arguments, error: &obvia::Error, explained: anyhow::Error) -> anyhow::Result<ExitCode> {
    if !arguments.json {
        return Err(explained);
    }
    let hresult = format!("{:#010x}", error.code().0);
    let told = json!({ "method": last(&arguments.target), "hresult": hresult, "message": error.to_string() });
    print::document(&json!({ "error": told }))?;
    Ok(exit::code_of(&explained))
}

/// A member of an object, with the arguments of its call.
pub(crate) struct Member {
    object: IDispatch,
    /// The DISPIDs of the member and of the named parameters.
    ids: Vec<i32>,
    /// Whether the call sets a property.
    sets: bool,
    given: Vec<Variant>,
    named: Vec<Variant>,
}

impl Member {
    /// Finds the last of the target's members. The members before the last one lead from `object`
    /// to the called object.
    ///
    /// # Errors
    ///
    /// Fails when the type library cannot be read, when the arguments are wrong, or when a member
    /// before the last one fails or returns no object. The inner error is the failure to look up
    /// the last member.
    pub(super) fn find(target: &Target, object: IDispatch) -> anyhow::Result<obvia::Result<Self>> {
        let library = target.type_library.as_deref().map(tlb::load).transpose()?;
        let library = library.as_ref();
        let (path, last) = target.method.rsplit_once('/').unwrap_or(("", &target.method));
        let mut object = object;
        for step in path.split('/').filter(|step| !step.is_empty()) {
            let ids = ids(&object, library, step, &[])?.map_err(|error| not_found(step, &error))?;
            let found = call(&object, &ids, false, &[], &[]);
            let found = found.map_err(|error| exit::runtime_error(&error, failure(step, &error)))?;
            let found =
                found.object().ok_or_else(|| anyhow!("{} returned no object for the next call", member(step)))?;
            object = found.cast().map_err(|error| {
                anyhow!("the object that {} returned cannot be called by name: {error}", member(step))
            })?;
        }
        let given = target.arguments.iter().map(|typed| variant(&argument(typed))).collect::<anyhow::Result<_>>()?;
        let mut named = Vec::new();
        for typed in &target.named {
            let Some((name, value)) = typed.split_once('=') else {
                return Err(exit::usage(format!("`--named {typed}`: write NAME=VALUE")));
            };
            named.push((name, variant(&argument(value))?));
        }
        let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
        let named = named.into_iter().map(|(_, value)| value).collect();
        let sets = last.ends_with('=');
        Ok(ids(&object, library, last, &names)?.map(|ids| Self { object, ids, sets, given, named }))
    }

    /// Calls the method, or reads or sets the property.
    pub(super) fn call(&self) -> obvia::Result<Variant> {
        call(&self.object, &self.ids, self.sets, &self.given, &self.named)
    }
}

/// Returns the name of the called member, which is the last one in the path of members.
pub(super) fn last(target: &Target) -> &str {
    member(target.method.rsplit('/').next().unwrap_or(&target.method))
}

/// Returns a member's name without the name of its interface.
fn member(step: &str) -> &str {
    step.rsplit_once('.').map_or(step, |(_, member)| member)
}

/// Describes the failure to find a member. An unknown name is wrong usage.
pub(super) fn not_found(step: &str, error: &obvia::Error) -> anyhow::Error {
    let text = failure(step, error);
    if error.code() == code::DISP_E_UNKNOWNNAME { exit::usage(text) } else { exit::runtime_error(error, text) }
}

/// Describes the failure of a member's call.
pub(super) fn failure(step: &str, error: &obvia::Error) -> String {
    format!("{} failed: {error}", member(step))
}

/// Returns the DISPIDs of a member and of parameters, from the library or from the object.
fn ids(
    object: &IDispatch,
    library: Option<&TypeLibrary>,
    step: &str,
    names: &[&str],
) -> anyhow::Result<obvia::Result<Vec<i32>>> {
    let step = step.strip_suffix('=').unwrap_or(step);
    match library {
        Some(library) => super::library::ids(library, step, names).map(Ok),
        None => Ok(object.ids(&[&[member(step)], names].concat())),
    }
}

/// Calls a method or reads a property, or sets a property to the last argument.
fn call(object: &IDispatch, ids: &[i32], sets: bool, given: &[Variant], named: &[Variant]) -> obvia::Result<Variant> {
    let mut named: Vec<(i32, Variant)> = ids[1..].iter().copied().zip(named.iter().cloned()).collect();
    match given.split_last().filter(|_| sets) {
        Some((value, rest)) => {
            named.insert(0, (DISPID_PROPERTYPUT, value.clone()));
            object.invoke(ids[0], DISPATCH_PROPERTYPUT, rest, &named)
        }
        None => object.invoke(ids[0], DISPATCH_METHOD | DISPATCH_PROPERTYGET, given, &named),
    }
}

/// Parses an argument as JSON. Text that is no JSON becomes a string, and so does a number that is
/// not finite.
fn argument(typed: &str) -> Value {
    argument_text::json(typed).unwrap_or_else(|| Value::String(typed.to_owned()))
}

/// Converts a JSON value to a VARIANT; the callee coerces it to the parameter's type.
fn variant(value: &Value) -> anyhow::Result<Variant> {
    Ok(match value {
        Value::Null => Variant::null(),
        Value::Bool(value) => (*value).into(),
        Value::String(text) => argument_text::number(text).map_or_else(|| text.as_str().into(), Variant::from),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => i32::try_from(value).map_or_else(|_| value.into(), Variant::from),
            (None, Some(value)) => value.into(),
            (None, None) => number.as_f64().unwrap_or(f64::NAN).into(),
        },
        Value::Array(values) => {
            let values = values.iter().map(variant).collect::<anyhow::Result<Vec<_>>>()?;
            SafeArray::of_variants(vt::VARIANT, &values)?.into()
        }
        Value::Object(_) => bail!("calls by name accept only numbers, strings, booleans and lists, not {value}"),
    })
}

/// Converts a VARIANT to JSON.
fn shown(value: &Variant) -> anyhow::Result<Value> {
    let object = |object: Option<obvia::IUnknown>, iid| match object {
        Some(_) => json!({ "interface": null, "iid": guid::to_text(&iid), "released": true }),
        None => Value::Null,
    };
    Ok(match value.value()? {
        Held::Empty | Held::Null => Value::Null,
        Held::I1(value) => value.into(),
        Held::I2(value) => value.into(),
        Held::I4(value) => value.into(),
        Held::I8(value) => value.into(),
        Held::Ui1(value) => value.into(),
        Held::Ui2(value) => value.into(),
        Held::Ui4(value) => value.into(),
        Held::Ui8(value) => value.into(),
        Held::R4(value) => value.into(),
        Held::R8(value) | Held::Date(value) => value.into(),
        Held::Bool(value) => value.into(),
        Held::Error(code) => format!("{:#010x}", code.0).into(),
        // A text keeps the exact value; a JSON number is a double.
        Held::Currency(value) => value.to_string().into(),
        Held::Decimal(value) => value.to_string().into(),
        Held::Text(text) => text.to_string().into(),
        Held::Unknown(found) => object(found, obvia::IUnknown::IID),
        Held::Dispatch(found) => object(found.map(Into::into), IDispatch::IID),
        Held::Array(array) => list(&array, &array.bounds(), &mut Vec::new())?,
        other => format!("{other:?}").into(),
    })
}

/// Converts the elements below `indices` to nested lists.
fn list(array: &SafeArray, bounds: &[Bound], indices: &mut Vec<i32>) -> anyhow::Result<Value> {
    let Some((first, rest)) = bounds.split_first() else {
        return if indices.is_empty() { Ok(Value::Null) } else { shown(&array.get(indices)?) };
    };
    let mut elements = Vec::new();
    for at in 0..first.count {
        indices.push(first.lower.saturating_add_unsigned(at));
        elements.push(list(array, rest, indices)?);
        indices.pop();
    }
    Ok(Value::Array(elements))
}

fn show(arguments: &Arguments, result: &Variant) -> anyhow::Result<ExitCode> {
    let value = shown(result)?;
    if arguments.json {
        print::document(&json!({ "returned": value }))?;
    } else if result.vt() == vt::EMPTY {
        print::line("done")?;
    } else {
        print::line(&format!("returned = {}", readable(&value)?))?;
    }
    Ok(ExitCode::SUCCESS)
}
