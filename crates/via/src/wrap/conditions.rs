//! The conditions of a network: in code, or as a text from a command line or an environment
//! variable.

use crate::Error;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// The conditions of one direction of a network. [`Conditions::default`] is a perfect network.
///
/// The text form is a list of `name=value`, in any order:
///
/// | name | value | meaning |
/// |---|---|---|
/// | `loss` | share | the datagrams that get lost |
/// | `dup` | share | the datagrams that arrive twice |
/// | `reorder` | share | the datagrams that are held back, so that later ones overtake them |
/// | `corrupt` | share | the datagrams that arrive with bits flipped |
/// | `trunc` | share | the datagrams that arrive cut short |
/// | `busy` | share | the sends that find no room and have to be tried again |
/// | `delay` | time | the delay of each datagram |
/// | `jitter` | time | the maximum additional delay; keeps the order |
/// | `rate` | bits per second | the rate of the wire; datagrams that exceed the `queue` get lost |
/// | `queue` | bytes | the queue of a wire with a `rate` (default 64 KiB) |
/// | `cut` | time, or `time+time` | the start and the length of a cut; may occur several times |
/// | `way` | `out`, `in`, `both` | the direction of a link that has the conditions (default both) |
/// | `seed` | number | the seed; the same seed and the same traffic have the same outcome |
///
/// ```
/// use obvia_via::wrap::Conditions;
///
/// let bad: Conditions = "loss=5%,reorder=2%,dup=1%,corrupt=0.1%,delay=1ms,rate=100Mbit,cut=2s+500ms,seed=7".parse()?;
/// assert_eq!(bad.loss.parts_per_million(), 50_000);
/// assert_eq!(bad.to_string().parse::<Conditions>()?, bad);
/// let error = "loss=500%".parse::<Conditions>().unwrap_err();
/// assert_eq!(error.to_string(), "\"loss=500%\" is not a valid condition of a network: a share must not exceed 100%");
/// # Ok::<(), obvia_via::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditions {
    /// The share of datagrams that get lost.
    pub loss: Share,
    /// The share of datagrams that arrive twice.
    pub duplicate: Share,
    /// The share of datagrams that are held back, so that later ones overtake them.
    pub reorder: Share,
    /// The share of datagrams with one to three bits flipped, or up to four bytes in a row
    /// overwritten: damage that CRC-32C always detects.
    pub corrupt: Share,
    /// The share of datagrams that are cut short, some to no bytes at all.
    pub truncate: Share,
    /// The share of sends that find no room.
    pub busy: Share,
    /// The delay of each datagram.
    pub delay: Duration,
    /// The maximum additional delay.
    pub jitter: Duration,
    /// The rate in bits per second; 0 for no limit.
    pub rate: u64,
    /// The number of bytes that may wait for a wire with a rate.
    pub queue: u64,
    /// The times in which no datagram gets through.
    pub cuts: Vec<Cut>,
    /// The direction of a link that has the conditions.
    pub way: Way,
    /// The seed of all random decisions.
    pub seed: u64,
}

impl Default for Conditions {
    fn default() -> Self {
        Self {
            loss: Share::default(),
            duplicate: Share::default(),
            reorder: Share::default(),
            corrupt: Share::default(),
            truncate: Share::default(),
            busy: Share::default(),
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            rate: 0,
            queue: Self::QUEUE,
            cuts: Vec::new(),
            way: Way::Both,
            seed: 0,
        }
    }
}

/// A share of all datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share(u32);

impl Share {
    const WHOLE: u32 = 1_000_000;

    /// Makes a share of `per_million` parts per million, at most the whole.
    pub const fn parts(per_million: u32) -> Self {
        Self(if per_million > Self::WHOLE { Self::WHOLE } else { per_million })
    }

    /// Makes a share of `percent` percent, at most the whole.
    pub const fn percent(percent: u32) -> Self {
        Self::parts(percent.saturating_mul(10_000))
    }

    /// Returns the share in parts per million.
    pub const fn parts_per_million(self) -> u32 {
        self.0
    }
}

/// A time in which no datagram gets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The start, as the time since the link was made.
    pub after: Duration,
    /// The length of the cut; `None` if the cut does not end.
    pub length: Option<Duration>,
}

impl Cut {
    /// Whether the cut is on at `now`, the time since the link was made.
    pub fn holds(&self, now: Duration) -> bool {
        now >= self.after && self.length.is_none_or(|length| now - self.after < length)
    }
}

/// A direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// The datagrams that this end sends.
    Out,
    /// The datagrams that this end receives.
    In,
    /// Both directions.
    #[default]
    Both,
}

/// Units of time, the longest first: an amount is written in the first unit that divides it.
const TIMES: &[(&str, u64)] = &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
const RATES: &[(&str, u64)] = &[("Gbit", 1_000_000_000), ("Mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];
const SIZES: &[(&str, u64)] = &[("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl Conditions {
    /// The default of [`Self::queue`]: the maximum number of bytes that wait while a wire of
    /// limited rate is busy.
    pub const QUEUE: u64 = 64 << 10;
    /// The maximum number of cuts.
    pub const CUTS_MAX: usize = 64;
    /// The maximum time: a day.
    pub const TIME_MAX: Duration = Duration::from_secs(24 * 3600);

    /// Whether datagrams go through at once and unchanged.
    pub fn is_perfect(&self) -> bool {
        let ideal = Self { way: self.way, seed: self.seed, queue: self.queue, ..Self::default() };
        *self == ideal
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), &'static str> {
        match name {
            "loss" => self.loss = share(value)?,
            "dup" => self.duplicate = share(value)?,
            "reorder" => self.reorder = share(value)?,
            "corrupt" => self.corrupt = share(value)?,
            "trunc" => self.truncate = share(value)?,
            "busy" => self.busy = share(value)?,
            "delay" => self.delay = time(value)?,
            "jitter" => self.jitter = time(value)?,
            "rate" => {
                self.rate = amount(value, RATES)?.ok_or("expected a rate: a number and Gbit, Mbit, kbit or bit")?;
                if self.rate == 0 {
                    return Err("the rate must not be 0: use cut for a wire that carries no datagrams");
                }
            }
            "queue" => self.queue = amount(value, SIZES)?.ok_or("expected a size: a number and MiB, KiB or B")?,
            "cut" if self.cuts.len() == Self::CUTS_MAX => return Err("there are too many cuts"),
            "cut" => {
                let (after, length) = match value.split_once('+') {
                    Some((after, length)) => (after, Some(time(length)?)),
                    None => (value, None),
                };
                self.cuts.push(Cut { after: time(after)?, length });
            }
            "way" => {
                self.way = match value {
                    "out" => Way::Out,
                    "in" => Way::In,
                    "both" => Way::Both,
                    _ => return Err("expected out, in or both"),
                }
            }
            "seed" => self.seed = value.parse().map_err(|_| "expected a number")?,
            _ => {
                return Err(
                    "expected one of loss, dup, reorder, corrupt, trunc, busy, delay, jitter, rate, queue, cut, way \
                        and seed",
                );
            }
        }
        Ok(())
    }
}

impl FromStr for Conditions {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut conditions = Self::default();
        let mut seen = Vec::new();
        for item in text.split(',').map(str::trim).filter(|item| !item.is_empty()) {
            let bad = |why| Error::BadConditions { item: item.to_owned(), why };
            let (name, value) = item.split_once('=').ok_or_else(|| bad("expected name=value"))?;
            if name != "cut" && seen.contains(&name) {
                return Err(bad("it is given twice"));
            }
            seen.push(name);
            conditions.take(name, value).map_err(bad)?;
        }
        Ok(conditions)
    }
}

/// Reads a decimal number with a unit, as a number of the smallest unit. `None` for another form,
/// or for digits below the smallest unit.
fn amount(text: &str, units: &[(&str, u64)]) -> Result<Option<u64>, &'static str> {
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let Some((_, factor)) = units.iter().find(|(name, _)| *name == unit) else { return Ok(None) };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || (number.contains('.') && fraction.is_empty()) || fraction.contains('.') {
        return Ok(None);
    }
    let too_large = "the number is too large";
    let whole: u64 = whole.parse().map_err(|_| too_large)?;
    let mut sum = whole.checked_mul(*factor).ok_or(too_large)?;
    let mut scale = *factor;
    for digit in fraction.bytes() {
        let part = u64::from(digit - b'0');
        if scale % 10 != 0 && part != 0 {
            return Ok(None);
        }
        scale /= 10;
        sum = sum.checked_add(part * scale).ok_or(too_large)?;
    }
    Ok(Some(sum))
}

fn share(text: &str) -> Result<Share, &'static str> {
    let parts = amount(text, &[("%", 10_000)])?.ok_or("expected a share: a number of at most four decimals and %")?;
    match u32::try_from(parts) {
        Ok(parts) if parts <= Share::WHOLE => Ok(Share(parts)),
        _ => Err("a share must not exceed 100%"),
    }
}

fn time(text: &str) -> Result<Duration, &'static str> {
    let time = amount(text, TIMES)?.map(Duration::from_nanos).ok_or("expected a time: a number and s, ms, us or ns")?;
    if time > Conditions::TIME_MAX { Err("a time must not exceed one day") } else { Ok(time) }
}

/// An amount, written in the largest unit that divides it.
struct Whole(u64, &'static [(&'static str, u64)]);

impl fmt::Display for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(amount, units) = self;
        let fits = units.iter().find(|(_, factor)| amount.is_multiple_of(*factor));
        let (name, factor) = fits.unwrap_or(&("", 1));
        write!(f, "{}{name}", amount / factor)
    }
}

fn whole_time(time: Duration) -> Whole {
    Whole(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), TIMES)
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / 10_000, self.0 % 10_000);
        if fraction == 0 {
            return write!(f, "{whole}%");
        }
        let digits = format!("{fraction:04}");
        write!(f, "{whole}.{}%", digits.trim_end_matches('0'))
    }
}

impl fmt::Display for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shares = [
            ("loss", self.loss),
            ("dup", self.duplicate),
            ("reorder", self.reorder),
            ("corrupt", self.corrupt),
            ("trunc", self.truncate),
            ("busy", self.busy),
        ];
        for (name, share) in shares.iter().filter(|(_, share)| share.0 > 0) {
            write!(f, "{name}={share},")?;
        }
        for (name, time) in [("delay", self.delay), ("jitter", self.jitter)] {
            if !time.is_zero() {
                write!(f, "{name}={},", whole_time(time))?;
            }
        }
        if self.rate > 0 {
            write!(f, "rate={},", Whole(self.rate, RATES))?;
        }
        if self.queue != Self::QUEUE {
            write!(f, "queue={},", Whole(self.queue, SIZES))?;
        }
        for cut in &self.cuts {
            write!(f, "cut={}", whole_time(cut.after))?;
            if let Some(length) = cut.length {
                write!(f, "+{}", whole_time(length))?;
            }
            f.write_str(",")?;
        }
        match self.way {
            Way::Out => f.write_str("way=out,")?,
            Way::In => f.write_str("way=in,")?,
            Way::Both => {}
        }
        write!(f, "seed={}", self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::{Conditions, Cut, Share, Way};
    use std::time::Duration;

    #[test]
    fn network_conditions_have_a_complete_text_form() {
        let text = "loss=5%,dup=1%,reorder=2%,corrupt=0.1%,trunc=0.0001%,busy=3%,delay=1.5ms,jitter=200us,rate=100Mbit,\
                    queue=10KiB,cut=2s+500ms,cut=9s,way=out,seed=7";
        let conditions: Conditions = text.parse().unwrap();
        let expected = Conditions {
            loss: Share::percent(5),
            duplicate: Share::percent(1),
            reorder: Share::percent(2),
            corrupt: Share::parts(1000),
            truncate: Share::parts(1),
            busy: Share::percent(3),
            delay: Duration::from_micros(1500),
            jitter: Duration::from_micros(200),
            rate: 100_000_000,
            queue: 10_240,
            cuts: vec![
                Cut { after: Duration::from_secs(2), length: Some(Duration::from_millis(500)) },
                Cut { after: Duration::from_secs(9), length: None },
            ],
            way: Way::Out,
            seed: 7,
        };
        assert_eq!(conditions, expected);
        assert_eq!(conditions.to_string(), text.replace("1.5ms", "1500us"));
        assert!(!conditions.is_perfect());
        assert!("seed=9, way=in,".parse::<Conditions>().unwrap().is_perfect());
        assert_eq!("".parse::<Conditions>().unwrap(), Conditions::default());
    }

    #[test]
    fn malformed_network_conditions_are_refused_with_the_reason() {
        for (text, why) in [
            ("loss", "expected name=value"),
            ("loss=5", "expected a share: a number of at most four decimals and %"),
            ("loss=.5%", "expected a share: a number of at most four decimals and %"),
            ("loss=5.%", "expected a share: a number of at most four decimals and %"),
            ("loss=1.2.3%", "expected a share: a number of at most four decimals and %"),
            ("loss=0.00001%", "expected a share: a number of at most four decimals and %"),
            ("loss=-1%", "expected a share: a number of at most four decimals and %"),
            ("loss=100.0001%", "a share must not exceed 100%"),
            ("loss=1%,loss=2%", "it is given twice"),
            ("delay=1", "expected a time: a number and s, ms, us or ns"),
            ("delay=25000h", "expected a time: a number and s, ms, us or ns"),
            ("delay=90000s", "a time must not exceed one day"),
            ("delay=99999999999999999999s", "the number is too large"),
            ("rate=0bit", "the rate must not be 0: use cut for a wire that carries no datagrams"),
            ("rate=99999999999Gbit", "the number is too large"),
            ("queue=1", "expected a size: a number and MiB, KiB or B"),
            ("cut=1s+", "expected a time: a number and s, ms, us or ns"),
            ("way=up", "expected out, in or both"),
            ("seed=x", "expected a number"),
            (
                "lost=5%",
                "expected one of loss, dup, reorder, corrupt, trunc, busy, delay, jitter, rate, queue, cut, way and \
                    seed",
            ),
        ] {
            let said = text.parse::<Conditions>().expect_err(text).to_string();
            assert!(said.ends_with(why), "{text}: {said}");
        }
        let cuts = "cut=1s,".repeat(Conditions::CUTS_MAX + 1);
        assert!(cuts.parse::<Conditions>().unwrap_err().to_string().ends_with("there are too many cuts"));
    }

    #[test]
    fn cuts_have_a_start_and_a_length() {
        let cut = Cut { after: Duration::from_secs(2), length: Some(Duration::from_secs(1)) };
        let at = |millis| cut.holds(Duration::from_millis(millis));
        assert_eq!([at(1999), at(2000), at(2999), at(3000)], [false, true, true, false]);
    }
}
