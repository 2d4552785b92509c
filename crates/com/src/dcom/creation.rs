//! Having objects of classes made: by this process, by libraries that it loads, by processes of this host, and by other hosts.

use super::classes::Activated;
use crate::error::{Error, Result, code};
use crate::registry::{self, InterfaceInfo, Remote};
use crate::runtime::Runtime;
use crate::{scm, system};
use obvia_rpc::epm;
use obvia_rpc::string_binding::StringBinding;
use std::ops::BitOr;
use std::path::Path;
use windows_core::{GUID, IUnknown, Interface};

/// Where objects of a class may be made (CLSCTX).
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

    /// The contexts of these numbers of CLSCTX; others are left out.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Whether all that another one allows is allowed.
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

/// Has an object of a class made (CoCreateInstanceEx): by the process at `server`, a name that it exports or a string binding, as one
/// [connects](crate::connect) to. Where none is named, in this process if it has registered the class; otherwise by what is
/// [registered](crate::scm) on this host: a process that runs, or one that the host's service starts.
///
/// # Errors
///
/// REGDB_E_CLASSNOTREG where nobody makes objects of the class; CO_E_SERVER_EXEC_FAILURE when its server could not be started; E_NOINTERFACE
/// when they have no such interface; why there is no object; otherwise as for [`crate::connect`].
pub fn create_instance<I: Remote>(class: GUID, server: Option<&str>) -> Result<I> {
    Ok(activate(class, server, Activated::Instance, ClassContext::ALL, I::INFO)?.cast()?)
}

/// Has an object of a class made by what is [registered](crate::scm) on this host, and in one of these contexts: by a shared library, by a process
/// of this user, or by another host, whichever is the first that there is. Where this process has registered the class, it makes the object.
///
/// # Errors
///
/// As for [`create_instance`]; CO_E_DLLNOTFOUND and CO_E_ERRORINDLL for a library that cannot be used.
pub fn create_instance_in<I: Remote>(class: GUID, context: ClassContext) -> Result<I> {
    Ok(activate(class, None, Activated::Instance, context, I::INFO)?.cast()?)
}

/// Finds what stands for a class (CoGetClassObject), as [`create_instance`] does for its objects.
///
/// # Errors
///
/// As for [`create_instance`]; E_NOINTERFACE for a class without class object.
pub fn class_object<I: Remote>(class: GUID, server: Option<&str>) -> Result<I> {
    Ok(activate(class, server, Activated::ClassObject, ClassContext::ALL, I::INFO)?.cast()?)
}

/// The class that is registered by a name on this host (CLSIDFromProgID), whatever the case of its letters.
///
/// # Errors
///
/// CO_E_CLASSSTRING for a name that no registration has.
pub fn class_named(name: &str) -> Result<GUID> {
    let has_name = |class: &scm::Class| class.name.as_ref().is_some_and(|known| known.eq_ignore_ascii_case(name));
    let mut known = scm::classes().into_iter().filter_map(|(_, class)| class.ok());
    let unknown = || Error::new(code::CO_E_CLASSSTRING, format!("no class is registered by the name `{name}`"));
    known.find(has_name).map(|class| class.id).ok_or_else(unknown)
}

/// An object of a class, or what stands for the class, for a caller who wants the interface described.
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
    let runtime = Runtime::of_process()?;
    registry::register_module(info);
    let sought = Sought { runtime, class, wanted, info };
    if let Some(server) = server {
        return sought.at(server);
    }
    match runtime.classes().activate(&class, wanted) {
        Err(error) if error.code() == code::REGDB_E_CLASSNOTREG => sought.registered(context),
        own => Ok(own?.get().clone()),
    }
}

/// What somebody wants of a class.
struct Sought {
    runtime: &'static Runtime,
    class: GUID,
    wanted: Activated,
    info: &'static InterfaceInfo,
}

impl Sought {
    /// The object, by the process at a name or a string binding.
    fn at(&self, server: &str) -> Result<IUnknown> {
        let link = self.runtime.link_at(server)?;
        let reference = system::activate(&link, &self.class, self.wanted, self.info)?;
        if reference.oxid == link.oxid() || reference.oxid == self.runtime.oxid() {
            return self.runtime.adopt(&link, &reference, self.info);
        }
        // Who was asked has had it made by another process.
        let link = self.runtime.link_to(reference.oxid, &reference.bindings)?;
        if let Err(error) = link.bind(self.info) {
            link.release_later(reference.target, reference.public_refs);
            return Err(error);
        }
        self.runtime.adopt(&link, &reference, self.info)
    }

    /// The object, by what is registered on this host.
    fn registered(&self, context: ClassContext) -> Result<IUnknown> {
        let (registered, path) = scm::find(&self.class)?.unzip();
        let registered = registered.as_ref();
        let library = registered.and_then(|class| class.library.as_ref());
        if let Some(library) = library.filter(|_| context.contains(ClassContext::INPROC_SERVER)) {
            return self.runtime.libraries().activate(library, &self.class, self.wanted, &self.info.iid);
        }
        let host = registered.and_then(|class| class.host.as_ref());
        let host = host.filter(|_| context.contains(ClassContext::REMOTE_SERVER));
        let program = path.as_deref().filter(|_| registered.is_some_and(|class| class.program.is_some()));
        let by_process = if context.contains(ClassContext::LOCAL_SERVER) {
            self.by_process(program)
        } else {
            Err(scm::unknown(&self.class, "is not registered on this host for these contexts"))
        };
        match (by_process, host) {
            (Err(error), Some(host)) if error.code() == code::REGDB_E_CLASSNOTREG => self.at(&binding_of(host)),
            (done, _) => done,
        }
    }

    /// The object, by a process of this user: one that runs, or that the service starts, where a registration at this path says that there is a
    /// program.
    fn by_process(&self, program: Option<&Path>) -> Result<IUnknown> {
        let start = |_| {
            let Some(path) = program else {
                let why = "is not registered on this host, and no process of this user has it";
                return Err(scm::unknown(&self.class, why));
            };
            scm::start(self.runtime, &self.class)?.ok_or_else(|| {
                let path = path.display();
                let why = format!("has a program, by {path}, and nobody starts it: `obvia scm` does, and does not run");
                scm::unknown(&self.class, &why)
            })
        };
        scm::by_server(|| self.at(&scm::class_endpoint(&self.class)), start)
    }
}

/// How the service of a host is reached, or who else a registration names.
fn binding_of(host: &str) -> String {
    if StringBinding::is_meant(host) { host.to_owned() } else { format!("ncacn_ip_tcp:{host}[{}]", epm::PORT) }
}
