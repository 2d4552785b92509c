//! The declarations of type libraries as JSON.

use super::declarations::about;
use super::interfaces::{member, param, params};
use obvia_idl::model::{Coclass, DispMember, DispMembers, Dispinterface, Library, Model};
use serde_json::{Value, json};

pub(super) fn all(model: &Model) -> Value {
    let of = |found: &Library| {
        let declared = found.declared.iter().map(|one| {
            let (kind, name) = model.declared_name(*one);
            json!({ "kind": kind, "name": name })
        });
        json!({
            "name": found.name,
            "imported": found.imported,
            "lcid": found.lcid,
            "helpfile": found.help_file,
            "importlibs": found.imports.iter().map(|import| &import.file).collect::<Vec<_>>(),
            "declared": declared.collect::<Vec<_>>(),
            "about": about(&found.about),
        })
    };
    model.libraries.iter().map(of).collect()
}

pub(super) fn coclasses(model: &Model) -> Value {
    let of = |found: &Coclass| {
        let interfaces = found.interfaces.iter().map(|(offered, flags)| {
            let (kind, name) = model.offered_name(*offered);
            json!({ "kind": kind, "name": name, "flags": flags })
        });
        json!({
            "name": found.name,
            "imported": found.imported,
            "interfaces": interfaces.collect::<Vec<_>>(),
            "about": about(&found.about),
        })
    };
    model.coclasses.iter().map(of).collect()
}

pub(super) fn dispinterfaces(model: &Model) -> Value {
    let methods = |members: &[DispMember]| members.iter().map(|one| disp_member(model, one)).collect::<Vec<_>>();
    let properties = |members: &[DispMember]| {
        let mut list = methods(members);
        list.iter_mut().for_each(|one| one["member"]["kind"] = "property".into());
        list
    };
    let of = |found: &Dispinterface| {
        let (interface, properties, methods) = match &found.members {
            None => (None, None, None),
            Some(DispMembers::Of(id)) => (Some(model.interfaces[id.0].name.as_str()), None, None),
            Some(DispMembers::Own(own, called)) => (None, Some(properties(own)), Some(methods(called))),
        };
        json!({
            "name": found.name,
            "imported": found.imported,
            "interface": interface,
            "properties": properties,
            "methods": methods,
            "about": about(&found.about),
        })
    };
    model.dispinterfaces.iter().map(of).collect()
}

fn disp_member(model: &Model, of: &DispMember) -> Value {
    json!({
        "member": member(&of.member),
        "params": params(model, &of.params),
        "returns": of.returns.as_ref().map(|returns| param(model, returns, &[])),
    })
}
