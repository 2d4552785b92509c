//! Hands out instructions to floors.
//!
//! An instruction that was made from a floor's source is that floor's. All others (the standard library's functions that were
//! not inlined, other libraries) belong to whoever called: each call takes the average of what the function did.

use super::callgrind::{Name, Profile};
use super::floor::Floor;
use std::collections::{BTreeMap, HashMap};

/// Instructions by floor. `floor_of` tells whose an instruction is, by function and address.
pub(super) fn by_floor(profile: &Profile, floor_of: impl Fn(&Name, u64) -> Option<Floor>) -> BTreeMap<Floor, f64> {
    let mut called: HashMap<&Name, i64> = HashMap::new();
    for function in profile.functions.values() {
        for ((_, callee), count) in &function.calls {
            *called.entry(callee).or_default() += count;
        }
    }
    let mut attribution = Attribution { profile, floor_of, called, averages: HashMap::new() };
    let mut floors = BTreeMap::new();
    for (name, function) in &profile.functions {
        for (&address, &cost) in &function.own {
            if let Some(floor) = (attribution.floor_of)(name, address) {
                *floors.entry(floor).or_default() += cost as f64;
            }
        }
        for ((address, callee), &count) in &function.calls {
            if let Some(floor) = (attribution.floor_of)(name, *address) {
                *floors.entry(floor).or_default() += count as f64 * attribution.average(callee);
            }
        }
    }
    floors
}

/// The same where whole functions are a floor's: what such a function calls of nobody's at least so often is its own, just as much as
/// that did then. What it calls seldom did something once, and what that takes differs from run to run.
pub(super) fn by_function(
    profile: &Profile,
    seldom: i64,
    floor_of: impl Fn(&Name) -> Option<Floor>,
) -> BTreeMap<Floor, f64> {
    let mut floors = BTreeMap::new();
    for (name, function) in &profile.functions {
        let Some(floor) = floor_of(name) else { continue };
        let counts = |callee: &Name| {
            let calls = function.calls.iter().filter(|((_, called), _)| called == callee);
            calls.map(|(_, count)| count).sum::<i64>()
        };
        let is_its = |callee: &Name| floor_of(callee).is_none() && counts(callee) >= seldom;
        let nobodys = function.called.iter().filter(|(callee, _)| is_its(callee));
        let cost = function.own.values().chain(nobodys.map(|(_, cost)| cost)).sum::<i64>();
        *floors.entry(floor).or_default() += cost as f64;
    }
    floors
}

struct Attribution<'a, F> {
    profile: &'a Profile,
    floor_of: F,
    /// How often each function was called.
    called: HashMap<&'a Name, i64>,
    averages: HashMap<Name, f64>,
}

impl<F: Fn(&Name, u64) -> Option<Floor>> Attribution<'_, F> {
    /// What a call of the function costs beside the instructions that are some floor's.
    fn average(&mut self, name: &Name) -> f64 {
        if let Some(&known) = self.averages.get(name) {
            return known;
        }
        // A function that calls itself, by whatever way round, does not count twice.
        self.averages.insert(name.clone(), 0.0);
        let (profile, called) = (self.profile, self.called.get(name).copied().unwrap_or_default());
        let Some(function) = profile.functions.get(name).filter(|_| called > 0) else {
            return 0.0;
        };
        let is_nobodys = |attribution: &Self, address| (attribution.floor_of)(name, address).is_none();
        let own = function.own.iter().filter(|&(&address, _)| is_nobodys(self, address));
        let mut total = own.map(|(_, &cost)| cost as f64).sum::<f64>();
        for ((address, callee), &count) in &function.calls {
            if is_nobodys(self, *address) {
                total += count as f64 * self.average(callee);
            }
        }
        let average = total / called as f64;
        self.averages.insert(name.clone(), average);
        average
    }
}

#[cfg(test)]
mod tests {
    use super::{Floor, Profile, by_floor, by_function};

    /// In `p`: `com` (0x10) and `via` (0x20) call `std` (0x30), which calls back into `ndr` (0x40) and calls `copy` in `c`.
    const PROFILE: &str = "positions: instr line\nevents: Ir\n\
        ob=(1) p\nfn=(1) com\n0x10 1 100\ncfn=(3) std\ncalls=30 0x30 1\n* * 999\n\
        fn=(2) via\n0x20 1 50\ncfn=(3)\ncalls=10 0x30 1\n* * 999\n\
        fn=(3)\n0x30 1 80\ncob=(2) c\ncfn=(5) copy\ncalls=40 0x50 1\n* * 999\ncfn=(4) ndr\ncalls=40 0x40 1\n* * 999\n\
        fn=(4)\n0x40 1 7\n\
        ob=(2)\nfn=(5)\n0x10 1 400\ncfn=(5)\ncalls=3 0x10 1\n* * 999\n";

    #[test]
    fn what_is_nobodys_belongs_to_the_caller() {
        let profile = Profile::parse(PROFILE).unwrap();
        let floors = by_floor(&profile, |name, address| match (name.0.as_str(), address) {
            ("p", 0x10) => Some(Floor::Com),
            ("p", 0x20) => Some(Floor::Transport),
            ("p", 0x40) => Some(Floor::Ndr),
            _ => None,
        });
        // One call of copy: 400 instructions in 43 calls; of std: 80 and 40 copies in 40 calls.
        let copy = 400.0 / 43.0;
        let std = (80.0 + 40.0 * copy) / 40.0;
        let near = |floor: Floor, wanted: f64| (floors[&floor] - wanted).abs() < 1e-9;
        assert!(near(Floor::Com, 100.0 + 30.0 * std), "{floors:?}");
        assert!(near(Floor::Transport, 50.0 + 10.0 * std), "{floors:?}");
        assert!(near(Floor::Ndr, 7.0), "{floors:?}");
    }

    #[test]
    fn what_a_function_calls_of_nobodys_is_its_own() {
        let profile = Profile::parse(PROFILE).unwrap();
        let floors = by_function(&profile, 1, |(_, name)| match name.as_str() {
            "com" => Some(Floor::Com),
            "via" => Some(Floor::Transport),
            _ => None,
        });
        assert_eq!(floors, [(Floor::Com, 1099.0), (Floor::Transport, 1049.0)].into());
    }
}
