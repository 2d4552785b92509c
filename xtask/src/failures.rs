//! What a program of tests said about those that failed, out of all that it printed: for the end of a log.

/// Lines that are repeated of one test: what it found, not how it came there.
const LINES_MAX: usize = 16;
/// Tests that are repeated.
const TESTS_MAX: usize = 12;
/// Characters of a line.
const WIDTH_MAX: usize = 1000;
/// Last lines that are repeated of a program that names no test: it did not compile, hung or was killed.
const TAIL: usize = 20;
/// Begins cargo's line on how to run what failed again.
const AGAIN: &str = "error: test failed";

/// The tests that failed with what their panics said, and how to run them again.
pub(crate) fn find(output: &str) -> String {
    let mut found = tests(output);
    if found.is_empty() {
        let lines: Vec<&str> = output.lines().collect();
        found = lines[lines.len().saturating_sub(TAIL)..].iter().map(|line| shortened(line)).collect();
    }
    found.extend(output.lines().filter(|line| line.starts_with(AGAIN)).map(shortened));
    found.join("\n")
}

/// A line with the name of each test, and behind it what was captured up to its backtrace.
fn tests(output: &str) -> Vec<String> {
    let name = |line: &str| Some(line.strip_prefix("---- ")?.strip_suffix(" stdout ----")?.to_owned());
    let (mut found, mut tests, mut left, mut is_trace) = (Vec::new(), 0, 0, false);
    for line in output.lines() {
        if let Some(test) = name(line) {
            tests += 1;
            if tests <= TESTS_MAX {
                found.push(format!("test {test}:"));
            }
            (left, is_trace) = (LINES_MAX, false);
            continue;
        }
        if line == "failures:" || ["test result:", AGAIN].iter().any(|end| line.starts_with(end)) {
            left = 0;
        }
        // A backtrace ends with the next panic.
        is_trace = (is_trace || line == "stack backtrace:") && !line.starts_with("thread '");
        let is_told = left > 0 && tests <= TESTS_MAX && !is_trace && !line.is_empty() && !line.starts_with("note: ");
        if is_told {
            found.push(format!("  {}", shortened(line)));
            left -= 1;
        }
    }
    if tests > TESTS_MAX {
        found.push(format!("and {} more", tests - TESTS_MAX));
    }
    found
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(WIDTH_MAX) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{LINES_MAX, TESTS_MAX, WIDTH_MAX, find};

    #[test]
    fn tests_are_named_with_what_they_found() {
        let output = "\
running 2 tests
.F
failures:

---- tiny::s01 stdout ----

thread 'tiny::s01' (7) panicked at a.rs:35:31:
assertion `left == right` failed
  left: ConnectionLost
 right: Done
stack backtrace:
   0: begin_unwind
             at /b.rs:1:2
note: Some details are omitted

thread 'tiny::s01' (6) panicked at c.rs:1:1:
it did not


failures:
    tiny::s01

test result: FAILED. 1 passed; 1 failed
error: test failed, to rerun pass `-p x --test shm`
";
        let expected = "\
test tiny::s01:
  thread 'tiny::s01' (7) panicked at a.rs:35:31:
  assertion `left == right` failed
    left: ConnectionLost
   right: Done
  thread 'tiny::s01' (6) panicked at c.rs:1:1:
  it did not
error: test failed, to rerun pass `-p x --test shm`";
        assert_eq!(find(output), expected);
    }

    #[test]
    fn where_no_test_is_named_the_end_is_repeated() {
        let output: String = (0..100).map(|number| format!("line {number}\n")).collect();
        let found = find(&output);
        assert!(found.starts_with("line 80\n") && found.ends_with("\nline 99"), "{found}");
        assert_eq!(find(""), "");
    }

    #[test]
    fn long_stories_are_cut() {
        let test =
            |number: usize| format!("---- t{number} stdout ----\n{}", format!("{}\n", "ä".repeat(5000)).repeat(50));
        let found = find(&(0..30).map(test).collect::<String>());
        assert_eq!(found.lines().count(), TESTS_MAX * (LINES_MAX + 1) + 1);
        assert!(found.ends_with("\nand 18 more"), "{found}");
        assert!(found.lines().all(|line| line.chars().count() <= WIDTH_MAX + 6));
    }
}
