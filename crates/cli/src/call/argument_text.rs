//! Parsing of arguments: contents of files, and numbers that are not finite.

use crate::exit;
use serde_json::Value;
use std::io::Read;

/// The longest argument that is read from a file, in bytes: as long as the longest message of a
/// connection.
const LENGTH_MAX: u64 = 64 << 20;
/// The spellings of numbers that are not finite: those of JavaScript, and those of printed results.
const NUMBERS: [&str; 6] = ["NaN", "Infinity", "-Infinity", "inf", "-inf", "nan"];

/// Replaces arguments of the form `@FILE` by the contents of the file.
///
/// # Errors
///
/// Fails when a file cannot be read, is too long, or is not in UTF-8.
pub(super) fn fetch(arguments: &mut [String]) -> anyhow::Result<()> {
    for argument in arguments {
        if let Some(rest) = argument.strip_prefix('@') {
            *argument = if rest.starts_with('@') { rest.to_owned() } else { read(rest)? };
        }
    }
    Ok(())
}

fn read(path: &str) -> anyhow::Result<String> {
    let wrong = |why: String| exit::usage(format!("@{path}: {why}; write a string that begins with @ as @@"));
    let mut bytes = Vec::new();
    let read = if path == "-" {
        std::io::stdin().lock().take(LENGTH_MAX + 1).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|file| file.take(LENGTH_MAX + 1).read_to_end(&mut bytes))
    };
    let length = read.map_err(|error| wrong(error.to_string()))?;
    if length as u64 > LENGTH_MAX {
        return Err(wrong(format!("it is longer than {LENGTH_MAX} bytes")));
    }
    let mut text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
    // The newline that ends a text file is no part of the argument.
    if text.ends_with('\n') {
        text.pop();
    }
    Ok(text)
}

/// Parses an argument as JSON, with numbers that are not finite as strings; `None` if it is no
/// JSON.
pub(super) fn json(typed: &str) -> Option<Value> {
    serde_json::from_str(typed).ok().or_else(|| serde_json::from_str(&quoted(typed)?).ok())
}

/// Puts quotation marks around numbers that are not finite; `None` if there are no such numbers.
fn quoted(text: &str) -> Option<String> {
    let (mut out, mut rest, mut has_some) = (String::with_capacity(text.len() + 16), text, false);
    while !rest.is_empty() {
        let length = match rest.as_bytes()[0] {
            b'"' => string(rest),
            first if is_part(first) => rest.bytes().position(|byte| !is_part(byte)).unwrap_or(rest.len()),
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        let (token, after) = rest.split_at(length);
        if NUMBERS.contains(&token) {
            out.push_str(&format!("\"{token}\""));
            has_some = true;
        } else {
            out.push_str(token);
        }
        rest = after;
    }
    has_some.then_some(out)
}

/// Whether a byte is part of a number or a bare word.
fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.' | b'_')
}

/// Returns the length of the string literal at the start of a text.
fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Parses the name of a number that is not finite; `None` for other words.
pub(super) fn number(word: &str) -> Option<f64> {
    NUMBERS.contains(&word).then(|| word.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::{fetch, json, number};
    use serde_json::json as value;

    #[test]
    fn nonfinite_numbers_are_parsed_in_arrays_and_structures() {
        assert_eq!(json("[1, NaN, -Infinity]"), Some(value!([1, "NaN", "-Infinity"])));
        let entry = r#"{"left": inf, "text": "NaN, \\"NaN\\", NaN"}"#.replace("\\\\", "\\");
        assert_eq!(json(&entry).unwrap()["left"], "inf");
        assert_eq!(json(&entry).unwrap()["text"], "NaN, \"NaN\", NaN");
        for word in ["NaNa", "[NaNa]", "quiet words", "[inf", "\"NaN"] {
            assert_eq!(json(word), None, "{word}");
        }
        assert!(number("NaN").is_some_and(f64::is_nan));
        assert_eq!((number("-Infinity"), number("nano")), (Some(f64::NEG_INFINITY), None));
    }

    #[test]
    fn arguments_with_a_leading_at_sign_are_escaped_by_a_second() {
        let mut arguments = ["@@word".to_owned(), "word".to_owned()];
        fetch(&mut arguments).unwrap();
        assert_eq!(arguments, ["@word", "word"]);
        let wrong = fetch(&mut ["@/no/such/file".to_owned()]).unwrap_err().to_string();
        assert!(wrong.contains("@/no/such/file: No such file"), "{wrong}");
    }
}
