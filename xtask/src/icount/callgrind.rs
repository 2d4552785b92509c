//! A reader of callgrind's output with one cost (`Ir`) for each instruction: `--dump-instr=yes`.

use std::collections::{BTreeMap, HashMap};

/// A function: its object file and its name.
pub(super) type Name = (String, String);

/// The costs of a function.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Function {
    /// The number of executions of the function's own instructions, by address in the object file.
    pub(super) own: BTreeMap<u64, i64>,
    /// The number of instructions that each callee, with its own callees, has executed, by the
    /// address of the call. The number of calls is not used, because callgrind counts calls even
    /// while it is switched off.
    pub(super) calls: BTreeMap<(u64, Name), i64>,
}

/// The functions that a thread executed while it was counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Profile {
    /// The name that the program has given to the counts.
    pub(super) name: String,
    pub(super) functions: BTreeMap<Name, Function>,
}

impl Profile {
    /// Reads a profile.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader::default();
        for (number, line) in (1..).zip(text.lines()) {
            reader.line(line).map_err(|why| format!("line {number}: {why}: {line}"))?;
        }
        if !reader.has_positions {
            return Err("has no addresses of instructions".to_owned());
        }
        Ok(reader.profile)
    }

    /// Returns the number of instructions that the functions selected by `is_meant` have executed
    /// themselves.
    pub(super) fn own(&self, is_meant: impl Fn(&Name) -> bool) -> i64 {
        let meant = self.functions.iter().filter(|(name, _)| is_meant(name));
        meant.flat_map(|(_, function)| function.own.values()).sum()
    }
}

/// The text before the name of the counts.
const NAME: &str = "desc: Trigger: Client Request: ";

/// Names that callgrind writes once and abbreviates afterwards: `(1) name`, then `(1)`.
#[derive(Default)]
struct Names(HashMap<String, String>);

impl Names {
    fn read(&mut self, text: &str) -> Result<String, &'static str> {
        let (id, name) = text.split_once(' ').unwrap_or((text, ""));
        if name.is_empty() {
            return self.0.get(id).cloned().ok_or("a name that was never written");
        }
        self.0.insert(id.to_owned(), name.to_owned());
        Ok(name.to_owned())
    }
}

/// The state of the reader.
#[derive(Default)]
struct Reader {
    profile: Profile,
    objects: Names,
    functions: Names,
    function: Name,
    callee: Name,
    /// The callee's object file, if it differs from the caller's.
    callee_object: Option<String>,
    address: u64,
    /// Whether the next line contains the cost of calls.
    is_called: bool,
    has_positions: bool,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), &'static str> {
        match line.split_once('=') {
            Some(("ob", name)) => self.function.0 = self.objects.read(name)?,
            Some(("cob", name)) => self.callee_object = Some(self.objects.read(name)?),
            Some(("fn", name)) => self.function.1 = self.functions.read(name)?,
            Some(("cfn", name)) => {
                let object = self.callee_object.take();
                self.callee = (object.unwrap_or_else(|| self.function.0.clone()), self.functions.read(name)?);
            }
            Some(("calls", _)) => self.is_called = true,
            _ if line == "positions: instr line" => self.has_positions = true,
            _ if line == "events: Ir" => {}
            _ if line.starts_with(NAME) => self.profile.name = line[NAME.len()..].to_owned(),
            _ if line.starts_with("positions:") => return Err("wanted: instr line"),
            _ if line.starts_with("events:") => return Err("wanted: Ir"),
            _ if line.starts_with(['0', '+', '-', '*']) => return self.cost(line),
            _ => {}
        }
        Ok(())
    }

    /// Reads `ADDRESS LINE COST`. An address may be relative to the previous one.
    fn cost(&mut self, line: &str) -> Result<(), &'static str> {
        let mut words = line.split(' ');
        let (Some(address), Some(_), cost) = (words.next(), words.next(), words.next()) else {
            return Err("wanted: address, line, cost");
        };
        self.address = self.address_of(address).ok_or("no address")?;
        let function = self.profile.functions.entry(self.function.clone()).or_default();
        // A zero cost may be omitted.
        let cost: i64 = cost.map_or(Ok(0), str::parse).map_err(|_| "no cost")?;
        let counted = if std::mem::take(&mut self.is_called) {
            function.calls.entry((self.address, self.callee.clone())).or_default()
        } else {
            function.own.entry(self.address).or_default()
        };
        *counted += cost;
        Ok(())
    }

    fn address_of(&self, text: &str) -> Option<u64> {
        let number = |digits: &str| match digits.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => digits.parse().ok(),
        };
        match text.as_bytes() {
            [b'*'] => Some(self.address),
            [b'+', ..] => self.address.checked_add(number(&text[1..])?),
            [b'-', ..] => self.address.checked_sub(number(&text[1..])?),
            _ => number(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Name, Profile};

    /// Callgrind's output for a program that copies 40 bytes three times, reduced to three
    /// functions of the C library.
    const SAMPLE: &str = include_str!("sample.out");
    const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/libc.so.6";

    fn name(object: &str, function: &str) -> Name {
        (object.to_owned(), function.to_owned())
    }

    #[test]
    fn callgrind_profiles_are_parsed_into_functions() {
        let profile = Profile::parse(SAMPLE).unwrap();
        let copy = &profile.functions[&name("/tmp/copies", "copy")];
        let own = [0x1129, 0x112d, 0x1134, 0x1139, 0x1140, 0x1147, 0x1149, 0x114d].map(|address| (address, 3));
        assert_eq!(copy.own.clone().into_iter().collect::<Vec<_>>(), own);
        let callee = name(LIBRARY, "__memcpy_avx_unaligned_erms");
        assert_eq!(copy.calls.clone().into_iter().collect::<Vec<_>>(), [((0x1147, callee.clone()), 33)]);
        assert_eq!(profile.own(|name| *name == callee), 33);
        let main = &profile.functions[&name("/tmp/copies", "main")];
        let copy = name("/tmp/copies", "copy");
        let calls = [0x1152, 0x1157, 0x115c].map(|address| ((address, copy.clone()), 19));
        assert_eq!(main.calls.clone().into_iter().collect::<Vec<_>>(), calls);
    }

    #[test]
    fn callgrind_profiles_have_the_name_given_by_the_program() {
        let named = SAMPLE.replace("desc: Trigger: Program termination", "desc: Trigger: Client Request: null");
        assert_eq!(Profile::parse(&named).unwrap().name, "null");
        assert_eq!(Profile::parse(SAMPLE).unwrap().name, "");
    }

    #[test]
    fn uncounted_calls_add_no_instructions() {
        // The text is as callgrind writes it: one counted call, and 718 that were not counted.
        let text = SAMPLE.replace("calls=3 0x152a80 264 \n", "calls=721 0x152a80 264 \n");
        assert_ne!(text, SAMPLE);
        assert_eq!(Profile::parse(&text), Profile::parse(SAMPLE));
    }

    #[test]
    fn malformed_profiles_are_refused_with_their_line() {
        let error = |text: &str| Profile::parse(text).unwrap_err();
        assert_eq!(error("positions: line\n"), "line 1: wanted: instr line: positions: line");
        assert_eq!(error("events: Ir Dr\n"), "line 1: wanted: Ir: events: Ir Dr");
        assert_eq!(error("ob=(3)\n"), "line 1: a name that was never written: ob=(3)");
        assert_eq!(error("-5 1 1\n"), "line 1: no address: -5 1 1");
        assert_eq!(error("0x10 1 x\n"), "line 1: no cost: 0x10 1 x");
        assert_eq!(error("events: Ir\n"), "has no addresses of instructions");
    }
}
