//! Fuzzes the decoders of ORPC's headers, and of the arguments and results of its interfaces:
//! accepted values survive a round trip in the other byte order.

use obvia::orpc::activator::{self, RemoteActivation, RemoteActivationResults};
use obvia::orpc::{
    Body, CallContext, Calls, Decoder, DualStringArray, Encoder, ErrorInfo, Forwarded, OrpcThat, OrpcThis, TimeLeft,
    TraceContext, object_exporter, rem_unknown,
};
use obvia_rpc::ByteOrder;
use std::fmt::Debug;

fn check<T: Debug + PartialEq, E: Debug>(
    bytes: &[u8],
    order: ByteOrder,
    read: impl Fn(&mut Decoder<'_>) -> Result<T, E>,
    write: impl Fn(&T, &mut Encoder<'_>),
) {
    let Ok(value) = read(&mut Decoder::new(bytes, order)) else { return };
    let other = if order == ByteOrder::Little { ByteOrder::Big } else { ByteOrder::Little };
    let written = Encoder::encode(other, |to| write(&value, to)).unwrap();
    assert_eq!(read(&mut Decoder::new(&written, other)).unwrap(), value);
}

fn check_calls<C: Calls + Debug + PartialEq>(bytes: &[u8], order: ByteOrder, opnum: u16) {
    check(bytes, order, |from| C::read(opnum, from), C::write);
}

pub fn run(bytes: &[u8]) {
    let [order, opnum, asked, stub @ ..] = bytes else { return };
    let order = if order & 1 == 0 { ByteOrder::Little } else { ByteOrder::Big };
    let (opnum, asked) = (u16::from(opnum % 8), usize::from(*asked));
    check(stub, order, OrpcThis::read, OrpcThis::write);
    check(stub, order, OrpcThat::read, OrpcThat::write);
    check(stub, order, DualStringArray::read, DualStringArray::write);
    check(stub, order, Forwarded::read, Forwarded::write);
    check(stub, order, RemoteActivation::read, RemoteActivation::write);
    check(stub, order, activator::Response::read, activator::Response::write);
    check(stub, order, |from| RemoteActivationResults::read(asked, from), RemoteActivationResults::write);
    check_calls::<activator::Request>(stub, order, opnum);
    check_calls::<object_exporter::Request>(stub, order, opnum);
    check_calls::<rem_unknown::Request>(stub, order, opnum);
    check(stub, order, |from| object_exporter::Response::read(opnum, from), object_exporter::Response::write);
    check(stub, order, |from| rem_unknown::Response::read(opnum, asked, from), rem_unknown::Response::write);
    if let Some(context) = CallContext::read(stub) {
        let mut bytes = vec![0; context.length()];
        context.write(&mut bytes);
        assert_eq!(CallContext::read(&bytes), Some(context));
    }
    if let Ok(OrpcThat { extents, .. }) = OrpcThat::decode(order, stub) {
        if let Ok(Some(left)) = TimeLeft::find(&extents) {
            assert_eq!(left.to_extent().data[..], extents.find(&TimeLeft::ID).unwrap()[..8]);
        }
        if let Some(trace) = TraceContext::find(&extents) {
            assert!(trace.to_extent().data.len() <= extents.find(&TraceContext::ID).unwrap().len());
        }
        if let Ok(Some(info)) = ErrorInfo::find(&extents) {
            assert!(info.to_extent().is_ok());
        }
    }
}
