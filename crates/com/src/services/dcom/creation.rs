//! Activation of classes: in this process, in shared libraries, in processes of this host, and on
//! other hosts.

use super::activation_call;
use super::classes::Activated;
use crate::client::link::Link;
use crate::protocol::objref::ObjRef;
use crate::runtime::Runtime;
use crate::runtime::returned::Sender;
use crate::services::dcom::classes::Classes;
use crate::services::dcom::library::Libraries;
use crate::services::process;
use crate::services::scm;
use crate::types::deadline;
use crate::types::error::{Error, Result, code};
use crate::types::registry::{self, InterfaceInfo, Remote};
use obvia_rpc::epm;
use obvia_rpc::string_binding::StringBinding;
use std::ops::BitOr;
use std::path::Path;
use std::sync::Arc;
use windows_core::{GUID, IUnknown, Interface};

/// The contexts in which objects of a class may be made (CLSCTX).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassContext(u32);

impl ClassContext {
    /// In this process, by a shared library (CLSCTX_INPROC_SERVER).
    pub const INPROC_SERVER: Self = Self(0x1);
    /// In another process of this host (CLSCTX_LOCAL_SERVER).
    pub const LOCAL_SERVER: Self = Self(0x4);
    /// On another host (CLSCTX_REMOTE_SERVER).
    pub const REMOTE_SERVER: Self = Self(0x10);
    /// Anywhere (CLSCTX_SERVER).
    pub const ALL: Self = Self(0x15);

    /// Makes a set of contexts from CLSCTX bits; unknown bits are dropped.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Whether this set contains all contexts of `other`.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for ClassContext {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Makes an object of a class (CoCreateInstanceEx) in the process at `server`, which is an exported
/// name or a string binding as for [`connect`](crate::connect). Without `server`, this process
/// makes the object if it has registered the class. Otherwise the [registrations](crate::scm) on
/// this host decide which process makes the object: a running process, or one that the SCM starts.
///
/// # Errors
///
/// REGDB_E_CLASSNOTREG where the class is not registered; CO_E_SERVER_EXEC_FAILURE when its server
/// could not be started; E_NOINTERFACE when the object has no such interface; the server's error
/// where it made no object; otherwise as for [`crate::connect`].
pub fn create_instance<I: Remote>(class: GUID, server: Option<&str>) -> Result<I> {
    Ok(activate(class, server, Activated::Instance, ClassContext::ALL, I::INFO)?.cast()?)
}

/// Makes an object of a class that is [registered](crate::scm) on this host. The object is made in
/// the first of these contexts that `context` contains and the registration provides: a shared
/// library, a process of this user, or another host. Where this process has registered the class,
/// it makes the object itself.
///
/// # Errors
///
/// As for [`create_instance`]; CO_E_DLLNOTFOUND and CO_E_ERRORINDLL for a library that cannot be
/// used.
pub fn create_instance_in<I: Remote>(class: GUID, context: ClassContext) -> Result<I> {
    Ok(activate(class, None, Activated::Instance, context, I::INFO)?.cast()?)
}

/// Returns the class object of a class (CoGetClassObject), from the process in which
/// [`create_instance`] would make an object.
///
/// # Errors
///
/// As for [`create_instance`]; E_NOINTERFACE for a class without class object.
pub fn class_object<I: Remote>(class: GUID, server: Option<&str>) -> Result<I> {
    Ok(activate(class, server, Activated::ClassObject, ClassContext::ALL, I::INFO)?.cast()?)
}

/// Returns the class that is registered under a name on this host (CLSIDFromProgID). Case is
/// ignored.
///
/// # Errors
///
/// CO_E_CLASSSTRING where no registration has the name.
pub fn class_named(name: &str) -> Result<GUID> {
    let has_name = |class: &scm::Class| class.name.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(name));
    let mut known = scm::classes().into_iter().filter_map(|(_, class)| class.ok());
    let unknown = || Error::new(code::CO_E_CLASSSTRING, format!("no class is registered by the name `{name}`"));
    known.find(has_name).map(|class| class.id).ok_or_else(unknown)
}

/// Returns an object or the class object of a class, with the described interface.
///
/// # Errors
///
/// As for [`create_instance`].
pub(crate) fn activate(
    class: GUID,
    server: Option<&str>,
    wanted: Activated,
    context: ClassContext,
    info: &'static InterfaceInfo,
) -> Result<IUnknown> {
    let runtime = process::runtime()?;
    registry::register_for_calls(info);
    let request = ActivationRequest { runtime, class, wanted, info };
    if let Some(server) = server {
        return deadline::for_all_steps(|| request.at(server));
    }
    match Classes::of(runtime).activate(&class, wanted) {
        Err(error) if error.code() == code::REGDB_E_CLASSNOTREG => request.registered(context),
        own => Ok(own?.get().clone()),
    }
}

/// An activation request.
struct ActivationRequest {
    runtime: &'static Runtime,
    class: GUID,
    wanted: Activated,
    info: &'static InterfaceInfo,
}

impl ActivationRequest {
    /// Activates the class in the process at a name or a string binding.
    fn at(&self, server: &str) -> Result<IUnknown> {
        let link = self.runtime.link_at(server)?;
        let reference = activation_call::activate(&link, &self.class, self.wanted, self.info)?;
        self.object_from(&link, &reference)
    }

    /// Returns the interface pointer for a reference that was received over a link.
    fn object_from(&self, link: &Arc<Link>, reference: &ObjRef) -> Result<IUnknown> {
        if reference.oxid == link.oxid() || reference.oxid == self.runtime.oxid() {
            return self.runtime.adopt(link, reference, self.info);
        }
        // According to the called process, the object belongs to a third process, to which the
        // called process may have forwarded the activation.
        self.runtime.with_link_for(reference, |third| {
            let give_back = |_: &_| third.give_back(reference.target, reference.public_refs);
            third.bind(self.info).inspect_err(give_back)?;
            self.runtime.import_from(Sender::Callee(Some(link)), third, reference, self.info)
        })
    }

    /// Activates the class as it is registered on this host.
    fn registered(&self, context: ClassContext) -> Result<IUnknown> {
        let (registered, path) = scm::find(&self.class)?.unzip();
        let registered = registered.as_ref();
        let library = registered.and_then(|class| class.library.as_ref());
        if let Some(library) = library.filter(|_| context.contains(ClassContext::INPROC_SERVER)) {
            return Libraries::of(self.runtime).activate(library, &self.class, self.wanted, &self.info.iid);
        }
        let host = registered.and_then(|class| class.host.as_ref());
        let host = host.filter(|_| context.contains(ClassContext::REMOTE_SERVER));
        let program = path.as_deref().filter(|_| registered.is_some_and(|class| class.program.is_some()));
        deadline::for_all_steps(|| {
            let by_process = if context.contains(ClassContext::LOCAL_SERVER) {
                self.by_process(program)
            } else {
                Err(scm::unknown(&self.class, "is not registered on this host for these contexts"))
            };
            match (by_process, host) {
                (Err(error), Some(host)) if error.code() == code::REGDB_E_CLASSNOTREG => self.at(&binding_of(host)),
                (done, _) => done,
            }
        })
    }

    /// Activates the class in a process of this user: a running process, or a process that the SCM
    /// starts. `program` is the path of the class's registration file, if the registration names a
    /// program.
    fn by_process(&self, program: Option<&Path>) -> Result<IUnknown> {
        let start = |_| {
            let Some(path) = program else {
                let why = "is not registered on this host, and no process of this user provides it";
                return Err(scm::unknown(&self.class, why));
            };
            scm::start(self.runtime, &self.class)?.ok_or_else(|| {
                let path = path.display();
                let why = format!(
                    "has a program, registered in {path}, but the SCM that would start it does not run: run `obvia scm`"
                );
                scm::unknown(&self.class, &why)
            })
        };
        scm::by_server(|| self.at(&scm::class_endpoint(&self.class)), start)
    }
}

/// Returns `host` if it is a string binding, otherwise the string binding of the SCM on that host.
fn binding_of(host: &str) -> String {
    if StringBinding::is_meant(host) { host.to_owned() } else { format!("ncacn_ip_tcp:{host}[{}]", epm::PORT) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::proxy::UNKNOWN_INFO;
    use crate::events::idl::IConnectionPoint;
    use crate::types::identity;

    #[obvia::object()]
    struct Object;

    #[test]
    #[cfg_attr(miri, ignore = "opens sockets")]
    fn the_process_to_which_an_activation_was_forwarded_is_asked_for_the_interface() {
        let (runtime, link) = (process::runtime().unwrap(), Arc::new(Link::to_itself()));
        let third = runtime.add_link(Link::to_another(identity::draw().unwrap()));
        let info = IConnectionPoint::INFO;
        registry::register_for_calls(info);
        let request = ActivationRequest { runtime, class: GUID::zeroed(), wanted: Activated::Instance, info };
        let object = IUnknown::from(Object);
        let made = runtime.marshal_own(&object, &UNKNOWN_INFO, runtime.receiver_behind(&link)).unwrap();
        let stated = |iid| ObjRef { oxid: third.oxid(), iid, bindings: made.bindings.clone(), ..made };
        let outcome = |iid| request.object_from(&link, &stated(iid)).map(drop).map_err(|error| error.code());
        assert_eq!(outcome(info.iid), Err(code::E_NOINTERFACE));
    }
}
