//! The interfaces of all generated modules that are linked into the program.
//!
//! A cast queries for an IID, and then uses the vtable of the result. The runtime is not called, so
//! it cannot check the vtable. An IID must therefore have one meaning in a program. The linker does
//! not detect a conflict. Each module therefore declares its interfaces when it is loaded, before
//! any cast.

use super::InterfaceInfo;
use std::iter::successors;
use std::ptr::{self, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};
use windows_core::GUID;

/// An interface of a module, with its IID and its fingerprints.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredInterface {
    name: &'static str,
    iid: u128,
    fingerprint: u128,
    /// The fingerprint of everything on which the modules of one program must agree: the text that
    /// `fingerprint` covers, the parameters of `[local]` methods, and the room for lent arrays.
    vtable: u128,
}

impl DeclaredInterface {
    /// Makes the value from the interface's name, its IID and the fingerprint of its text.
    pub const fn new(name: &'static str, iid: u128, fingerprint: u128) -> Self {
        Self { name, iid, fingerprint, vtable: fingerprint }
    }

    /// Sets the fingerprint that modules of one program compare. This fingerprint differs from the
    /// usual one if the interface has `[local]` methods or lent arrays.
    #[must_use]
    pub const fn with_vtable(self, vtable: u128) -> Self {
        Self { vtable, ..self }
    }
}

/// The declaration of a module.
#[derive(Debug)]
pub struct Declared {
    module: &'static str,
    interfaces: &'static [DeclaredInterface],
    // Invariant: the pointer is null, or leads to another declaration, which lives as long as the
    // program.
    next: AtomicPtr<Self>,
}

/// The module that was declared last, which begins the list of declared modules.
static LAST: AtomicPtr<Declared> = AtomicPtr::new(null_mut());

impl Declared {
    /// Makes the declaration of a module's interfaces.
    pub const fn new(module: &'static str, interfaces: &'static [DeclaredInterface]) -> Self {
        Self { module, interfaces, next: AtomicPtr::new(null_mut()) }
    }
}

/// Returns all declared modules.
fn all() -> impl Iterator<Item = &'static Declared> {
    // SAFETY: declarations are never removed from the list, and each was a `&'static` reference.
    let at = |place: &AtomicPtr<Declared>| unsafe { place.load(Ordering::Acquire).as_ref() };
    successors(at(&LAST), move |declared| at(&declared.next))
}

/// Returns two different interfaces with the same IID, one of each module, if there are any.
fn differing<'a>(one: &'a Declared, other: &'a Declared) -> Option<(&'a DeclaredInterface, &'a DeclaredInterface)> {
    let rival = |own: &'a DeclaredInterface| {
        let differs = |known: &DeclaredInterface| (known.fingerprint, known.vtable) != (own.fingerprint, own.vtable);
        other.interfaces.iter().find(|known| known.iid == own.iid && differs(known))
    };
    one.interfaces.iter().find_map(|own| Some((own, rival(own)?)))
}

/// Declares a module that is linked into the program.
///
/// Aborts the program if an IID has another meaning than in an earlier module, since casts would
/// confuse the vtables of the two interfaces.
pub fn declare(declared: &'static Declared) {
    // Without the lock, two threads could declare one module twice, and the list would have no end.
    static DECLARING: Mutex<()> = Mutex::new(());
    let _declaring = DECLARING.lock().unwrap_or_else(PoisonError::into_inner);
    for other in all() {
        if ptr::eq(other, declared) {
            return;
        }
        if let Some((own, rival)) = differing(declared, other) {
            eprintln!("{}", conflict((declared.module, own), (other.module, rival)));
            std::process::abort();
        }
    }
    declared.next.store(LAST.load(Ordering::Acquire), Ordering::Release);
    LAST.store(ptr::from_ref(declared).cast_mut(), Ordering::Release);
}

/// Declares the interfaces of a module in another language: the name of each interface, its IID and
/// its fingerprints, as in [`DeclaredInterface`]. The function copies the strings, because those of
/// the module may not live as long as the program. If all interfaces are declared already, it does
/// nothing.
///
/// Aborts the program as [`declare`] does.
pub fn declare_copy(module: &str, interfaces: &[(&str, GUID, u128, u128)]) {
    let is_known = |(_, iid, fingerprint, vtable): &(&str, GUID, u128, u128)| {
        let mut known = all().flat_map(|declared| declared.interfaces);
        known.any(|known| (known.iid, known.fingerprint, known.vtable) == (iid.to_u128(), *fingerprint, *vtable))
    };
    if interfaces.iter().all(is_known) {
        return;
    }
    let kept = |text: &str| &*String::leak(text.to_owned());
    let declared = interfaces.iter().map(|(name, iid, fingerprint, vtable)| {
        DeclaredInterface::new(kept(name), iid.to_u128(), *fingerprint).with_vtable(*vtable)
    });
    declare(Box::leak(Box::new(Declared::new(kept(module), Vec::leak(declared.collect())))));
}

fn conflict((module, own): (&str, &DeclaredInterface), (other, rival): (&str, &DeclaredInterface)) -> String {
    let (one, two, iid) = (own.name, rival.name, GUID::from_u128(own.iid));
    let both = format!("obvia: {module}::{one} and {other}::{two} have the same IID, {{{iid:?}}}, but");
    if own.fingerprint == rival.fingerprint {
        return format!(
            "{both} differ in the parameters of [local] methods, in their types, or in [prealloc]: compile both from \
                one IDL file, by the same version of obvia-idl"
        );
    }
    let (own, rival) = (own.fingerprint, rival.fingerprint);
    format!(
        "{both} are different interfaces (fingerprints {own:032x} and {rival:032x}): give one of them a new uuid, from \
            `uuidgen`"
    )
}

/// Returns the name of a linked interface that differs from this one but has the same IID, if any.
pub(super) fn rival_of(info: &InterfaceInfo) -> Option<&'static str> {
    let iid = info.iid.to_u128();
    let mut meanings = all().flat_map(|declared| declared.interfaces);
    meanings.find(|known| known.iid == iid && known.fingerprint != info.fingerprint).map(|known| known.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    static ONE: Declared =
        Declared::new("one", &[DeclaredInterface::new("IFirst", 1, 10), DeclaredInterface::new("ISecond", 2, 20)]);
    static SAME: Declared = Declared::new("same", &[DeclaredInterface::new("ISecond", 2, 20)]);
    static OTHER: Declared = Declared::new("other", &[DeclaredInterface::new("IOther", 2, 21)]);

    #[test]
    fn interface_meanings_are_identified_by_iid_and_fingerprint() {
        assert!(differing(&ONE, &SAME).is_none());
        let (own, rival) = differing(&OTHER, &ONE).unwrap();
        assert_eq!((own.name, rival.name), ("IOther", "ISecond"));
        let text = conflict((OTHER.module, own), (ONE.module, rival));
        assert!(text.contains("other::IOther and one::ISecond have the same IID"), "{text}");
    }

    #[test]
    fn interfaces_differ_if_their_vtables_have_other_fingerprints() {
        const SLOT: DeclaredInterface = DeclaredInterface::new("ISlot", 4, 40);
        static ONE: Declared = Declared::new("one", &[SLOT.with_vtable(41)]);
        static SAME: Declared = Declared::new("same", &[SLOT.with_vtable(41)]);
        static OTHER: Declared = Declared::new("other", &[SLOT.with_vtable(42)]);
        assert!(differing(&ONE, &SAME).is_none());
        let (own, rival) = differing(&ONE, &OTHER).unwrap();
        let text = conflict((ONE.module, own), (OTHER.module, rival));
        assert!(text.contains("from one IDL file"), "{text}");
    }

    #[test]
    fn a_module_that_several_threads_declare_is_declared_once() {
        static RACED: Declared = Declared::new("raced", &[DeclaredInterface::new("IRaced", 5, 50)]);
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| declare(&RACED)))));
        assert_eq!(all().filter(|declared| declared.module == "raced").count(), 1);
    }

    #[test]
    fn modules_are_declared_once() {
        declare(&ONE);
        declare(&SAME);
        declare(&ONE);
        declare_copy("copied", &[("IThird", GUID::from_u128(3), 30, 30)]);
        declare_copy("known", &[("IThird", GUID::from_u128(3), 30, 30), ("IFirst", GUID::from_u128(1), 10, 10)]);
        assert!(all().any(|declared| declared.module == "copied") && all().all(|declared| declared.module != "known"));
        let declared = all().filter(|declared| ["one", "same"].contains(&declared.module));
        assert_eq!(declared.map(|declared| declared.module).collect::<Vec<_>>(), ["same", "one"]);
    }
}
