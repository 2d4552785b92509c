//! Base types.

/// Base types, by their size and meaning on the wire and in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// `boolean`: one byte, 0 or 1.
    Boolean,
    /// `byte`: eight bits without meaning.
    Byte,
    /// `char`: eight bits, unsigned.
    Char,
    /// `wchar_t`: 16 bits.
    WChar,
    /// `small`.
    I8,
    /// `unsigned small`.
    U8,
    /// `short`.
    I16,
    /// `unsigned short`.
    U16,
    /// `long`: 32 bits always.
    I32,
    /// `unsigned long`.
    U32,
    /// `hyper`.
    I64,
    /// `unsigned hyper`.
    U64,
    /// `float`.
    F32,
    /// `double`.
    F64,
    /// `HRESULT`.
    Hresult,
    /// `GUID` and its other names.
    Guid,
    /// A context handle: 32 bits of attributes and a UUID (`ndr_context_handle` of C706), by which
    /// a server identifies the state that it keeps for a client.
    Context,
}

impl Base {
    /// Returns the size in bytes, in memory and on the wire.
    pub const fn size(self) -> u32 {
        match self {
            Self::Boolean | Self::Byte | Self::Char | Self::I8 | Self::U8 => 1,
            Self::WChar | Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 | Self::Hresult => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
            Self::Guid => 16,
            Self::Context => 20,
        }
    }

    /// Returns the alignment in memory and on the wire.
    pub const fn align(self) -> u32 {
        match self {
            Self::Guid | Self::Context => 4,
            other => other.size(),
        }
    }

    /// Whether the type is an integer that can be a size, a length or a discriminant.
    pub const fn is_integer(self) -> bool {
        !matches!(self, Self::F32 | Self::F64 | Self::Hresult | Self::Guid | Self::Context)
    }

    /// Whether the type is an integer and represents a number. A `boolean` is an integer, but
    /// represents a truth value.
    pub const fn is_number(self) -> bool {
        self.is_integer() && !matches!(self, Self::Boolean)
    }

    /// Returns the least and the greatest value of an integer type. `None` for other types.
    pub const fn range(self) -> Option<(i128, i128)> {
        Some(match self {
            Self::Boolean => (0, 1),
            Self::Byte | Self::Char | Self::U8 => (0, u8::MAX as i128),
            Self::I8 => (i8::MIN as i128, i8::MAX as i128),
            Self::WChar | Self::U16 => (0, u16::MAX as i128),
            Self::I16 => (i16::MIN as i128, i16::MAX as i128),
            Self::I32 | Self::Hresult => (i32::MIN as i128, i32::MAX as i128),
            Self::U32 => (0, u32::MAX as i128),
            Self::I64 => (i64::MIN as i128, i64::MAX as i128),
            Self::U64 => (0, u64::MAX as i128),
            Self::F32 | Self::F64 | Self::Guid | Self::Context => return None,
        })
    }

    /// Returns the type's name in IDL.
    pub const fn idl(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Byte => "byte",
            Self::Char => "char",
            Self::WChar => "wchar_t",
            Self::I8 => "small",
            Self::U8 => "unsigned small",
            Self::I16 => "short",
            Self::U16 => "unsigned short",
            Self::I32 => "long",
            Self::U32 => "unsigned long",
            Self::I64 => "hyper",
            Self::U64 => "unsigned hyper",
            Self::F32 => "float",
            Self::F64 => "double",
            Self::Hresult => "HRESULT",
            Self::Guid => "GUID",
            Self::Context => "context_handle",
        }
    }
}
