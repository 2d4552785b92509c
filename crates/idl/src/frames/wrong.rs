//! The reason why a value does not fit its type.

use std::fmt;

/// The reason why a value does not fit a type.
#[derive(Debug)]
pub struct Wrong {
    /// The path of the wrong part of the value, such as `.left` or `[2]`; empty for the whole
    /// value.
    path: String,
    message: String,
}

impl Wrong {
    /// Makes an error for the whole value.
    pub fn new(message: impl Into<String>) -> Self {
        Self { path: String::new(), message: message.into() }
    }

    /// Returns the error with a message in which the first part of the path is an argument's name.
    #[must_use]
    pub fn of_argument(self) -> Self {
        let path = self.path.trim_start_matches('.');
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (name, rest) = path.split_at(end);
        let inner = Self { path: rest.to_owned(), message: self.message.clone() };
        if name.is_empty() { inner } else { Self::new(format!("argument `{name}`: {inner}")) }
    }

    /// Returns the error with `part` before its path.
    #[must_use]
    pub fn within(self, part: &str) -> Self {
        Self { path: format!("{part}{}", self.path), ..self }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.trim_start_matches('.') {
            "" => f.write_str(&self.message),
            path => write!(f, "{path}: {}", self.message),
        }
    }
}

impl std::error::Error for Wrong {}
