//! Every construct of the IDL in every permitted place: the combinations, and the rules by which
//! some are refused.
//!
//! `tests/constructs` compiles all other combinations to every language, and the languages'
//! compilers must accept the output without warnings. If `OBVIA_WIDE_TESTS` is 1, the rules are
//! tested by all combinations. Otherwise they are tested by about a twelfth of the combinations of
//! selected constructs and places.

pub mod combine;
mod form_rules;
mod forms;
pub mod made_of_names;
pub mod names;
pub mod parameters;
pub mod rule;
pub mod rules;
pub mod texts;
