//! Fuzzes the parsers of request, response, fault and bind_nak PDUs: an accepted PDU survives a
//! round trip.

use obvia_rpc::co::pdu::{BindNak, Fault, Header, Request, Response, Unit};

pub fn run(bytes: &[u8]) {
    let Ok(unit) = Unit::open(bytes) else { return };
    let _ = unit.sealed();
    let mut written = Vec::new();
    // The writer sets the lengths, and the byte order of PDUs that exist in one order only.
    let header = Header { length: 0, auth_length: 0, ..unit.header };
    if let Ok(request) = Request::read(&unit) {
        request.write(&mut written, &header);
        assert_eq!(Request::read(&Unit::open(&written).unwrap()), Ok(request));
    } else if let Ok(response) = Response::read(&unit) {
        response.write(&mut written, &header);
        assert_eq!(Response::read(&Unit::open(&written).unwrap()), Ok(response));
    } else if let Ok(fault) = Fault::read(&unit) {
        fault.write(&mut written, &header);
        assert_eq!(Fault::read(&Unit::open(&written).unwrap()), Ok(fault));
    } else if let Ok(nak) = BindNak::read(&unit) {
        nak.write(&mut written);
        assert_eq!(BindNak::read(&Unit::open(&written).unwrap()), Ok(nak));
    }
}
