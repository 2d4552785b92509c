//! What the command prints: tables.

use crate::json;

/// Prints the first columns of a table.
pub(crate) fn print<const N: usize>(rows: &[[String; N]], shown: usize) -> anyhow::Result<()> {
    let widths: Vec<usize> =
        (0..shown).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        json::line(cells.join("  ").trim_end())?;
    }
    Ok(())
}
