//! The attribution of instructions to layers.
//!
//! An instruction that was compiled from a layer's source belongs to that layer. All other
//! instructions are in other libraries, or in functions of the standard library that were not
//! inlined. Such an instruction belongs to the layer whose code made the call that led to the
//! instruction.

use super::callgrind::{Name, Profile};
use super::floor::Floor;
use std::collections::{BTreeMap, HashMap};

/// Returns the number of instructions of each layer. `floor_of` returns the layer of an
/// instruction, given its function and address; `None` if it belongs to no layer.
pub(super) fn by_floor(profile: &Profile, floor_of: impl Fn(&Name, u64) -> Option<Floor>) -> BTreeMap<Floor, i64> {
    let mut attribution = Attribution { profile, floor_of, shares: HashMap::new() };
    let mut floors = BTreeMap::new();
    for (name, function) in &profile.functions {
        for (&address, &cost) in &function.own {
            if let Some(floor) = (attribution.floor_of)(name, address) {
                *floors.entry(floor).or_default() += cost;
            }
        }
        for ((address, callee), &cost) in &function.calls {
            if let Some(floor) = (attribution.floor_of)(name, *address) {
                *floors.entry(floor).or_default() += attribution.share(callee).of(cost);
            }
        }
    }
    floors
}

/// Numbers of instructions of a function and its callees: the instructions that belong to no layer,
/// and all instructions.
#[derive(Clone, Copy)]
struct Share {
    unattributed: i64,
    total: i64,
}

impl Share {
    /// Returns the part of a call's cost that belongs to no layer. The result is exact if all
    /// instructions of the function belong to layers, or none do.
    fn of(self, cost: i64) -> i64 {
        if self.total == 0 {
            0
        } else {
            (i128::from(cost) * i128::from(self.unattributed) / i128::from(self.total)) as i64
        }
    }
}

struct Attribution<'a, F> {
    profile: &'a Profile,
    floor_of: F,
    /// The shares that have been computed; `None` for functions whose share is being computed.
    shares: HashMap<&'a Name, Option<Share>>,
}

impl<'a, F: Fn(&Name, u64) -> Option<Floor>> Attribution<'a, F> {
    fn share(&mut self, name: &Name) -> Share {
        const NOTHING: Share = Share { unattributed: 0, total: 0 };
        let profile = self.profile;
        let Some((name, function)) = profile.functions.get_key_value(name) else {
            return NOTHING;
        };
        if let Some(known) = self.shares.get(name) {
            // Recursive calls do not count twice.
            return known.unwrap_or(NOTHING);
        }
        self.shares.insert(name, None);
        let mut share = NOTHING;
        for (&address, &cost) in &function.own {
            share.total += cost;
            if (self.floor_of)(name, address).is_none() {
                share.unattributed += cost;
            }
        }
        for ((address, callee), &cost) in &function.calls {
            let callees = self.share(callee);
            if callees.total == 0 {
                continue;
            }
            share.total += cost;
            if (self.floor_of)(name, *address).is_none() {
                share.unattributed += callees.of(cost);
            }
        }
        self.shares.insert(name, Some(share));
        share
    }
}

#[cfg(test)]
mod tests {
    use super::{Floor, Profile, by_floor};

    /// A profile of two libraries. In `p`, the functions `com` (0x10) and `via` (0x20) call `std`
    /// (0x30). `std` calls `copy` in `c`, and `copy` calls itself.
    const PROFILE: &str = "positions: instr line\nevents: Ir\n\
        ob=(1) p\nfn=(1) com\n0x10 1 100\ncfn=(3) std\ncalls=30 0x30 1\n* * 390\n\
        fn=(2) via\n0x20 1 50\ncfn=(3)\ncalls=10 0x30 1\n* * 90\n\
        fn=(3)\n0x30 1 80\ncob=(2) c\ncfn=(5) copy\ncalls=40 0x50 1\n* * 400\n\
        ob=(2)\nfn=(5)\n0x10 1 400\ncfn=(5)\ncalls=3 0x10 1\n* * 7\n";

    #[test]
    fn instructions_of_unattributed_functions_go_to_their_caller() {
        let profile = Profile::parse(PROFILE).unwrap();
        let floors = by_floor(&profile, |name, _| match name.1.as_str() {
            "com" => Some(Floor::Com),
            "via" => Some(Floor::Via),
            _ => None,
        });
        assert_eq!(floors, [(Floor::Com, 490), (Floor::Via, 140)].into());
    }

    #[test]
    fn instructions_of_a_floor_called_back_stay_with_it() {
        let text = PROFILE.replace("fn=(5)\n0x10 1 400", "fn=(5)\n0x14 1 100\n0x10 1 300");
        let profile = Profile::parse(&text).unwrap();
        // A quarter of each copy belongs to another layer.
        let floors = by_floor(&profile, |name, address| match (name.1.as_str(), address) {
            ("com", _) => Some(Floor::Com),
            ("via", _) => Some(Floor::Via),
            ("copy", 0x14) => Some(Floor::Ndr),
            _ => None,
        });
        // Of the 480 instructions in all calls of `std`, 380 belong to no layer.
        let unattributed = |cost: i64| cost * 380 / 480;
        let wanted = [(Floor::Com, 100 + unattributed(390)), (Floor::Ndr, 100), (Floor::Via, 50 + unattributed(90))];
        assert_eq!(floors, wanted.into());
    }
}
