//! The data of custom references to objects that are called over virtual interfaces.

use super::bindings::DualStringArray;
use super::objref::ObjRef;
use super::stub_data::{Decoder, Encoder, Malformed};
use windows_core::GUID;

/// A reference to an object that is called over virtual interfaces: the data of an OBJREF_CUSTOM of
/// the class [`Self::CLASS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViReference {
    /// The virtual interface bindings of the object's process, the best first.
    pub ways: DualStringArray,
    /// The reference for receivers that can use none of the bindings in `ways`. It is never a
    /// custom reference.
    pub standard: ObjRef,
}

impl ViReference {
    /// The unmarshaler class of references to objects that are called over virtual interfaces.
    pub const CLASS: GUID = GUID::from_u128(0x6d52_40ed_8489_4b62_bab4_55f5_a446_dd55);
    /// The version of the data's layout.
    const VERSION: u32 = 1;

    /// Decodes the data. Bytes that follow it are ignored.
    ///
    /// # Errors
    ///
    /// If the data is malformed.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Malformed> {
        let from = &mut Decoder::packed(bytes);
        from.expect(Self::VERSION, "ViReference.version")?;
        let ways = DualStringArray::read_packed(from)?;
        let standard = ObjRef::from_bytes(from.rest())?;
        if standard.standard().is_none() {
            return Err(Malformed::Missing { what: "STDOBJREF" });
        }
        Ok(Self { ways, standard })
    }

    /// Encodes the data.
    ///
    /// # Errors
    ///
    /// If a part is too long.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Malformed> {
        let standard = self.standard.to_bytes()?;
        Encoder::pack(|to| {
            to.u32(Self::VERSION);
            self.ways.write_packed(to);
            to.bytes(&standard);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orpc::StdObjRef;
    use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};

    fn sample() -> ViReference {
        let array = |protocol| DualStringArray::new([&StringBinding::new(protocol, "10.0.0.1", "5555")]);
        let (iid, std) = (GUID::from_u128(7), StdObjRef { public_refs: 5, oxid: 8, oid: 9, ..StdObjRef::default() });
        let standard = ObjRef::Standard { iid, std, resolver: array(ProtocolSequence::IpTcp) };
        ViReference { ways: array(ProtocolSequence::ViUdp), standard }
    }

    #[test]
    fn vi_references_round_trip_and_every_shorter_form_is_refused() {
        let bytes = sample().to_bytes().unwrap();
        assert_eq!(ViReference::from_bytes(&bytes), Ok(sample()));
        for length in 0..bytes.len() {
            assert!(ViReference::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn vi_references_of_other_versions_are_refused() {
        let mut bytes = sample().to_bytes().unwrap();
        bytes[0] += 1;
        assert!(matches!(ViReference::from_bytes(&bytes), Err(Malformed::Wrong { what: "ViReference.version", .. })));
        let standard = ObjRef::Custom { iid: GUID::from_u128(7), clsid: ViReference::CLASS, data: vec![1] };
        let bytes = ViReference { standard, ..sample() }.to_bytes().unwrap();
        assert_eq!(ViReference::from_bytes(&bytes), Err(Malformed::Missing { what: "STDOBJREF" }));
    }
}
