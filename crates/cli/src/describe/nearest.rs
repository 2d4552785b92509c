//! Suggestions for misspelled words.

use obvia_idl::most_like;

/// Returns a question to append to an error, or an empty text if no word of `known` is similar to
/// `word`.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    most_like(word, known).map_or_else(String::new, |meant| format!("; did you mean `{meant}`?"))
}

#[cfg(test)]
mod tests {
    use obvia_idl::most_like;

    #[test]
    fn suggestions_tolerate_a_wrong_letter_and_wrong_case() {
        let known = ["Add", "Compute", "Nothing"];
        assert_eq!(most_like("add", known), Some("Add"));
        assert_eq!(most_like("Compote", known), Some("Compute"));
        assert_eq!(most_like("Notihng", known), Some("Nothing"));
        assert_eq!(most_like("Subtraction", known), None);
    }
}
