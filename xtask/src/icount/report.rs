//! The counts as a table, as JSON, as a budget, and compared with one.

use super::floor::Floor;
use std::collections::BTreeMap;
use std::fmt::Write;

/// How much more than the budget is let pass.
const TOLERANCE: f64 = 0.02;
/// And beside that: how often a wait looks around varies from run to run.
const NOISE: f64 = 3.0;
/// Between these lines a document has the table.
const BEGIN: &str = "<!-- begin: cargo xtask icount --bless -->";
const END: &str = "<!-- end -->";
const FLOORS: [Floor; 6] = [Floor::Generated, Floor::Com, Floor::Rpc, Floor::Ndr, Floor::Wrapper, Floor::Transport];

/// Instructions per call of one method on one side.
#[derive(Debug)]
pub(super) struct Count {
    pub(super) language: &'static str,
    pub(super) method: &'static str,
    /// Elements of its arrays.
    pub(super) words: u32,
    pub(super) side: &'static str,
    pub(super) instructions: BTreeMap<Floor, f64>,
}

impl Count {
    /// Without transport and method, in whole instructions.
    fn counted(&self) -> i64 {
        let counted = self.instructions.iter().filter(|(floor, _)| floor.is_counted());
        counted.map(|(_, count)| count).sum::<f64>().round() as i64
    }

    fn of(&self, floor: Floor) -> f64 {
        self.instructions.get(&floor).copied().unwrap_or_default()
    }
}

/// All counts, client and server of a method one after the other.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) counts: Vec<Count>,
}

impl Report {
    /// For people; Markdown too: the sums, and where they come from.
    pub(super) fn table(&self) -> String {
        let mut text = String::from(
            "| instructions per call | words | stubs | client | server |   both |\n|---|--:|---|--:|--:|--:|\n",
        );
        for [client, server] in self.counts.as_chunks().0 {
            let (here, there) = (client.counted(), server.counted());
            let both = format!("**{}**", here + there);
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
                let _ = write!(text, " {:>9.1} |", count.of(floor));
            }
        }
        text.push('\n');
        text
    }

    /// For programs.
    pub(super) fn json(&self) -> String {
        let rows = self.counts.as_chunks().0.iter().map(|[client, server]| {
            let (here, there) = (client.counted(), server.counted());
            format!(
                "{{\"lang\":\"{}\",\"case\":\"{}\",\"words\":{},\"client\":{here},\"server\":{there},\"total\":{}}}",
                client.language,
                client.method,
                client.words,
                here + there
            )
        });
        format!("[\n{}\n]\n", rows.collect::<Vec<_>>().join(",\n"))
    }

    /// As a budget to be kept.
    pub(super) fn csv(&self) -> String {
        let mut text = String::from("stubs,method,words,side,instructions\n");
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

    /// Compares with a budget. Notes are what is better than it; an error names what is worse.
    pub(super) fn compare(&self, budget: &str) -> Result<Vec<String>, String> {
        let mut notes = Vec::new();
        let mut worse = Vec::new();
        for count in &self.counts {
            let row = format!("{},{},{},{},", count.language, count.method, count.words, count.side);
            let allowed = budget.lines().find_map(|line| line.strip_prefix(&row)?.trim().parse::<i64>().ok());
            let name = format!("{} {} {} {}", count.language, count.method, count.words, count.side);
            let counted = count.counted();
            let Some(allowed) = allowed else {
                worse.push(format!("{name} is not in the budget"));
                continue;
            };
            let tolerated = allowed as f64 * TOLERANCE + NOISE;
            if counted > allowed && (counted - allowed) as f64 > tolerated {
                worse.push(format!("{name} takes {counted} instructions, {allowed} is the budget"));
            } else if counted < allowed && (allowed - counted) as f64 > tolerated {
                notes.push(format!("{name} takes {counted} instructions, less than {allowed}: keep it with --bless"));
            }
        }
        if worse.is_empty() { Ok(notes) } else { Err(worse.join("; ")) }
    }

    /// Puts the table into a document, in place of the one before.
    pub(super) fn put_into(&self, document: &str) -> Result<String, String> {
        let missing = || format!("the document has no lines {BEGIN} and {END}");
        let (before, rest) = document.split_once(BEGIN).ok_or_else(missing)?;
        let (_, after) = rest.split_once(END).ok_or_else(missing)?;
        Ok(format!("{before}{BEGIN}\n\n{}\n{END}{after}", self.table()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Count, Floor, Report};

    fn report(com: f64) -> Report {
        let client = [(Floor::Generated, 20.4), (Floor::Com, com), (Floor::Transport, 300.0), (Floor::User, 9.0)];
        let server = [(Floor::Rpc, 50.0)];
        let count = |side, floors: &[(Floor, f64)]| Count {
            language: "rust",
            method: "null",
            words: 16,
            side,
            instructions: floors.iter().copied().collect(),
        };
        Report { counts: vec![count("client", &client), count("server", &server)] }
    }

    #[test]
    fn transport_and_method_are_not_counted() {
        assert_eq!(
            report(79.6).csv(),
            "stubs,method,words,side,instructions\nrust,null,16,client,100\nrust,null,16,server,50\n"
        );
    }

    #[test]
    fn the_budget_is_kept() {
        let budget = report(79.6).csv();
        assert_eq!(report(84.6).compare(&budget), Ok(vec![]));
        let worse = report(85.6).compare(&budget).unwrap_err();
        assert_eq!(worse, "rust null 16 client takes 106 instructions, 100 is the budget");
        let better = report(70.0).compare(&budget).unwrap();
        assert!(better[0].starts_with("rust null 16 client takes 90"), "{better:?}");
        assert_eq!(
            report(1.0).compare("").unwrap_err(),
            "rust null 16 client is not in the budget; rust null 16 server is not in the budget"
        );
    }

    #[test]
    fn the_table_goes_into_a_document() {
        let document = "# x\n<!-- begin: cargo xtask icount --bless -->\nold\n<!-- end -->\ny\n";
        let text = report(79.6).put_into(document).unwrap();
        assert!(text.starts_with("# x\n<!-- begin") && text.ends_with("<!-- end -->\ny\n") && !text.contains("old"));
        assert!(text.contains("| null                  |    16 | rust  |    100 |     50 | **150** |\n"), "{text}");
        assert!(text.contains("| null                  |    16 | rust  | client |      20.4 |      79.6 |"), "{text}");
        assert!(report(1.0).put_into("# x\n").is_err());
    }

    #[test]
    fn json_has_a_row_for_each_case() {
        let json = report(79.6).json();
        let row = "{\"lang\":\"rust\",\"case\":\"null\",\"words\":16,\"client\":100,\"server\":50,\"total\":150}";
        assert_eq!(json, format!("[\n{row}\n]\n"));
    }
}
