//! Runs every target on its seeds and on random changes of the seeds. The changes are the same in
//! every run. `cargo xtask fuzz` goes further.

use obvia_fuzz_targets::{TARGETS, Target, for_each_target};
use rustix::process::{Resource, Rlimit, setrlimit};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The number of generated inputs for each target.
const MADE: usize = 2000;
/// The longest input that is not made from a seed, in bytes.
const LENGTH_MAX: usize = 400;
/// The maximum memory that the process may map, in bytes: an input that makes a target allocate
/// more ends the test.
const BYTES_MAX: u64 = 8 << 30;
/// The longest time for an input: a target that takes longer has an excessive loop.
const INPUT_MAX: Duration = Duration::from_secs(60);

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A generator of random numbers: splitmix64, of S. Vigna.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Returns a number below `limit`. The limit must not be zero.
    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Returns a random byte, which is one of the edge values in half of the cases.
    fn byte(&mut self) -> u8 {
        const EDGES: [u8; 8] = [0, 1, 2, 0x7f, 0x80, 0xfe, 0xff, 8];
        if self.below(2) == 0 { EDGES[self.below(EDGES.len())] } else { self.next() as u8 }
    }

    /// Returns a random input, or a seed with a few changes.
    fn input(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        if seeds.is_empty() || self.below(10) == 0 {
            return (0..self.below(LENGTH_MAX)).map(|_| self.byte()).collect();
        }
        let mut input = seeds[self.below(seeds.len())].clone();
        for _ in 0..1 + self.below(6) {
            let other = &seeds[self.below(seeds.len())];
            self.change(&mut input, other);
        }
        input
    }

    /// Changes an input in one place.
    fn change(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(input.len() + 1);
        let end = at + self.below((input.len() - at).min(16) + 1);
        match self.below(6) {
            0 if at < input.len() => input[at] = self.byte(),
            1 if at < input.len() => input[at] ^= 1 << self.below(8),
            2 => input.insert(at, self.byte()),
            3 => drop(input.drain(at..end)),
            4 => input.extend_from_within(at..end),
            5 => input.splice(at.., other.iter().skip(self.below(other.len() + 1)).copied()).for_each(drop),
            _ => input.truncate(at),
        }
    }
}

fn feed(name: &str, target: Target) {
    let mut files: Vec<_> = match fs::read_dir(folder("seeds").join(name)) {
        Ok(files) => files.map(|file| file.expect("a seed").path()).collect(),
        Err(_) => Vec::new(),
    };
    files.sort();
    let seeds: Vec<_> = files.iter().map(|file| fs::read(file).expect("a seed can be read")).collect();
    let limit = Some(BYTES_MAX);
    setrlimit(Resource::As, Rlimit { current: limit, maximum: limit }).expect("a limit can be lowered");
    for seed in &seeds {
        give(name, target, seed);
    }
    let mut chance = Chance(1);
    for _ in 0..MADE {
        give(name, target, &chance.input(&seeds));
    }
}

/// Runs a target on one input.
fn give(name: &str, target: Target, input: &[u8]) {
    let _keeper = Keeper { name, input };
    let began = Instant::now();
    target(input);
    let took = began.elapsed();
    assert!(took < INPUT_MAX, "one input took {took:?}");
}

/// A guard that writes the input of a failed test to a file. The file can become a seed.
struct Keeper<'a> {
    name: &'a str,
    input: &'a [u8],
}

impl Drop for Keeper<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("nonsense-{}", self.name));
            let written = fs::write(&file, self.input);
            eprintln!("the input is in {}: {written:?}", file.display());
        }
    }
}

macro_rules! tests {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let name = stringify!($name);
            let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).expect("a target");
            feed(name, *target);
        })*
    };
}
for_each_target!(tests);

#[test]
fn every_file_is_a_target_and_every_seed_has_one() {
    let names = |path: &str| {
        let entries = fs::read_dir(folder(path)).expect("a folder").map(|entry| entry.expect("an entry").path());
        let mut names: Vec<_> = entries.map(|path| path.file_stem().expect("a name").display().to_string()).collect();
        names.sort();
        names
    };
    let targets: Vec<_> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names("src").into_iter().filter(|name| name != "lib").collect::<Vec<_>>(), targets);
    assert!(names("seeds").iter().all(|name| targets.contains(name)));
}
