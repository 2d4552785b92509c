//! Fuzzes the parsers of the PDUs that open an association: an accepted PDU survives a round trip.

use obvia_rpc::co::pdu::{Bind, BindAck};

pub fn run(bytes: &[u8]) {
    if let Ok(bind) = Bind::from_wire(bytes) {
        assert_eq!(Bind::from_wire(&bind.to_wire()).as_ref(), Ok(&bind));
    }
    if let Ok(ack) = BindAck::from_wire(bytes) {
        assert_eq!(BindAck::from_wire(&ack.to_wire()).as_ref(), Ok(&ack));
    }
}
