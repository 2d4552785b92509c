//! Units, written down and read again.
