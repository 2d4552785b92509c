//! Lookup of members' DISPIDs in a type library, for objects that do not report them.

use crate::describe::nearest::did_you_mean;
use crate::exit::usage;
use obvia_idl::typelib::{Function, TypeInfo, TypeLibrary, TypeRef, flags};

/// Returns the DISPIDs of a member and of some of its parameters. The member may be
/// `Interface.Member`.
///
/// # Errors
///
/// Fails when the library lacks the interface, the member or a parameter, or when the name is
/// ambiguous.
pub(super) fn ids(library: &TypeLibrary, member: &str, params: &[&str]) -> anyhow::Result<Vec<i32>> {
    let (interface, member) = member.rsplit_once('.').map_or((None, member), |(left, right)| (Some(left), right));
    let by_name = |ty: &&TypeInfo| ty.flags & flags::DISPATCHABLE != 0;
    let types: Vec<&TypeInfo> = match interface {
        None => library.types.iter().filter(by_name).collect(),
        Some(name) => {
            let found = library.types.iter().filter(by_name).find(|ty| ty.name.eq_ignore_ascii_case(name));
            lineage(
                library,
                found.ok_or_else(|| usage(format!("the library has no interface `{name}` that is called by name")))?,
            )
        }
    };
    let functions = || types.iter().flat_map(|ty| &ty.functions);
    let variables = || types.iter().flat_map(|ty| &ty.variables);
    let is_it = |name: &str| name.eq_ignore_ascii_case(member);
    let of_functions = functions().filter(|function| is_it(&function.name)).map(|function| function.id);
    let mut ids: Vec<i32> = of_functions.chain(variables().filter(|one| is_it(&one.name)).map(|one| one.id)).collect();
    ids.dedup();
    let [id] = ids[..] else {
        let names = functions().map(|function| &*function.name).chain(variables().map(|variable| &*variable.name));
        return Err(match ids.len() {
            0 => usage(format!("the library has no member `{member}`{}", did_you_mean(member, names))),
            _ => usage(format!(
                "several interfaces of the library have a member `{member}`: select one by INTERFACE.{member}"
            )),
        });
    };
    let mut found = vec![id];
    for name in params {
        // The accessors of one property have a common parameter at the same position.
        let place = functions().filter(|function| is_it(&function.name)).find_map(|function| place(function, name));
        found.push(place.ok_or_else(|| usage(format!("`{member}` has no parameter `{name}`")))?);
    }
    Ok(found)
}

fn place(function: &Function, name: &str) -> Option<i32> {
    let is_it = |one: &Option<String>| one.as_ref().is_some_and(|one| one.eq_ignore_ascii_case(name));
    function.params.iter().position(|param| is_it(&param.name)).and_then(|at| i32::try_from(at).ok())
}

/// Returns an interface and its bases within the library.
fn lineage<'l>(library: &'l TypeLibrary, interface: &'l TypeInfo) -> Vec<&'l TypeInfo> {
    let mut found = vec![interface];
    let mut next = interface;
    while let Some((TypeRef::Own(at), _)) = next.interfaces.first() {
        next = &library.types[*at];
        // A malformed library may have bases in a circle.
        if found.iter().any(|known| std::ptr::eq(*known, next)) {
            break;
        }
        found.push(next);
    }
    found
}
