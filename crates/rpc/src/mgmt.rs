//! The management interface that every server has (C706 appendix Q): what it offers, whether it listens, what it has done.

use crate::octets::{ByteOrder, Reader, Writer};
use crate::status::Status;
use crate::uuid::{SyntaxId, Uuid};

/// The interface.
pub const INTERFACE: SyntaxId = SyntaxId { uuid: Uuid(0xafa8_bd80_7d8a_11c9_bef4_0800_2b10_2989), version: 1 };

/// Numbers that stand for pointers that are not null.
const REFERENT: u32 = 0x0002_0000;

/// What a server has done.
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

/// Performs a method: arguments in NDR, results in NDR little endian.
///
/// The server is never stopped by its clients; a principal's name is told for no authentication service.
///
/// # Errors
///
/// The status of the fault, for what is no call.
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
        // is_server_listening: a status, and that it does.
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

/// There is no such authentication service here (RPC_S_UNKNOWN_AUTHN_SERVICE).
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

    /// Word by word after the interface's definition in C706 appendix Q.
    #[test]
    fn results_are_laid_out_as_the_standard_says() {
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
}
