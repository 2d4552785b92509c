//! Tables on standard output.

use crate::print;

/// The longest cell, in characters. Longer texts are cut; the JSON output has the whole texts.
const CELL_MAX: usize = 300;
/// The greatest width of a column, in characters. A longer cell moves the cells after it to the
/// right.
const COLUMN_MAX: usize = 60;

/// Prints the first `shown` columns of a table.
pub(crate) fn print<const N: usize>(rows: &[[String; N]], shown: usize) -> anyhow::Result<()> {
    lines(rows, shown).iter().try_for_each(|line| print::line(line))
}

fn lines<const N: usize>(rows: &[[String; N]], shown: usize) -> Vec<String> {
    let rows: Vec<Vec<String>> = rows.iter().map(|row| row[..shown].iter().map(|text| cell(text)).collect()).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count().min(COLUMN_MAX)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..shown).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn cell(text: &str) -> String {
    let shown = print::on_a_line(text);
    match shown.char_indices().nth(CELL_MAX) {
        Some((end, _)) => format!("{}...", &shown[..end]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::{CELL_MAX, COLUMN_MAX, lines};

    #[test]
    fn overlong_table_cells_are_cut() {
        let rows = [["NAME", "PID"].map(str::to_owned), ["x".repeat(1 << 17), "1".to_owned()]];
        let lines = lines(&rows, 2);
        assert_eq!(lines[0], format!("NAME{}  PID", " ".repeat(COLUMN_MAX - 4)));
        assert_eq!(lines[1], format!("{}...  1", "x".repeat(CELL_MAX)));
    }

    #[test]
    fn line_feeds_in_table_cells_are_escaped() {
        assert_eq!(lines(&[["a\nb\u{1b}[2J".to_owned()]], 1), ["a\\nb\\u001b[2J"]);
    }
}
