//! String bindings: the text format of a server's address (C706, section 3.1, "String Bindings").
//!
//! `object-uuid@protocol-sequence:network-address[endpoint,option=value,...]`, where only the
//! protocol sequence is required. A backslash escapes characters of the syntax. The endpoint may be
//! given as the option `endpoint`. Duplicate options are errors, since implementations would
//! disagree about which of them applies.

use crate::uuid::Uuid;
use std::fmt;
use std::str::FromStr;

/// A protocol sequence.
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
    /// All protocol sequences, the most preferred first.
    pub const ALL: [Self; 7] =
        [Self::ViShm, Self::ViFabric, Self::ViXdp, Self::ViUdp, Self::Lrpc, Self::IpTcp, Self::IpUdp];

    /// Returns the name.
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

    /// Returns the tower identifier: the standard's identifier (C706 appendix I), or one from the
    /// range that the standard leaves unassigned.
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

    /// Returns the protocol sequence of a tower identifier, if the identifier is known.
    pub fn from_tower(tower: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.tower() == tower)
    }
}

impl fmt::Display for ProtocolSequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A parsed string binding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StringBinding {
    /// The object's UUID, if given.
    pub object: Option<Uuid>,
    /// The protocol sequence.
    pub protocol: ProtocolSequence,
    /// The network address; empty for this host.
    pub address: String,
    /// The port or name of the endpoint; empty if it has to be resolved.
    pub endpoint: String,
    /// The options, in the order given.
    pub options: Vec<(String, String)>,
}

/// The reason why a text is not a string binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadBinding(String);

impl fmt::Display for BadBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadBinding {}

/// The characters of the syntax, which have to be escaped.
const SPECIAL: [char; 7] = ['@', ':', '[', ']', ',', '=', '\\'];
/// The name of the option for the endpoint.
const ENDPOINT: &str = "endpoint";
/// The longest accepted text, in bytes.
const LENGTH_MAX: usize = 1024;

impl StringBinding {
    /// Creates a binding without object and options.
    pub fn new(protocol: ProtocolSequence, address: impl Into<String>, endpoint: impl Into<String>) -> Self {
        Self { object: None, protocol, address: address.into(), endpoint: endpoint.into(), options: Vec::new() }
    }

    /// Whether a text is meant as a string binding, and not as a name: after an optional object
    /// UUID, it begins like a protocol sequence.
    pub fn is_meant(text: &str) -> bool {
        let text = text.split_once('@').map_or(text, |(_, rest)| rest);
        text.starts_with("ncacn_") || text.starts_with("ncalrpc:") || text.starts_with("ncadg_")
    }

    /// Returns the value of an option, if the option is given.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Splits a text at the first unescaped occurrence of a character, if there is one.
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

fn begins_with_an_option(text: &str) -> bool {
    let inside = split(text, '[').map(|(_, inside)| split(inside, ',').map_or(inside, |(first, _)| first));
    inside.and_then(|first| split(first, '=')).is_some_and(|(name, _)| name != ENDPOINT)
}

fn unescape(text: &str) -> Result<String, BadBinding> {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => plain.push(
                characters
                    .next()
                    .ok_or_else(|| BadBinding("it ends with an incomplete escape, a single \\".to_owned()))?,
            ),
            // Unescaped colons are accepted, because IPv6 addresses contain them. The text has
            // already been split, so it does not matter whether a colon or an equals sign was
            // escaped.
            ':' | '=' => plain.push(character),
            _ if SPECIAL.contains(&character) => {
                return Err(BadBinding(format!("`{character}` has to be escaped here, as `\\{character}`")));
            }
            _ => plain.push(character),
        }
    }
    Ok(plain)
}

/// Writes a text with only the escapes that the parser needs. Therefore the written form of a
/// parsed binding never exceeds the maximum length. `=` is escaped only if `is_name`, because it
/// would end the name.
fn escape(text: &str, is_name: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for character in text.chars() {
        if SPECIAL.contains(&character) && character != ':' && (character != '=' || is_name) {
            f.write_str("\\")?;
        }
        write!(f, "{character}")?;
    }
    Ok(())
}

impl FromStr for StringBinding {
    type Err = BadBinding;

    fn from_str(text: &str) -> Result<Self, BadBinding> {
        // If an option is in the endpoint's position, the written form of the binding has one more
        // comma.
        if text.len() + usize::from(begins_with_an_option(text)) > LENGTH_MAX {
            return Err(BadBinding(format!("it is longer than {LENGTH_MAX} bytes")));
        }
        let (object, rest) = match split(text, '@') {
            Some((uuid, rest)) => {
                let bad = || BadBinding(format!("`{uuid}` is not an object UUID"));
                (Some(parse_uuid(uuid).ok_or_else(bad)?), rest)
            }
            None => (None, text),
        };
        let (protocol, rest) =
            split(rest, ':').ok_or_else(|| BadBinding("a `:` is missing after the protocol sequence".into()))?;
        let known = ProtocolSequence::ALL.into_iter().find(|known| known.name() == protocol);
        let protocol = known.ok_or_else(|| {
            let all: Vec<_> = ProtocolSequence::ALL.iter().map(|known| known.name()).collect();
            BadBinding(format!("`{protocol}` is not a protocol sequence: expected one of {}", all.join(", ")))
        })?;
        let Some((address, rest)) = split(rest, '[') else {
            return Ok(Self { object, ..Self::new(protocol, unescape(rest)?, "") });
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
                Some((name, value)) => binding.take(unescape(name)?, unescape(value)?)?,
                None if is_first => binding.endpoint = unescape(part)?,
                None => return Err(BadBinding(format!("the option `{part}` has no value"))),
            }
            (parts, is_first) = (rest, false);
        }
        Ok(binding)
    }
}

impl StringBinding {
    /// Stores an option. The option for the endpoint sets the endpoint.
    fn take(&mut self, name: String, value: String) -> Result<(), BadBinding> {
        match &*name {
            "" => return Err(BadBinding("an option has no name".to_owned())),
            ENDPOINT if !self.endpoint.is_empty() => return Err(BadBinding("the endpoint is given twice".to_owned())),
            ENDPOINT => self.endpoint = value,
            _ if self.option(&name).is_some() => return Err(BadBinding(format!("the option `{name}` is given twice"))),
            _ => self.options.push((name, value)),
        }
        Ok(())
    }
}

fn parse_uuid(text: &str) -> Option<Uuid> {
    let parts: Vec<&str> = text.split('-').collect();
    let right = parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12]);
    let digits = parts.concat();
    // `from_str_radix` would also accept a sign.
    let plain = right && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    plain.then(|| u128::from_str_radix(&digits, 16).ok().map(Uuid)).flatten()
}

impl fmt::Display for StringBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(object) = self.object {
            write!(f, "{object}@")?;
        }
        write!(f, "{}:", self.protocol)?;
        escape(&self.address, false, f)?;
        if self.endpoint.is_empty() && self.options.is_empty() {
            return Ok(());
        }
        f.write_str("[")?;
        // The endpoint is written in the shorter of two forms. As an option, it needs the option's
        // name, but no escapes of `=`.
        if self.endpoint.matches('=').count() > ENDPOINT.len() {
            write!(f, "{ENDPOINT}=")?;
            escape(&self.endpoint, false, f)?;
        } else {
            escape(&self.endpoint, true, f)?;
        }
        for (name, value) in &self.options {
            f.write_str(",")?;
            escape(name, true, f)?;
            f.write_str("=")?;
            escape(value, false, f)?;
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
    fn string_bindings_are_parsed_into_their_parts() {
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
    fn printed_string_bindings_are_parsed_back() {
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
    fn a_binding_with_an_object_needs_no_endpoint() {
        let text = "01234567-89ab-cdef-0011-223344556677@ncacn_vi_udp:h";
        assert_eq!(parsed(text).object, Some(Uuid(0x0123_4567_89ab_cdef_0011_2233_4455_6677)));
        assert_eq!(parsed(text).to_string(), text);
    }

    #[test]
    fn printed_string_bindings_escape_only_where_needed() {
        let many = "=".repeat(LENGTH_MAX - 40);
        for text in [
            format!("ncacn_vi_udp:{many}[7]"),
            format!("ncacn_vi_udp:h[endpoint={many},a=b]"),
            format!("ncacn_vi_udp:h[7,x={many}]"),
            format!("ncacn_vi_udp:h[x={many}]"),
            "ncacn_vi_udp:h[a\\=b]".to_owned(),
            "ncacn_vi_udp:h[x=1,endpoint=7]".to_owned(),
        ] {
            let printed = parsed(&text).to_string();
            assert!(printed.len() <= text.len() + 1, "{printed}");
            assert_eq!(parsed(&printed), parsed(&text), "{text}");
        }
    }

    #[test]
    fn the_longest_string_binding_round_trips() {
        for (before, behind, is_taken) in [
            ("ncacn_vi_udp:h[7,x=", "]", true),
            ("ncacn_vi_udp:h[endpoint=7,x=", "]", true),
            // The written form has one more comma than this text.
            ("ncacn_vi_udp:h[x=", "]", false),
        ] {
            let text = format!("{before}{}{behind}", "=".repeat(LENGTH_MAX - before.len() - behind.len()));
            let binding = text.parse::<StringBinding>();
            assert_eq!(binding.is_ok(), is_taken, "{before}");
            if let Ok(binding) = binding {
                assert_eq!(parsed(&binding.to_string()), binding);
            }
        }
    }

    #[test]
    fn malformed_string_bindings_are_refused_with_the_reason() {
        for (text, why) in [
            ("calc", "a `:` is missing"),
            ("ncacn_ip_udp:h", "`ncacn_ip_udp` is not a protocol sequence"),
            ("ncacn_vi_udp:h[1", "a `]` is missing"),
            ("ncacn_vi_udp:h[1]x", "a `]` is missing"),
            ("ncacn_vi_udp:h[1,name]", "has no value"),
            ("xyz@ncacn_vi_udp:h[1]", "is not an object UUID"),
            ("ncacn_vi_udp:h\\", "incomplete escape"),
            ("ncacn_vi_udp:h]", "has to be escaped"),
            ("ncacn_vi_udp:h[1,security=privacy,security=none]", "the option `security` is given twice"),
            ("ncacn_vi_udp:h[1,a=b,c=d,\\a=b]", "the option `a` is given twice"),
            ("ncacn_vi_udp:h[1,endpoint=2]", "the endpoint is given twice"),
            ("ncacn_vi_udp:h[1,=b]", "an option has no name"),
        ] {
            let error = text.parse::<StringBinding>().expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn names_are_distinguished_from_string_bindings() {
        assert!(StringBinding::is_meant("ncacn_vi_udp:h[1]"));
        assert!(StringBinding::is_meant("01234567-89ab-cdef-0011-223344556677@ncacn_vi_udp:h[1]"));
        assert!(!StringBinding::is_meant("calc"));
    }
}
