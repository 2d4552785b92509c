//! Tests of the compiler.

mod c;
mod compatibility;
mod component;
mod diagnostics;
mod dialect;
mod doc;
mod expansion;
mod explanations;
mod format;
mod golden;
mod java;
mod limits;
mod lint;
mod macros;
mod meaning;
mod ndr;
mod permissive;
mod preprocessor;
mod refused;
mod rust;
mod side_files;
mod type_libraries;
mod wrong;
