//! The command line of `cargo xtask test`.

use super::order::Seed;
use crate::outcome::{Outcome, Problem};

pub(crate) const USAGE: &str = "[--list] [--fetch] [--shuffle [SEED]] [--load] [--repeat N] [--thorough] [NAME ...]";

/// The options of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Whether the run only lists the parts and groups.
    pub(super) is_list: bool,
    /// Whether the run only installs and downloads everything that the parts need. Another run can
    /// then do without a network.
    pub(super) is_fetch: bool,
    /// Whether groups of the thorough run are run in place of parts.
    pub(super) is_thorough: bool,
    /// Whether two processors are kept busy during the tests.
    pub(super) has_load: bool,
    /// The number of times that the parts or tests are run. The run then reports how often each
    /// test failed.
    pub(super) repeat: Option<u32>,
    /// The seed of the random order in which parts and tests are run.
    pub(super) shuffle: Option<Seed>,
    /// The file to which the verdict on the only part is written, for the parent process.
    pub(super) verdict: Option<String>,
    /// The names of parts or groups. With `repeat`, also the names of tests.
    pub(super) names: Vec<String>,
}

impl Options {
    pub(super) fn read(arguments: &[String]) -> Outcome<Self> {
        let mut options = Self::default();
        let mut arguments = arguments.iter().peekable();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--list" => options.is_list = true,
                "--fetch" => options.is_fetch = true,
                "--thorough" => options.is_thorough = true,
                "--load" => options.has_load = true,
                "--repeat" => {
                    let count = arguments.next().and_then(|count| count.parse().ok()).filter(|&count| count > 0);
                    options.repeat = Some(count.ok_or_else(|| Problem::failed("--repeat wants a number"))?);
                }
                "--shuffle" => {
                    let seed = arguments.next_if(|next| next.parse::<u64>().is_ok());
                    options.shuffle = Some(seed.and_then(|seed| seed.parse().ok()).map_or_else(Seed::new, Seed::of));
                }
                "--verdict" => options.verdict = arguments.next().cloned(),
                option if option.starts_with('-') => {
                    return Err(Problem::Failed(format!("there is no option {option}: cargo xtask test {USAGE}")));
                }
                name => options.names.push(name.to_owned()),
            }
        }
        if options.repeat.is_some() && options.shuffle.is_none() {
            options.shuffle = Some(Seed::new());
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::Options;
    use crate::test::order::Seed;

    fn read(text: &str) -> Result<Options, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Options::read(&words).map_err(|problem| problem.to_string())
    }

    #[test]
    fn test_options_and_names_can_have_any_order() {
        let options = read("kill --repeat 20 --shuffle 7 net --load").unwrap();
        let names = vec!["kill".to_owned(), "net".to_owned()];
        let expected =
            Options { repeat: Some(20), shuffle: Some(Seed::of(7)), has_load: true, names, ..Options::default() };
        assert_eq!(options, expected);
        assert_eq!(read(""), Ok(Options::default()));
        let options = read("--shuffle kill").unwrap();
        assert!(options.shuffle.is_some() && options.names == ["kill"]);
    }

    #[test]
    fn repeated_test_runs_are_shuffled() {
        assert!(read("--repeat 2").unwrap().shuffle.is_some());
    }

    #[test]
    fn invalid_test_options_are_refused_by_name() {
        assert_eq!(read("--repeat"), Err("--repeat wants a number".to_owned()));
        assert_eq!(read("--repeat 0"), Err("--repeat wants a number".to_owned()));
        assert!(read("--retry").is_err_and(|what| what.starts_with("there is no option --retry: cargo xtask test")));
    }
}
