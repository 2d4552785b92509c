//! GUIDs as text, and as bytes on the wire.

use windows_core::GUID;

/// Parses a GUID in the usual groups of digits, with or without braces:
/// `0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20`.
pub fn parse(text: &str) -> Option<GUID> {
    let bare = text.strip_prefix('{').map_or(Some(text), |rest| rest.strip_suffix('}'))?;
    let mut digits = String::new();
    for (part, length) in bare.split('-').zip([8, 4, 4, 4, 12]) {
        let is_right = part.len() == length && part.bytes().all(|digit| digit.is_ascii_hexdigit());
        is_right.then(|| digits.push_str(part))?;
    }
    (bare.len() == 36).then(|| u128::from_str_radix(&digits, 16).ok().map(GUID::from_u128))?
}

/// Returns a GUID as IDL and registrations write it, in lower case and without braces.
pub fn to_text(guid: &GUID) -> String {
    format!("{guid:?}").to_ascii_lowercase()
}

/// Returns the little-endian wire form of a GUID.
pub fn to_wire(guid: &GUID) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0..4].copy_from_slice(&guid.data1.to_le_bytes());
    bytes[4..6].copy_from_slice(&guid.data2.to_le_bytes());
    bytes[6..8].copy_from_slice(&guid.data3.to_le_bytes());
    bytes[8..16].copy_from_slice(&guid.data4);
    bytes
}

/// Returns the GUID of a little-endian wire form.
pub fn from_wire(bytes: [u8; 16]) -> GUID {
    let [a, b, c, d, e, f, g, h, data4 @ ..] = bytes;
    GUID {
        data1: u32::from_le_bytes([a, b, c, d]),
        data2: u16::from_le_bytes([e, f]),
        data3: u16::from_le_bytes([g, h]),
        data4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guid_has_its_digits_in_groups_and_nothing_else() {
        let id = GUID::from_u128(0x0d4f_4c52_0a34_4ac4_8d6c_2c9f_3a1f_7a20);
        for text in ["0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20", "{0D4F4C52-0A34-4AC4-8D6C-2C9F3A1F7A20}"] {
            assert_eq!(parse(text), Some(id), "{text}");
        }
        for text in [
            "",
            "0d4f4c520a344ac48d6c2c9f3a1f7a20",
            "0d4f4c5-20a34-4ac4-8d6c-2c9f3a1f7a20",
            "0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a2",
            "0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a200",
            "0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20-",
            "+d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20",
            "{0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20",
            "0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20}",
            " 0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(to_text(&id), "0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a20");
        assert_eq!(from_wire(to_wire(&id)), id);
        assert_eq!(to_wire(&id)[..4], [0x52, 0x4c, 0x4f, 0x0d]);
    }
}
