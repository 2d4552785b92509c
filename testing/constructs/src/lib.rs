//! Every construct of the IDL in every place where it may stand: which combinations there are, and which of them are refused.
//!
//! `tests/constructs.rs` has all that is not refused written in every language, and the languages' own compilers take it without a word.
//! With `OBVIA_CONSTRUCTS_WIDE` set to 1 these are all combinations; without it, those of fewer types.

pub mod combine;
pub mod names;
pub mod rules;

/// Whether all combinations are meant.
pub fn is_wide() -> bool {
    std::env::var_os("OBVIA_CONSTRUCTS_WIDE").is_some_and(|value| value == "1")
}
