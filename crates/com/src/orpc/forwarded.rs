//! A call of one of ORPC's interfaces that the SCM forwards to a server process, with its caller.
//! The forwarded call travels in one of the calls between runtimes. Both processes belong to one
//! user.

use super::stub_data::{Body, Decoder, Encoder, Malformed};
use obvia_rpc::security::{AuthType, Authenticated, Level, Principal};
use std::sync::Arc;
use windows_core::GUID;

/// The greatest length of forwarded arguments: somewhat less than the limit of calls between
/// runtimes.
const STUB_MAX: usize = 1 << 19;

/// A call that the SCM forwards, with its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forwarded {
    /// The IID of the called interface.
    pub interface: GUID,
    /// The opnum of the called method.
    pub opnum: u16,
    /// The OXID of the calling process, where it is an obvia process that has introduced itself.
    pub process: Option<u64>,
    /// The host of the caller.
    pub host: String,
    /// The authenticated principal of the caller.
    pub maker: Option<Authenticated>,
    /// The string binding by which the client has reached the SCM. The host is the name that the
    /// client uses for the SCM's host.
    pub heard: String,
    /// The stub data of the arguments, little endian.
    pub stub: Vec<u8>,
}

fn write_maker(maker: &Authenticated, to: &mut Encoder<'_>) {
    to.u32(maker.kind.0.into());
    to.u32(maker.level as u32);
    to.text(&maker.principal.domain, "domain");
    to.text(&maker.principal.user, "user");
}

fn read_maker(from: &mut Decoder<'_>) -> Result<Authenticated, Malformed> {
    let (kind, level) = (from.u32("kind")?, from.u32("level")?);
    let kind = u8::try_from(kind).map(AuthType).map_err(|_| from.wrong("kind", kind))?;
    let known = u8::try_from(level).ok().and_then(Level::from_wire);
    let level = known.ok_or_else(|| from.wrong("level", level))?;
    let principal = Arc::new(Principal { domain: from.text("domain")?, user: from.text("user")? });
    Ok(Authenticated { principal, kind, level })
}

impl Body for Forwarded {
    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (interface, opnum) = (from.guid("interface")?, from.u16("opnum")?);
        let process = if from.pointer("process")? { Some(from.u64("process")?) } else { None };
        let host = from.text("host")?;
        let maker = if from.pointer("maker")? { Some(read_maker(from)?) } else { None };
        let heard = from.text("heard")?;
        let count = from.count(STUB_MAX, "stub")?;
        Ok(Self { interface, opnum, process, host, maker, heard, stub: from.bytes(count, "stub")?.to_vec() })
    }

    fn write(&self, to: &mut Encoder<'_>) {
        to.guid(&self.interface);
        to.u16(self.opnum);
        to.pointer(self.process.is_some());
        if let Some(process) = self.process {
            to.u64(process);
        }
        to.text(&self.host, "host");
        to.pointer(self.maker.is_some());
        if let Some(maker) = &self.maker {
            write_maker(maker, to);
        }
        to.text(&self.heard, "heard");
        to.count(self.stub.len(), STUB_MAX, "stub");
        to.bytes(&self.stub);
    }
}
