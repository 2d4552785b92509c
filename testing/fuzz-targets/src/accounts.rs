//! Fuzzes the parser of accounts. An error has to name a line of the text; an accepted text has an
//! account for each of its entries.

use obvia_rpc::security::credentials::{AccountTable, Accounts};

pub fn run(input: &[u8]) {
    let text = crate::text(input);
    match text.parse::<AccountTable>() {
        Ok(table) => {
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
            let users = lines.map(|line| line.split_once('=').unwrap().0.trim());
            users.for_each(|user| assert!(table.hash("", user).is_some(), "{user}"));
        }
        Err(error) => assert!((1..=text.lines().count()).contains(&error.line), "{error}"),
    }
}
