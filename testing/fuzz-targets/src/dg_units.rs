//! Fuzzes the parsers of connectionless PDUs: an accepted PDU survives a round trip.

use obvia_rpc::dg::pdu::{Cancel, CancelAck, Fack, Header, PduType, read_status};

pub fn run(bytes: &[u8]) {
    let Ok((header, body)) = Header::read(bytes) else { return };
    let mut written = Vec::new();
    header.write(&mut written, body);
    assert_eq!(Header::read(&written), Ok((header, body)));
    let _ = read_status(&header, body);
    written.clear();
    if let Ok(Some(fack)) = Fack::read(&header, body) {
        fack.write(&mut written, &header);
        let (header, body) = Header::read(&written).unwrap();
        assert_eq!(Fack::read(&header, body), Ok(Some(fack)));
    }
    written.clear();
    if let Ok(cancel) = Cancel::read(&header, body) {
        cancel.write(&mut written, &header);
        let (header, body) = Header::read(&written).unwrap();
        assert_eq!((header.kind, Cancel::read(&header, body)), (PduType::CL_CANCEL, Ok(cancel)));
    }
    written.clear();
    if let Ok(Some(ack)) = CancelAck::read(&header, body) {
        ack.write(&mut written, &header);
        let (header, body) = Header::read(&written).unwrap();
        assert_eq!((header.kind, CancelAck::read(&header, body)), (PduType::CANCEL_ACK, Ok(Some(ack))));
    }
}
