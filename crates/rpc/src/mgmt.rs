//! The management interface that every server has (C706 appendix Q).

use crate::octets::{ByteOrder, Reader, Writer};
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};
use std::sync::atomic::{AtomicU32, Ordering};

/// The management interface.
pub const INTERFACE: SyntaxId = SyntaxId { uuid: Uuid(0xafa8_bd80_7d8a_11c9_bef4_0800_2b10_2989), version: 1 };

/// The referent identifier of non-null pointers.
const REFERENT: u32 = 0x0002_0000;

/// The counters of a server, shared by its threads.
#[derive(Debug, Default)]
pub struct Counters {
    calls_in: AtomicU32,
    packets_in: AtomicU32,
    packets_out: AtomicU32,
}

impl Counters {
    /// Returns the counters' values. The number of outgoing calls is always 0, because the server's
    /// side of a process makes no calls.
    pub fn statistics(&self) -> Statistics {
        let [calls_in, packets_in, packets_out] =
            [&self.calls_in, &self.packets_in, &self.packets_out].map(|number| number.load(Ordering::Relaxed));
        Statistics { calls_in, calls_out: 0, packets_in, packets_out }
    }

    pub(crate) fn count_call(&self) {
        self.calls_in.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_packet_in(&self) {
        self.packets_in.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_packets_out(&self, count: u32) {
        self.packets_out.fetch_add(count, Ordering::Relaxed);
    }
}

/// The statistics of a server. The numbers wrap around at 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Calls received.
    pub calls_in: u32,
    /// Calls made.
    pub calls_out: u32,
    /// Fragments received.
    pub packets_in: u32,
    /// Fragments sent.
    pub packets_out: u32,
}

/// Executes a method: arguments in NDR, results in NDR little endian.
///
/// stop_server_listening is refused, and inq_princ_name always reports an unknown authentication
/// service.
///
/// # Errors
///
/// The fault's status: [`Status::OP_RNG_ERROR`] for an unknown opnum, [`Status::BAD_STUB_DATA`] for
/// malformed arguments.
pub fn call(
    opnum: u16,
    order: ByteOrder,
    stub: &[u8],
    interfaces: &[SyntaxId],
    statistics: Statistics,
) -> Result<Vec<u8>, Status> {
    let mut reader = Reader::new(stub, order);
    let mut results = Vec::new();
    let mut writer = Writer::new(&mut results, ByteOrder::Little);
    match opnum {
        // inq_if_ids
        0 => {
            let count = interfaces.len() as u32;
            writer.u32(REFERENT);
            writer.u32(count);
            writer.u32(count);
            (1..=count).for_each(|number| writer.u32(REFERENT + 4 * number));
            interfaces.iter().for_each(|interface| writer.syntax(*interface));
            writer.u32(0);
        }
        // inq_stats
        1 => {
            let Statistics { calls_in, calls_out, packets_in, packets_out } = statistics;
            let all = [calls_in, calls_out, packets_in, packets_out];
            let wanted = all.len().min(reader.u32()? as usize);
            writer.u32(wanted as u32);
            writer.u32(wanted as u32);
            all[..wanted].iter().for_each(|number| writer.u32(*number));
            writer.u32(0);
        }
        // is_server_listening: the status, then true.
        2 => {
            writer.u32(0);
            writer.u32(1);
        }
        // stop_server_listening
        3 => writer.u32(Status::ACCESS_DENIED.0),
        // inq_princ_name
        4 => {
            let (_service, size) = (reader.u32()?, reader.u32()?);
            if size == 0 {
                return Err(Status::BAD_STUB_DATA);
            }
            for number in [size, 0, 1, 0] {
                writer.u32(number);
            }
            writer.u32(UNKNOWN_AUTHN_SERVICE);
        }
        _ => return Err(Status::OP_RNG_ERROR),
    }
    Ok(results)
}

/// The maximum number of interfaces in a response.
const INTERFACES_MAX: u32 = 4096;

/// Returns the opnum and the arguments of inq_if_ids.
pub fn interfaces_request() -> (u16, Vec<u8>) {
    (0, Vec::new())
}

/// Reads the response of inq_if_ids.
///
/// # Errors
///
/// [`Status::BAD_STUB_DATA`] for malformed results, otherwise the server's status.
pub fn interfaces(order: ByteOrder, results: &[u8]) -> Result<Vec<SyntaxId>, Status> {
    let mut reader = Reader::new(results, order);
    let mut found = Vec::new();
    if reader.u32()? != 0 {
        let (max, count) = (reader.u32()?, reader.u32()?);
        if max != count || count > INTERFACES_MAX {
            return Err(Status::BAD_STUB_DATA);
        }
        let there = (0..count).map(|_| reader.u32()).collect::<Result<Vec<_>, _>>()?;
        for _ in there.iter().filter(|referent| **referent != 0) {
            found.push(reader.syntax()?);
        }
    }
    match reader.u32()? {
        0 => Ok(found),
        status => Err(Status(status)),
    }
}

/// The authentication service is unknown (RPC_S_UNKNOWN_AUTHN_SERVICE).
const UNKNOWN_AUTHN_SERVICE: u32 = 0x0000_06d3;

#[cfg(test)]
mod tests {
    use super::*;

    fn words(opnum: u16, arguments: &[u32]) -> Result<Vec<u32>, Status> {
        let stub: Vec<u8> = arguments.iter().flat_map(|word| word.to_be_bytes()).collect();
        let statistics = Statistics { calls_in: 1, calls_out: 2, packets_in: 3, packets_out: 4 };
        let results = call(opnum, ByteOrder::Big, &stub, &[INTERFACE], statistics)?;
        assert_eq!(results.len() % 4, 0);
        Ok(results.chunks(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect())
    }

    /// Tests the results, word by word, against the interface's definition in C706 appendix Q.
    #[test]
    fn management_results_have_the_standards_layout() {
        let identities = [0x20000, 1, 1, 0x20004, 0xafa8_bd80, 0x11c9_7d8a, 0x0008_f4be, 0x8929_102b, 1, 0];
        assert_eq!(words(0, &[]), Ok(identities.to_vec()));
        assert_eq!(words(1, &[9, 0]), Ok(vec![4, 4, 1, 2, 3, 4, 0]));
        assert_eq!(words(1, &[2, 0]), Ok(vec![2, 2, 1, 2, 0]));
        assert_eq!(words(2, &[]), Ok(vec![0, 1]));
        assert_eq!(words(3, &[]), Ok(vec![5]));
        assert_eq!(words(4, &[10, 256]), Ok(vec![256, 0, 1, 0, 0x6d3]));
        assert_eq!(words(1, &[]), Err(Status::BAD_STUB_DATA));
        assert_eq!(words(5, &[]), Err(Status::OP_RNG_ERROR));
    }

    #[test]
    fn management_interface_lists_are_read_or_refused() {
        let all = [INTERFACE, SyntaxId { uuid: Uuid(7), version: 0x0002_0001 }];
        let (opnum, stub) = interfaces_request();
        let results = call(opnum, ByteOrder::Little, &stub, &all, Statistics::default()).unwrap();
        assert_eq!(interfaces(ByteOrder::Little, &results), Ok(all.to_vec()));
        for length in 0..results.len() {
            assert_eq!(interfaces(ByteOrder::Little, &results[..length]), Err(Status::BAD_STUB_DATA), "{length} bytes");
        }
        let mut many = results.clone();
        many[4..12].fill(0xff);
        assert_eq!(interfaces(ByteOrder::Little, &many), Err(Status::BAD_STUB_DATA));
        let mut failed = results;
        *failed.last_mut().unwrap() = 1;
        assert_eq!(interfaces(ByteOrder::Little, &failed), Err(Status(0x0100_0000)));
    }
}
