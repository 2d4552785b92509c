//! Status codes of faults, with the numbers of C706 and MS-RPCE.

use std::fmt;

/// The status of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Status(pub u32);

impl Status {
    /// The interface has no method with the opnum (nca_s_op_rng_error).
    pub const OP_RNG_ERROR: Self = Self(0x1c01_0002);
    /// The caller has no access or failed to authenticate (ERROR_ACCESS_DENIED).
    pub const ACCESS_DENIED: Self = Self(0x0000_0005);
    /// A token or a signature is invalid (RPC_S_SEC_PKG_ERROR).
    pub const SEC_PKG_ERROR: Self = Self(0x0000_0721);
    /// The call was cancelled (nca_s_fault_cancel).
    pub const CANCELLED: Self = Self(0x1c00_000d);
    /// The server did not issue the context handle (nca_s_fault_context_mismatch).
    pub const CONTEXT_MISMATCH: Self = Self(0x1c00_001a);
    /// The server does not know the interface (nca_s_unk_if).
    pub const UNK_IF: Self = Self(0x1c01_0003);
    /// A protocol data unit is not allowed in the current state (nca_s_proto_error).
    pub const PROTOCOL_ERROR: Self = Self(0x1c01_000b);
    /// The server has no memory for the call (nca_s_fault_remote_no_memory).
    pub const REMOTE_NO_MEMORY: Self = Self(0x1c00_001b);
    /// The connection failed (nca_s_comm_failure).
    pub const COMM_FAILURE: Self = Self(0x1c01_0001);
    /// The server was restarted since the last call (nca_s_wrong_boot_time).
    pub const WRONG_BOOT_TIME: Self = Self(0x1c01_0006);
    /// A restarted server asks about a call to its predecessor (nca_s_you_crashed).
    pub const YOU_CRASHED: Self = Self(0x1c01_0009);
    /// The activity is unknown or has no outstanding call (nca_s_bad_actid).
    pub const BAD_ACTIVITY: Self = Self(0x1c00_000a);
    /// The client failed to identify itself (nca_s_who_are_you_failed).
    pub const WHO_ARE_YOU_FAILED: Self = Self(0x1c00_000b);
    /// The server is too busy to accept the call (nca_s_server_too_busy).
    pub const SERVER_TOO_BUSY: Self = Self(0x1c01_0014);
    /// The server does not support the authentication (nca_s_unsupported_authn_level).
    pub const UNSUPPORTED_AUTHENTICATION: Self = Self(0x1c00_001d);
    /// The server does not answer (RPC_S_SERVER_UNAVAILABLE, as an HRESULT).
    pub const SERVER_UNAVAILABLE: Self = Self(0x8007_06ba);
    /// The arguments break the rules of the transfer syntax (RPC_X_BAD_STUB_DATA).
    pub const BAD_STUB_DATA: Self = Self(0x0000_06f7);
    /// The target is not, or no longer, exported (RPC_E_DISCONNECTED).
    pub const OBJECT_NOT_FOUND: Self = Self(0x8001_0108);

    /// Whether the status implies that the server has read no argument, and so has not taken over
    /// any reference in the arguments.
    pub const fn is_before_arguments(self) -> bool {
        matches!(
            self,
            Self::OP_RNG_ERROR
                | Self::PROTOCOL_ERROR
                | Self::OBJECT_NOT_FOUND
                | Self::ACCESS_DENIED
                | Self::UNK_IF
                | Self::SERVER_TOO_BUSY
        )
    }

    /// Converts a method's return value to the status of a fault, for protocols whose responses
    /// have no field for a return value. If the standard has a status for the return value, returns
    /// that status. OBJECT_NOT_FOUND is replaced by another status, because it would imply that no
    /// method was called: see [`Self::is_before_arguments`].
    pub(crate) const fn in_a_fault(self) -> Self {
        match self {
            Self(CONTEXT_MISMATCH) => Self::CONTEXT_MISMATCH,
            Self::OBJECT_NOT_FOUND => Self(NOT_CONNECTED),
            other => other,
        }
    }

    /// Returns the HRESULT for the caller.
    pub const fn to_hresult(self) -> i32 {
        match self {
            Self::BAD_STUB_DATA => 0x8007_06f7_u32.cast_signed(),
            Self::REMOTE_NO_MEMORY => 0x8007_000e_u32.cast_signed(),
            // E_ACCESSDENIED, RPC_S_SEC_PKG_ERROR and RPC_E_CALL_CANCELED.
            Self::ACCESS_DENIED => 0x8007_0005_u32.cast_signed(),
            Self::SEC_PKG_ERROR => 0x8007_0721_u32.cast_signed(),
            Self::CANCELLED => 0x8001_0002_u32.cast_signed(),
            // RPC_E_DISCONNECTED: the server's state for its clients is lost.
            Self::COMM_FAILURE | Self::WRONG_BOOT_TIME | Self::YOU_CRASHED => 0x8001_0108_u32.cast_signed(),
            Self::CONTEXT_MISMATCH => CONTEXT_MISMATCH.cast_signed(),
            // RPC_S_SERVER_TOO_BUSY.
            Self::SERVER_TOO_BUSY => 0x8007_06bb_u32.cast_signed(),
            // RPC_S_UNKNOWN_AUTHN_SERVICE.
            Self::UNSUPPORTED_AUTHENTICATION => 0x8007_06d3_u32.cast_signed(),
            // The status is an HRESULT already.
            Self(value) if value >= 0x8000_0000 => value.cast_signed(),
            // RPC_E_SERVERFAULT.
            Self(_) => 0x8001_0105_u32.cast_signed(),
        }
    }
}

/// CO_E_OBJNOTCONNECTED: the method itself was called, but used another object that is not
/// connected.
const NOT_CONNECTED: u32 = 0x8004_01fd;
/// RPC_X_SS_CONTEXT_MISMATCH, as an HRESULT.
const CONTEXT_MISMATCH: u32 = 0x8007_06ef;

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            Self::OP_RNG_ERROR => "the interface has no such method",
            Self::ACCESS_DENIED => "the caller has no permission, or its authentication failed",
            Self::SEC_PKG_ERROR => "an authentication token or a signature is invalid",
            Self::CANCELLED => "the call was cancelled",
            Self::CONTEXT_MISMATCH => "the server has no such context handle",
            Self::UNK_IF => "the server does not know the interface",
            Self::PROTOCOL_ERROR => "an unexpected protocol data unit arrived",
            Self::REMOTE_NO_MEMORY => "the server has no memory left for the call",
            Self::COMM_FAILURE => "the connection failed",
            Self::WRONG_BOOT_TIME => "the server was restarted after its last call",
            Self::YOU_CRASHED => "the server was restarted during the call",
            Self::BAD_ACTIVITY => "the activity is unknown, or has no outstanding call",
            Self::WHO_ARE_YOU_FAILED => "the client did not identify itself",
            Self::SERVER_TOO_BUSY => "the server is too busy for the call",
            Self::UNSUPPORTED_AUTHENTICATION => "the server does not support this authentication",
            Self::SERVER_UNAVAILABLE => "no server responds",
            Self::BAD_STUB_DATA => "the arguments do not match the interface",
            Self::OBJECT_NOT_FOUND => "the object no longer exists",
            Self(value) => return write!(f, "status {value:#010x}"),
        };
        f.write_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::Status;

    #[test]
    fn status_codes_returned_by_methods_do_not_imply_an_uncalled_method() {
        let said = Status::OBJECT_NOT_FOUND.in_a_fault();
        assert!(Status::OBJECT_NOT_FOUND.is_before_arguments() && !said.is_before_arguments());
        assert_eq!(said.to_hresult(), 0x8004_01fd_u32.cast_signed());
    }
}
