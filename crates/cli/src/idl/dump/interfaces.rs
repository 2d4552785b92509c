//! Interfaces and their methods as JSON.

use super::declarations::{about, uuid};
use super::types::{automation, constant, expression, ty, varying};
use obvia_idl::canonical;
use obvia_idl::model::{
    Direction, Interface, InterfaceId, Kind, Member, Method, Model, Param, Returns, Transfer, Variant,
};
use serde_json::{Value, json};

/// The VARTYPE of `unsigned hyper`.
const VT_UI8: u16 = 21;
/// The opnum of the first method after IUnknown's methods. The model numbers the functions of a
/// plain interface from there, too.
const FIRST: u16 = 3;

pub(super) fn all(model: &Model) -> Value {
    (0..model.interfaces.len()).map(|at| interface(model, InterfaceId(at))).collect()
}

fn interface(model: &Model, id: InterfaceId) -> Value {
    let found = &model.interfaces[id.0];
    let fingerprint = (!model.is_built_in(id)).then(|| format!("{:032x}", canonical::fingerprint(model, id)));
    json!({
        "name": found.name,
        "imported": found.imported,
        "uuid": (found.uuid != 0).then(|| uuid(found.uuid)),
        "version": [found.version.0, found.version.1],
        "base": found.base.map(|base| &model.interfaces[base.0].name),
        "is_object": !found.plain,
        "local": found.local,
        "dual": found.dual,
        "endpoints": found.endpoints,
        "fingerprint": fingerprint,
        "doc": doc(&found.doc),
        "about": about(&found.about),
        "methods": found.methods.iter().map(|method| self::method(model, found, method)).collect::<Vec<_>>(),
    })
}

fn method(model: &Model, owner: &Interface, method: &Method) -> Value {
    let returns = match method.returns {
        Returns::Hresult => "hresult",
        Returns::Nothing => "nothing",
        Returns::Value => "value",
    };
    json!({
        "name": method.name,
        "place": method.opnum,
        "opnum": if owner.plain { method.opnum.saturating_sub(FIRST) } else { method.opnum },
        "returns": returns,
        "local": method.local,
        "oneway": method.oneway,
        "idempotent": method.idempotent,
        "travels_as": method.travels_as.as_ref().map(|other| self::method(model, owner, other)),
        "member": member(&method.member),
        "doc": doc(&method.doc),
        "params": params(model, &method.params),
    })
}

/// Returns the comment before a declaration, or null without one.
fn doc(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// Returns the properties of a method for calls by name.
pub(super) fn member(member: &Member) -> Value {
    let kind = match member.kind {
        Kind::Method => "method",
        Kind::Get => "propget",
        Kind::Put => "propput",
        Kind::PutRef => "propputref",
    };
    json!({
        "name": member.name,
        "id": member.id,
        "kind": kind,
        "restricted": member.restricted,
        "flags": member.flags,
        "helpstring": member.help.text,
        "helpcontext": member.help.context,
    })
}

/// Returns the parameters of a method. Expressions in a parameter refer to other parameters.
pub(super) fn params(model: &Model, params: &[Param]) -> Vec<Value> {
    let names: Vec<&str> = params.iter().map(|param| param.name.as_str()).collect();
    params.iter().map(|param| self::param(model, param, &names)).collect()
}

pub(super) fn param(model: &Model, param: &Param, names: &[&str]) -> Value {
    let direction = match param.direction {
        Direction::In => "in",
        Direction::Out => "out",
        Direction::InOut => "in, out",
    };
    let transfer = match param.transfer {
        Transfer::Frame => json!("frame"),
        Transfer::ZeroCopy => json!("zero_copy"),
        Transfer::Map => json!("map"),
        Transfer::Lend(room) => json!({ "lend": room }),
    };
    json!({
        "name": param.name,
        "direction": direction,
        "retval": param.retval,
        "type": ty(model, &param.ty, names),
        "typedef": param.named.map(|at| &model.typedefs[at].name),
        "is_boxed": param.boxed,
        "range": param.range.map(|(least, most)| [least, most]),
        "utf8": param.utf8,
        "switch_is": param.switch.as_ref().map(|switch| expression(switch, names)),
        "varying": varying(param.varying.as_ref(), names),
        "transfer": transfer,
        "automation": automation(param.memory),
        "variant": param.variant.as_ref().map(variant),
    })
}

fn variant(of: &Variant) -> Value {
    let default = of.default.as_ref().map(|value| constant(value, of.vt == VT_UI8));
    json!({ "vt": of.vt, "optional": of.optional, "default": default })
}
