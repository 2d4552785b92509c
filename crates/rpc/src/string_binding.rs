//! String bindings: how a server's address is written (C706, section 3.1, "String Bindings").
//!
//! `object-uuid@protocol-sequence:network-address[endpoint,option=value,...]`, of which only the protocol sequence must be there. A
//! character of the syntax itself is escaped by a backslash.

use crate::uuid::Uuid;
use std::fmt;
use std::str::FromStr;

/// How calls travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ProtocolSequence {
    /// `ncacn_vi_shm`: shared memory of one host.
    ViShm,
    /// `ncacn_vi_fabric`: a VI over libfabric.
    ViFabric,
    /// `ncacn_vi_xdp`: a VI over AF_XDP.
    ViXdp,
    /// `ncacn_vi_udp`: a VI over UDP.
    ViUdp,
    /// `ncalrpc`: a Unix socket of one host.
    Lrpc,
    /// `ncacn_ip_tcp`: TCP.
    IpTcp,
    /// `ncadg_ip_udp`: the connectionless protocol over UDP.
    IpUdp,
}

impl ProtocolSequence {
    /// All, the best first.
    pub const ALL: [Self; 7] =
        [Self::ViShm, Self::ViFabric, Self::ViXdp, Self::ViUdp, Self::Lrpc, Self::IpTcp, Self::IpUdp];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ViShm => "ncacn_vi_shm",
            Self::ViFabric => "ncacn_vi_fabric",
            Self::ViXdp => "ncacn_vi_xdp",
            Self::ViUdp => "ncacn_vi_udp",
            Self::Lrpc => "ncalrpc",
            Self::IpTcp => "ncacn_ip_tcp",
            Self::IpUdp => "ncadg_ip_udp",
        }
    }

    /// Its tower identifier: the standard's (C706 appendix I), or one from the range that it leaves unassigned.
    pub const fn tower(self) -> u16 {
        match self {
            Self::ViShm => 0x00f5,
            Self::ViFabric => 0x00f6,
            Self::ViXdp => 0x00f7,
            Self::ViUdp => 0x00f8,
            Self::Lrpc => 0x0010,
            Self::IpTcp => 0x0007,
            Self::IpUdp => 0x0008,
        }
    }

    /// The protocol sequence of a tower identifier.
    pub fn from_tower(tower: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.tower() == tower)
    }
}

impl fmt::Display for ProtocolSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A string binding, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StringBinding {
    /// The object, where one is named.
    pub object: Option<Uuid>,
    /// How to get there.
    pub protocol: ProtocolSequence,
    /// The host; empty for this one.
    pub address: String,
    /// The port or name at the host; empty where it is to be found out.
    pub endpoint: String,
    /// Options, in the order given.
    pub options: Vec<(String, String)>,
}

/// Why a text is no string binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadBinding(String);

impl fmt::Display for BadBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadBinding {}

/// The characters of the syntax, which are escaped in texts.
const SPECIAL: [char; 7] = ['@', ':', '[', ']', ',', '=', '\\'];
/// The longest text that is looked at.
const LENGTH_MAX: usize = 1024;

impl StringBinding {
    /// A binding without object and options.
    pub fn new(protocol: ProtocolSequence, address: impl Into<String>, endpoint: impl Into<String>) -> Self {
        Self { object: None, protocol, address: address.into(), endpoint: endpoint.into(), options: Vec::new() }
    }

    /// Whether a text is meant to be a string binding, rather than a name.
    pub fn is_meant(text: &str) -> bool {
        let text = text.split_once('@').map_or(text, |(_, rest)| rest);
        text.starts_with("ncacn_") || text.starts_with("ncalrpc:") || text.starts_with("ncadg_")
    }

    /// The value of an option.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Splits a text at the first unescaped occurrence of a character.
fn split(text: &str, at: char) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (index, character) in text.char_indices() {
        if !escaped && character == at {
            return Some((&text[..index], &text[index + character.len_utf8()..]));
        }
        escaped = !escaped && character == '\\';
    }
    None
}

fn unescape(text: &str) -> Result<String, BadBinding> {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => plain.push(characters.next().ok_or_else(|| BadBinding("it ends in a lone \\".to_owned()))?),
            // Addresses of IPv6 have colons, and nothing can follow that would need them.
            ':' | '=' => plain.push(character),
            _ if SPECIAL.contains(&character) => {
                return Err(BadBinding(format!("`{character}` has to be written as `\\{character}` here")));
            }
            _ => plain.push(character),
        }
    }
    Ok(plain)
}

fn escape(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for character in text.chars() {
        if SPECIAL.contains(&character) && character != ':' {
            f.write_str("\\")?;
        }
        write!(f, "{character}")?;
    }
    Ok(())
}

impl FromStr for StringBinding {
    type Err = BadBinding;

    fn from_str(text: &str) -> Result<Self, BadBinding> {
        if text.len() > LENGTH_MAX {
            return Err(BadBinding(format!("it is longer than {LENGTH_MAX} bytes")));
        }
        let (object, rest) = match split(text, '@') {
            Some((uuid, rest)) => {
                let bad = || BadBinding(format!("`{uuid}` is no object UUID"));
                (Some(parse_uuid(uuid).ok_or_else(bad)?), rest)
            }
            None => (None, text),
        };
        let (protocol, rest) =
            split(rest, ':').ok_or_else(|| BadBinding("a `:` is missing behind the protocol".into()))?;
        let known = ProtocolSequence::ALL.into_iter().find(|known| known.name() == protocol);
        let protocol = known.ok_or_else(|| {
            let all: Vec<_> = ProtocolSequence::ALL.iter().map(|known| known.name()).collect();
            BadBinding(format!("there is no protocol sequence `{protocol}`; there are {}", all.join(", ")))
        })?;
        let Some((address, rest)) = split(rest, '[') else {
            return Ok(Self::new(protocol, unescape(rest)?, ""));
        };
        let Some((inside, "")) = split(rest, ']') else {
            return Err(BadBinding("a `]` is missing at the end".to_owned()));
        };
        let mut binding = Self { object, ..Self::new(protocol, unescape(address)?, "") };
        let mut parts = Some(inside);
        let mut is_first = true;
        while let Some(text) = parts {
            let (part, rest) = split(text, ',').map_or((text, None), |(part, rest)| (part, Some(rest)));
            match split(part, '=') {
                Some(("endpoint", value)) if is_first => binding.endpoint = unescape(value)?,
                Some((name, value)) => binding.options.push((unescape(name)?, unescape(value)?)),
                None if is_first => binding.endpoint = unescape(part)?,
                None => return Err(BadBinding(format!("the option `{part}` has no value"))),
            }
            (parts, is_first) = (rest, false);
        }
        Ok(binding)
    }
}

fn parse_uuid(text: &str) -> Option<Uuid> {
    let parts: Vec<&str> = text.split('-').collect();
    let right = parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]);
    let digits = parts.concat();
    // `from_str_radix` takes a sign.
    let plain = right && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    plain.then(|| u128::from_str_radix(&digits, 16).ok().map(Uuid)).flatten()
}

impl fmt::Display for StringBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(object) = self.object {
            write!(f, "{object}@")?;
        }
        write!(f, "{}:", self.protocol)?;
        escape(&self.address, f)?;
        if self.endpoint.is_empty() && self.options.is_empty() {
            return Ok(());
        }
        f.write_str("[")?;
        escape(&self.endpoint, f)?;
        for (name, value) in &self.options {
            f.write_str(",")?;
            escape(name, f)?;
            f.write_str("=")?;
            escape(value, f)?;
        }
        f.write_str("]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> StringBinding {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn the_parts_are_found() {
        let binding = parsed("01234567-89ab-cdef-0011-223344556677@ncacn_vi_udp:db.example[5555,name=calc,x=a=b]");
        assert_eq!(binding.object, Some(Uuid(0x0123_4567_89ab_cdef_0011_2233_4455_6677)));
        assert_eq!((binding.address.as_str(), binding.endpoint.as_str()), ("db.example", "5555"));
        assert_eq!(
            (binding.option("name"), binding.option("x"), binding.option("y")),
            (Some("calc"), Some("a=b"), None)
        );
        assert_eq!(parsed("ncacn_vi_udp:fe80::1[9]").address, "fe80::1");
        assert_eq!(parsed("ncacn_vi_shm:").endpoint, "");
        assert_eq!(parsed("ncacn_vi_udp:h[endpoint=7]").endpoint, "7");
    }

    #[test]
    fn what_is_printed_is_parsed() {
        for text in [
            "ncacn_vi_shm:",
            "ncacn_vi_udp:10.0.0.1[5555]",
            "ncacn_vi_udp:::1[5555,name=a\\,b\\]c\\\\]",
            "ncacn_vi_fabric:host[7471,provider=tcp\\;ofi_rxm]",
            "01234567-89ab-cdef-0011-223344556677@ncacn_vi_xdp:h[1]",
        ] {
            let once = parsed(text);
            assert_eq!(parsed(&once.to_string()), once, "{text}");
        }
        let odd = StringBinding {
            options: vec![("na=me".into(), "va,l]ue\\".into())],
            ..StringBinding::new(ProtocolSequence::ViUdp, "a[b", "c@d")
        };
        assert_eq!(parsed(&odd.to_string()), odd);
    }

    #[test]
    fn what_is_none_is_refused_with_a_reason() {
        for (text, why) in [
            ("calc", "a `:` is missing"),
            ("ncacn_ip_udp:h", "there is no protocol sequence"),
            ("ncacn_vi_udp:h[1", "a `]` is missing"),
            ("ncacn_vi_udp:h[1]x", "a `]` is missing"),
            ("ncacn_vi_udp:h[1,name]", "has no value"),
            ("xyz@ncacn_vi_udp:h[1]", "no object UUID"),
            ("ncacn_vi_udp:h\\", "lone"),
            ("ncacn_vi_udp:h]", "has to be written"),
        ] {
            let error = text.parse::<StringBinding>().expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn names_are_told_from_bindings() {
        assert!(StringBinding::is_meant("ncacn_vi_udp:h[1]"));
        assert!(StringBinding::is_meant("01234567-89ab-cdef-0011-223344556677@ncacn_vi_udp:h[1]"));
        assert!(!StringBinding::is_meant("calc"));
    }
}
