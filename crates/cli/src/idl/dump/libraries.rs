//! The declarations of type libraries as JSON.

use super::declarations::about;
use super::interfaces::{member, param, params};
use obvia_idl::model::{Coclass, Declared, DispMember, DispMembers, Dispinterface, Library, Model, Offered};
use serde_json::{Value, json};

pub(super) fn all(model: &Model) -> Value {
    let of = |found: &Library| {
        let declared = found.declared.iter().map(|one| self::declared(model, *one));
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

fn declared(model: &Model, of: Declared) -> Value {
    let (kind, name) = match of {
        Declared::Struct(id) => ("struct", &model.structs[id.0].name),
        Declared::Union(id) => ("union", &model.unions[id.0].name),
        Declared::Enum(id) => ("enum", &model.enums[id.0].name),
        Declared::Interface(id) => ("interface", &model.interfaces[id.0].name),
        Declared::Alias(at) => ("typedef", &model.typedefs[at].name),
        Declared::Dispinterface(at) => ("dispinterface", &model.dispinterfaces[at].name),
        Declared::Coclass(at) => ("coclass", &model.coclasses[at].name),
    };
    json!({ "kind": kind, "name": name })
}

pub(super) fn coclasses(model: &Model) -> Value {
    let of = |found: &Coclass| {
        let interfaces = found.interfaces.iter().map(|(offered, flags)| {
            let (kind, name) = match *offered {
                Offered::Unknown => ("interface", "IUnknown"),
                Offered::Interface(id) => ("interface", model.interfaces[id.0].name.as_str()),
                Offered::Dispinterface(at) => ("dispinterface", model.dispinterfaces[at].name.as_str()),
            };
            json!({ "kind": kind, "name": name, "flags": flags })
        });
        json!({ "name": found.name, "interfaces": interfaces.collect::<Vec<_>>(), "about": about(&found.about) })
    };
    model.coclasses.iter().map(of).collect()
}

pub(super) fn dispinterfaces(model: &Model) -> Value {
    let list = |members: &[DispMember]| members.iter().map(|one| disp_member(model, one)).collect::<Vec<_>>();
    let of = |found: &Dispinterface| {
        let mut made = json!({ "name": found.name, "about": about(&found.about) });
        match &found.members {
            None => {}
            Some(DispMembers::Of(id)) => made["interface"] = model.interfaces[id.0].name.as_str().into(),
            Some(DispMembers::Own(properties, methods)) => {
                made["properties"] = list(properties).into();
                made["methods"] = list(methods).into();
            }
        }
        made
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
