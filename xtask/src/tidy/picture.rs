//! The picture of the floors, `docs/figures/floors.svg`. It is drawn from the tables with which
//! `tidy` checks the floors.

use super::Finding;
use super::order::ORDERS;
use crate::outcome::{Outcome, Problem};
use crate::repo::{Repo, root};
use std::fs;

/// The picture's path in the repository.
const PICTURE: &str = "docs/figures/floors.svg";

/// The crates in the picture, in rows from the top. Each has a name, a left edge and a width.
const ROWS: &[&[(&str, u32, u32)]] = &[
    &[("crates/com", 220, 530)],
    &[("crates/idl", 10, 200), ("crates/rpc", 220, 530)],
    &[("crates/ndr", 10, 200), ("crates/via", 220, 530)],
];

const LINE: u32 = 20;
const TITLE: u32 = 26;
const MARGIN: u32 = 10;

/// Writes the picture.
pub(super) fn write() -> Outcome {
    fs::write(root().join(PICTURE), draw()).map_err(|error| Problem::Failed(format!("{PICTURE}: {error}")))
}

/// Reports a finding if the picture differs from the tables.
pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let Some(file) = repo.file(PICTURE) else { return Vec::new() };
    if file.text == draw() {
        return Vec::new();
    }
    let message = "the picture differs from xtask/src/tidy/order.rs: draw it by `cargo xtask tidy --draw`";
    vec![Finding::new(file, 1, message)]
}

/// Draws all rows.
fn draw() -> String {
    let (mut body, mut y) = (String::new(), MARGIN);
    for row in ROWS {
        let mut height = 0;
        for &(name, x, width) in *row {
            height = height.max(draw_crate(&mut body, name, x, y, width));
        }
        y += height + MARGIN;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"{y}\" font-family=\"sans-serif\" \
            font-size=\"11\">\n<rect width=\"760\" height=\"{y}\" fill=\"white\"/>\n{body}</svg>\n"
    )
}

/// Draws a crate with its floors, the highest on top. Returns its height.
fn draw_crate(to: &mut String, name: &str, x: u32, y: u32, width: u32) -> u32 {
    let order = ORDERS.iter().find(|(crate_name, _)| *crate_name == name);
    let (_, floors) = order.expect("each crate of the picture has an order of floors");
    let height = TITLE + LINE * floors.len() as u32 + MARGIN / 2;
    *to += &format!(
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\" fill=\"#eef2f7\" \
            stroke=\"#53657a\"/>\n<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{name}</text>\n",
        x + 8,
        y + 17
    );
    for (at, floor) in (0..).zip(floors.iter().rev()) {
        let top = y + TITLE + LINE * at;
        *to += &format!(
            "<rect x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{}\" fill=\"white\" stroke=\"#b7c3d0\"/>\n\
                <text x=\"{}\" y=\"{}\">{}</text>\n",
            x + 5,
            width - 10,
            LINE - 2,
            x + 11,
            top + 13,
            floor.join("  ·  ")
        );
    }
    height
}

#[cfg(test)]
mod tests {
    use super::{PICTURE, check, draw};
    use crate::tidy::said;

    #[test]
    fn an_outdated_picture_is_reported() {
        assert!(said(check, &[(PICTURE, &draw())]).is_empty());
        assert_eq!(said(check, &[(PICTURE, &draw().replace("marshal", "marshall"))]).len(), 1);
    }
}
