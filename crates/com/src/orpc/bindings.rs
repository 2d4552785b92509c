//! DUALSTRINGARRAY (MS-DCOM 2.2.19): the bindings of a resolver or exporter, and the security of
//! its calls.

use super::stub_data::{Body, Decoder, Encoder, Malformed, text};
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};

/// The greatest length of an array, in words of 16 bits.
const WORDS_MAX: usize = 1 << 13;
/// The second word of every security binding (MS-DCOM 2.2.19.4).
const NO_AUTHORIZATION: u16 = 0xffff;

/// STRINGBINDING (MS-DCOM 2.2.19.3), of any protocol sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TowerBinding {
    /// The tower identifier of the protocol sequence (C706 appendix I), never 0: 7 is
    /// `ncacn_ip_tcp`, 8 `ncadg_ip_udp`, 16 `ncalrpc`; [`ProtocolSequence::tower`] has the
    /// identifiers of obvia's own protocol sequences.
    pub tower: u16,
    /// `host`, or `host[endpoint]`; obvia's own protocol sequences have options after the endpoint.
    pub address: String,
}

impl TowerBinding {
    /// Returns the protocol sequence, if it is supported here.
    pub fn protocol(&self) -> Option<ProtocolSequence> {
        ProtocolSequence::from_tower(self.tower)
    }

    /// Returns the binding without its endpoint, since resolvers have a well-known endpoint.
    #[must_use]
    pub fn without_endpoint(&self) -> Self {
        let host = self.address.find('[').map_or(&*self.address, |at| &self.address[..at]);
        Self { tower: self.tower, address: host.to_owned() }
    }

    /// Returns the string binding; `None` where the protocol sequence is not supported here, or the
    /// address is invalid.
    pub fn to_string_binding(&self) -> Option<StringBinding> {
        format!("{}:{}", self.protocol()?, self.address).parse().ok()
    }
}

impl From<&StringBinding> for TowerBinding {
    fn from(binding: &StringBinding) -> Self {
        let text = StringBinding { object: None, ..binding.clone() }.to_string();
        let address = text.split_once(':').map_or("", |(_, address)| address);
        Self { tower: binding.protocol.tower(), address: address.to_owned() }
    }
}

/// SECURITYBINDING (MS-DCOM 2.2.19.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecurityBinding {
    /// The security provider (MS-RPCE 2.2.1.1.7), never 0: 9 is SPNEGO, 10 NTLM.
    pub service: u16,
    /// The server's principal; empty if the binding names none.
    pub principal: String,
}

/// DUALSTRINGARRAY: a list of string bindings and a list of security bindings, both with the best
/// binding first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DualStringArray {
    /// The string bindings.
    pub strings: Vec<TowerBinding>,
    /// The accepted authentication mechanisms.
    pub securities: Vec<SecurityBinding>,
}

impl DualStringArray {
    /// Makes an array without security bindings.
    pub fn new<'a>(bindings: impl IntoIterator<Item = &'a StringBinding>) -> Self {
        Self { strings: bindings.into_iter().map(TowerBinding::from).collect(), securities: Vec::new() }
    }

    /// Returns the string bindings whose protocol sequences are supported here.
    pub fn string_bindings(&self) -> impl Iterator<Item = StringBinding> {
        self.strings.iter().filter_map(TowerBinding::to_string_binding)
    }

    /// Returns all words, and the number of words that the string bindings take.
    fn words(&self) -> (Vec<u16>, usize) {
        let mut words = Vec::new();
        for binding in &self.strings {
            words.push(binding.tower);
            words.extend(binding.address.encode_utf16().chain([0]));
        }
        end(&mut words, self.strings.is_empty());
        let offset = words.len();
        for binding in &self.securities {
            words.extend([binding.service, NO_AUTHORIZATION]);
            words.extend(binding.principal.encode_utf16().chain([0]));
        }
        end(&mut words, self.securities.is_empty());
        (words, offset)
    }

    fn from_words(words: &[u16], offset: usize) -> Result<Self, Malformed> {
        let Some((strings, securities)) = words.split_at_checked(offset) else {
            let (at, value) = (0, offset as u64);
            return Err(Malformed::Wrong { what: "wSecurityOffset", at, value });
        };
        let mut array = Self::default();
        let mut rest = strings;
        while let Some((&tower, left)) = rest.split_first().filter(|(tower, _)| **tower != 0) {
            let (address, left) = named(left, "aNetworkAddr")?;
            array.strings.push(TowerBinding { tower, address });
            rest = left;
        }
        rest = securities;
        while let Some((&service, left)) = rest.split_first().filter(|(service, _)| **service != 0) {
            let left = left.get(1..).ok_or(Malformed::Text { what: "aPrincName" })?;
            let (principal, left) = named(left, "aPrincName")?;
            array.securities.push(SecurityBinding { service, principal });
            rest = left;
        }
        Ok(array)
    }

    /// Decodes the array as part of an OBJREF (MS-DCOM 2.2.19.1): the length, the offset of the
    /// security bindings, then the words.
    pub(super) fn read_packed(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let count = from.count16(WORDS_MAX, "wNumEntries")?;
        let offset = from.u16("wSecurityOffset")?;
        let words = from.elements(count, 2, "aStringArray", |from| from.u16("aStringArray"))?;
        Self::from_words(&words, offset.into())
    }

    pub(super) fn write_packed(&self, to: &mut Encoder<'_>) {
        let (words, offset) = self.words();
        to.count16(words.len(), WORDS_MAX, "wNumEntries");
        to.u16(offset as u16);
        words.iter().for_each(|&word| to.u16(word));
    }

    /// Decodes the target of a unique pointer in results, if the pointer is not null.
    pub(super) fn read_pointer(from: &mut Decoder<'_>, what: &'static str) -> Result<Option<Self>, Malformed> {
        if from.pointer(what)? { Self::read(from).map(Some) } else { Ok(None) }
    }

    pub(super) fn write_pointer(this: Option<&Self>, to: &mut Encoder<'_>) {
        to.pointer(this.is_some());
        if let Some(this) = this {
            this.write(to);
        }
    }
}

/// Appends the zero that ends a list of bindings. An empty list also gets a zero for an empty
/// binding, as in the standard's smallest array.
fn end(words: &mut Vec<u16>, is_empty: bool) {
    words.extend([0].repeat(1 + usize::from(is_empty)));
}

/// Splits the words after the first text and its terminating zero. Returns the text and the
/// remaining words.
fn named<'a>(words: &'a [u16], what: &'static str) -> Result<(String, &'a [u16]), Malformed> {
    let name = text(words, what)?;
    let length = words.iter().position(|&word| word == 0).unwrap_or(words.len());
    Ok((name, &words[length + 1..]))
}

/// The form of the array as a parameter (MS-DCOM 2.2.19.2): a conformant structure, whose
/// conformance comes first.
impl Body for DualStringArray {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let conformance = from.count(WORDS_MAX, "wNumEntries")?;
        let (count, offset) = (from.u16("wNumEntries")?, from.u16("wSecurityOffset")?);
        if usize::from(count) != conformance {
            return Err(from.wrong("wNumEntries", count));
        }
        let words = from.elements(conformance, 2, "aStringArray", |from| from.u16("aStringArray"))?;
        Self::from_words(&words, offset.into())
    }

    fn write(&self, to: &mut Encoder<'_>) {
        let (words, _) = self.words();
        to.u32(words.len() as u32);
        self.write_packed(to);
    }
}
