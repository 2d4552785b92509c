//! Feeds bytes to the readers of units that calls are made of, and of refusals: what they take, written and read again, is the same.

use obvia_rpc::co::pdu::{BindNak, Fault, Header, Request, Response, Unit};

pub fn run(bytes: &[u8]) {
    let Ok(unit) = Unit::open(bytes) else { return };
    let _ = unit.sealed();
    let mut written = Vec::new();
    // The lengths are the writer's business, and so is the byte order where only one is written.
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
