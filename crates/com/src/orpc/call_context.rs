//! The context of a call in FLAT. In NDR the extents [`TimeLeft`](super::TimeLeft) and
//! [`TraceContext`] have the same contents.

use super::TraceContext;
use std::time::Duration;

/// The context of a call in FLAT. Its bytes begin with the remaining time in microseconds. All bits
/// of the time are 1 if the caller has set no limit. If the call belongs to a trace, the number of
/// the trace comes next, then the number of the parent, the flags (u16), the length of the state
/// (u16), four zeros, the state, and zeros up to a multiple of 8. Numbers of traces and parents are
/// big endian, all others little endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallContext {
    /// The time that the caller still waits, if it has set a limit.
    pub left: Option<Duration>,
    /// The trace that the call belongs to, if any.
    pub trace: Option<TraceContext>,
}

impl CallContext {
    const NO_TIME: u64 = u64::MAX;
    /// The number of bytes of a context before the state of the trace.
    const TRACE: usize = 40;
    /// The greatest length of a context, in bytes.
    pub const LENGTH_MAX: usize = Self::TRACE + TraceContext::STATE_MAX;

    /// The context of a call without limit and trace.
    pub const NONE: Self = Self { left: None, trace: None };

    /// Returns the length in bytes: a multiple of 8.
    pub fn length(&self) -> usize {
        self.trace.as_ref().map_or(8, |trace| (Self::TRACE + trace.state.len()).next_multiple_of(8))
    }

    /// Encodes the context; `bytes` must have the length that [`Self::length`] returns.
    pub fn write(&self, bytes: &mut [u8]) {
        let micros = |left: Duration| {
            u64::try_from(left.as_micros()).map_or(Self::NO_TIME - 1, |all| all.min(Self::NO_TIME - 1))
        };
        bytes.fill(0);
        bytes[..8].copy_from_slice(&self.left.map_or(Self::NO_TIME, micros).to_le_bytes());
        if let Some(TraceContext { trace, parent, flags, state }) = &self.trace {
            bytes[8..24].copy_from_slice(&trace.to_be_bytes());
            bytes[24..32].copy_from_slice(&parent.to_be_bytes());
            bytes[32] = *flags;
            bytes[34..36].copy_from_slice(&(state.len() as u16).to_le_bytes());
            bytes[Self::TRACE..Self::TRACE + state.len()].copy_from_slice(state.as_bytes());
        }
    }

    /// Decodes a context. An invalid trace becomes `None`, since tracing is no reason to refuse a
    /// call. `None` where the bytes are malformed.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (left, rest) = bytes.split_first_chunk()?;
        let left = Some(u64::from_le_bytes(*left)).filter(|left| *left != Self::NO_TIME).map(Duration::from_micros);
        let trace = if rest.is_empty() { None } else { Self::read_trace(rest)? };
        Some(Self { left, trace })
    }

    /// Decodes a trace. `None` where the bytes are malformed, `Some(None)` where they contain an
    /// invalid trace.
    fn read_trace(bytes: &[u8]) -> Option<Option<TraceContext>> {
        let (trace, rest) = bytes.split_first_chunk()?;
        let (parent, rest) = rest.split_first_chunk()?;
        let (&[flags, 0, low, high, 0, 0, 0, 0], rest) = rest.split_first_chunk()? else { return None };
        let (state, padding) = rest.split_at_checked(u16::from_le_bytes([low, high]).into())?;
        if padding.len() >= 8 || padding.iter().any(|byte| *byte != 0) {
            return None;
        }
        Some(TraceContext::new(u128::from_be_bytes(*trace), u64::from_be_bytes(*parent), flags, state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(state: &str) -> CallContext {
        let trace = TraceContext::new(7 << 100, 9, 1, state.as_bytes());
        assert!(trace.is_some());
        CallContext { left: Some(Duration::from_micros(1500)), trace }
    }

    fn bytes(context: &CallContext) -> Vec<u8> {
        let mut bytes = vec![0xee; context.length()];
        context.write(&mut bytes);
        bytes
    }

    #[test]
    fn encoded_call_contexts_are_decoded_unchanged() {
        let longest = "s".repeat(TraceContext::STATE_MAX);
        let of_trace = CallContext { left: None, ..sample("") };
        let alone = CallContext { left: Some(Duration::ZERO), trace: None };
        for context in [sample(""), sample("a=b"), sample(&longest), of_trace, alone, CallContext::NONE] {
            let bytes = bytes(&context);
            assert!(bytes.len().is_multiple_of(8) && bytes.len() <= CallContext::LENGTH_MAX, "{}", bytes.len());
            assert_eq!(CallContext::read(&bytes), Some(context));
        }
    }

    #[test]
    fn malformed_call_contexts_are_refused() {
        let whole = bytes(&sample("a=b"));
        for length in (0..whole.len()).filter(|length| ![8, whole.len()].contains(length)) {
            let read = CallContext::read(&whole[..length]);
            // A context is also accepted without its final padding.
            assert!(read.is_none() || length >= CallContext::TRACE + 3, "{length}: {read:?}");
        }
        assert!(CallContext::read(&[whole.clone(), vec![0; 8]].concat()).is_none());
        for at in [33, 35, 36, 39, whole.len() - 1] {
            let mut wrong = whole.clone();
            wrong[at] = 1;
            assert!(CallContext::read(&wrong).is_none(), "{at}");
        }
    }

    #[test]
    fn invalid_trace_ids_are_ignored() {
        let mut none = bytes(&sample("a=b"));
        none[8..24].fill(0);
        assert_eq!(CallContext::read(&none), Some(CallContext { trace: None, ..sample("") }));
    }
}
