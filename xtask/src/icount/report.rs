//! The counts as a table, as JSON and as a budget, and their comparison with a budget.

use super::floor::Floor;
use super::sides::COUNTED;
use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// The lines before and after the table in a document.
const BEGIN: &str = "<!-- begin: cargo xtask icount --bless -->";
const END: &str = "<!-- end -->";
const FLOORS: [Floor; 6] = [Floor::Generated, Floor::Com, Floor::Rpc, Floor::Ndr, Floor::Wrapper, Floor::Via];

/// The number of instructions in all counted calls. There are a thousand calls, so the number for
/// one call has at most three decimal places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Instructions(i64);

const _: () = assert!(COUNTED == 1000);

impl Instructions {
    fn parse(text: &str) -> Option<Self> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
        let rest = format!("{rest:0<3}");
        if whole.is_empty() || rest.len() > 3 || !whole.bytes().chain(rest.bytes()).all(|digit| digit.is_ascii_digit())
        {
            return None;
        }
        format!("{whole}{rest}").parse().ok().map(Self)
    }
}

impl fmt::Display for Instructions {
    /// Formats the number of instructions of one call.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:03}", self.0 / 1000, self.0 % 1000);
        f.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// The instructions of one method's calls on one side.
#[derive(Debug)]
pub(super) struct Count {
    pub(super) language: &'static str,
    pub(super) method: &'static str,
    /// The number of elements in the method's arrays.
    pub(super) words: u32,
    pub(super) side: &'static str,
    pub(super) instructions: BTreeMap<Floor, i64>,
}

impl Count {
    /// Returns the instructions without those of the transport, the adapters and the method.
    fn counted(&self) -> Instructions {
        let counted = self.instructions.iter().filter(|(floor, _)| floor.is_counted());
        Instructions(counted.map(|(_, count)| count).sum())
    }

    fn of(&self, floor: Floor) -> Instructions {
        Instructions(self.instructions.get(&floor).copied().unwrap_or_default())
    }
}

/// All counts. The counts of a method's client and of its server are adjacent.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) counts: Vec<Count>,
}

impl Report {
    /// Returns the tables as Markdown: the sums, and their breakdown by layer.
    pub(super) fn table(&self) -> String {
        let mut text = String::from(
            "| instructions per call | words | stubs | client | server |   both |\n|---|--:|---|--:|--:|--:|\n",
        );
        for [client, server] in self.counts.as_chunks().0 {
            let (here, there) = (client.counted(), server.counted());
            let both = format!("**{}**", Instructions(here.0 + there.0));
            // Writing to a String cannot fail, here and below.
            let _ = writeln!(
                text,
                "| {:<21} | {:>5} | {:<5} | {here:>6} | {there:>6} | {both:>6} |",
                client.method, client.words, client.language
            );
        }
        let _ = write!(text, "\n| {:<21} | words | stubs | side   |", "by floor");
        for floor in FLOORS {
            let _ = write!(text, " {:>9} |", floor.to_string());
        }
        let _ = write!(text, "\n|---|--:|---|---|{}", "--:|".repeat(FLOORS.len()));
        for count in &self.counts {
            let _ = write!(
                text,
                "\n| {:<21} | {:>5} | {:<5} | {} |",
                count.method, count.words, count.language, count.side
            );
            for floor in FLOORS {
                let _ = write!(text, " {:>9} |", count.of(floor));
            }
        }
        text.push('\n');
        text
    }

    /// Returns the counts as JSON.
    pub(super) fn json(&self) -> String {
        let rows = self.counts.as_chunks().0.iter().map(|[client, server]| {
            let (here, there) = (client.counted(), server.counted());
            format!(
                "{{\"lang\":\"{}\",\"case\":\"{}\",\"words\":{},\"client\":{here},\"server\":{there},\"total\":{}}}",
                client.language,
                client.method,
                client.words,
                Instructions(here.0 + there.0)
            )
        });
        format!("[\n{}\n]\n", rows.collect::<Vec<_>>().join(",\n"))
    }

    /// Returns the counts as a budget.
    pub(super) fn csv(&self) -> String {
        format!("stubs,method,words,side,instructions\n{}", self.rows())
    }

    /// Returns the rows of a budget.
    pub(super) fn rows(&self) -> String {
        let mut text = String::new();
        for count in &self.counts {
            let _ = writeln!(
                text,
                "{},{},{},{},{}",
                count.language,
                count.method,
                count.words,
                count.side,
                count.counted()
            );
        }
        text
    }

    /// Compares the counts with a budget. Returns notes about improvements, or an error that lists
    /// the regressions.
    pub(super) fn compare(&self, budget: &str) -> Result<Vec<String>, String> {
        let mut notes = Vec::new();
        let mut worse = Vec::new();
        for count in &self.counts {
            let row = format!("{},{},{},{},", count.language, count.method, count.words, count.side);
            let allowed = budget.lines().find_map(|line| line.strip_prefix(&row).and_then(Instructions::parse));
            let name = format!("{} {} {} {}", count.language, count.method, count.words, count.side);
            let counted = count.counted();
            let Some(allowed) = allowed else {
                worse.push(format!("{name} is not in the budget"));
                continue;
            };
            if counted > allowed {
                worse.push(format!("{name} takes {counted} instructions, {allowed} is the budget"));
            } else if counted < allowed {
                notes.push(format!("{name} takes {counted} instructions, less than {allowed}: keep it with --bless"));
            }
        }
        if worse.is_empty() { Ok(notes) } else { Err(worse.join("; ")) }
    }

    /// Replaces the table in a document.
    pub(super) fn put_into(&self, document: &str) -> Result<String, String> {
        let missing = || format!("the document has no lines {BEGIN} and {END}");
        let (before, rest) = document.split_once(BEGIN).ok_or_else(missing)?;
        let (_, after) = rest.split_once(END).ok_or_else(missing)?;
        Ok(format!("{before}{BEGIN}\n\n{}\n{END}{after}", self.table()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, Floor, Instructions, Report};

    fn report(com: i64) -> Report {
        let client = [(Floor::Generated, 20_000), (Floor::Com, com), (Floor::Via, 300_000), (Floor::User, 9_012)];
        let server = [(Floor::Rpc, 50_000)];
        let count = |side, floors: &[(Floor, i64)]| Count {
            language: "rust",
            method: "null",
            words: 16,
            side,
            instructions: floors.iter().copied().collect(),
        };
        Report { counts: vec![count("client", &client), count("server", &server)] }
    }

    #[test]
    fn instruction_counts_round_trip() {
        for (count, text) in
            [(0, "0"), (57_000, "57"), (57_400, "57.4"), (57_398, "57.398"), (60, "0.06"), (9, "0.009")]
        {
            assert_eq!(Instructions(count).to_string(), text);
            assert_eq!(Instructions::parse(text), Some(Instructions(count)));
        }
        for text in ["", "x", "-1", "1.2345", "1.x", "1.2.3"] {
            assert_eq!(Instructions::parse(text), None, "{text}");
        }
    }

    #[test]
    fn instruction_reports_exclude_transport_and_method() {
        assert_eq!(
            report(80_000).csv(),
            "stubs,method,words,side,instructions\nrust,null,16,client,100\nrust,null,16,server,50\n"
        );
    }

    #[test]
    fn instruction_counts_over_the_budget_fail() {
        let budget = report(80_000).csv();
        assert_eq!(report(80_000).compare(&budget), Ok(vec![]));
        let worse = report(80_001).compare(&budget).unwrap_err();
        assert_eq!(worse, "rust null 16 client takes 100.001 instructions, 100 is the budget");
        let better = report(79_000).compare(&budget).unwrap();
        assert_eq!(better, ["rust null 16 client takes 99 instructions, less than 100: keep it with --bless"]);
        assert_eq!(
            report(1_000).compare("").unwrap_err(),
            "rust null 16 client is not in the budget; rust null 16 server is not in the budget"
        );
    }

    #[test]
    fn the_instruction_table_is_written_into_the_document() {
        let document = "# x\n<!-- begin: cargo xtask icount --bless -->\nold\n<!-- end -->\ny\n";
        let text = report(80_000).put_into(document).unwrap();
        assert!(text.starts_with("# x\n<!-- begin") && text.ends_with("<!-- end -->\ny\n") && !text.contains("old"));
        assert!(text.contains("| null                  |    16 | rust  |    100 |     50 | **150** |\n"), "{text}");
        assert!(text.contains("| null                  |    16 | rust  | client |        20 |        80 |"), "{text}");
        assert!(report(1_000).put_into("# x\n").is_err());
    }

    #[test]
    fn the_instruction_json_has_a_row_for_each_case() {
        let json = report(80_000).json();
        let row = "{\"lang\":\"rust\",\"case\":\"null\",\"words\":16,\"client\":100,\"server\":50,\"total\":150}";
        assert_eq!(json, format!("[\n{row}\n]\n"));
    }
}
