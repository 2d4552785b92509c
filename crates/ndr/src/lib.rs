//! Transfer syntaxes: how values are laid out in messages.

pub mod flat;
