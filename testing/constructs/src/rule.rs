//! Rules that refuse combinations.

use crate::combine::InterfaceKind;

/// The part of the compiler that refuses a combination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The compiler's first stages, which all languages share.
    Compiler,
    Rust,
    C,
    Java,
}

/// A list of names.
pub(crate) type Names = &'static [&'static str];

/// A rule that refuses combinations.
pub struct Rule {
    /// The part that refuses the combination. `None` if every back end refuses it.
    pub(crate) stage: Option<Stage>,
    /// The error's code, and a part of its message.
    pub code: &'static str,
    pub message: &'static str,
    pub(crate) kind: &'static [InterfaceKind],
    pub(crate) constructs: &'static [Names],
    pub(crate) places: &'static [Names],
    /// The ways in which the containing type is passed. Empty for all ways.
    pub(crate) passed: Names,
}

pub(crate) const ALL: &[InterfaceKind] = &[InterfaceKind::Remote, InterfaceKind::Local, InterfaceKind::Plain];
pub(crate) const CALLED: &[InterfaceKind] = &[InterfaceKind::Remote, InterfaceKind::Plain];
pub(crate) const REMOTE: &[InterfaceKind] = &[InterfaceKind::Remote];

pub(crate) const fn rule(
    stage: Stage,
    message: &'static str,
    constructs: &'static [Names],
    places: &'static [Names],
) -> Rule {
    Rule { stage: Some(stage), code: "not-yet", message, kind: CALLED, constructs, places, passed: &[] }
}

/// Returns a rule of the language, for interfaces of every kind.
pub(crate) const fn language(
    code: &'static str,
    message: &'static str,
    constructs: &'static [Names],
    places: &'static [Names],
) -> Rule {
    Rule { code, kind: ALL, ..rule(Stage::Compiler, message, constructs, places) }
}

/// Returns a rule of every back end.
pub(crate) const fn every(message: &'static str, constructs: &'static [Names], places: &'static [Names]) -> Rule {
    Rule { stage: None, ..rule(Stage::Rust, message, constructs, places) }
}

pub(crate) const fn rust(message: &'static str, constructs: &'static [Names], places: &'static [Names]) -> Rule {
    rule(Stage::Rust, message, constructs, places)
}

/// Returns a rule of the Rust back end for `[local]` interfaces alone.
pub(crate) const fn local_rust(message: &'static str, constructs: &'static [Names], places: &'static [Names]) -> Rule {
    Rule { kind: &[InterfaceKind::Local], ..rust(message, constructs, places) }
}

pub(crate) const fn java(message: &'static str, constructs: &'static [Names], places: &'static [Names]) -> Rule {
    Rule { kind: REMOTE, ..rule(Stage::Java, message, constructs, places) }
}

/// Extends a rule to interfaces of every kind, `[local]` ones included.
pub(crate) const fn and_local(rule: Rule) -> Rule {
    Rule { kind: ALL, ..rule }
}

/// Restricts a rule to types of `[out]` and `[in, out]` parameters.
pub(crate) const fn results(rule: Rule) -> Rule {
    Rule { passed: &["out", "inout"], ..rule }
}

/// Restricts a rule to types of `[in]` parameters.
pub(crate) const fn arguments(rule: Rule) -> Rule {
    Rule { passed: &["in"], ..rule }
}
