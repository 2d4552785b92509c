//! Queries of servers that need not be obvia processes: the endpoint mapper of a host, and the
//! management interface of a server.

use crate::client::canceller;
use crate::protocol::binding;
use crate::services::process;
use crate::transport::network;
use crate::types::error::{Error, Result, code};
use crate::types::registry::InterfaceInfo;
use obvia_rpc::co::DirectCalls;
use obvia_rpc::epm::{self, ANY_HOST, Entry, Lookup, Tower, Way};
use obvia_rpc::mgmt;
use obvia_rpc::octets::ByteOrder;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_rpc::uuid::{NDR, SyntaxId, Uuid};
use obvia_via::Deadline;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// The greatest number of entries that are read from a mapper.
const REGISTERED_MAX: usize = 16 << 10;

/// An entry of a host's endpoint mapper.
pub(crate) struct Registered {
    pub(crate) interface: SyntaxId,
    pub(crate) object: Uuid,
    pub(crate) annotation: String,
    pub(crate) binding: StringBinding,
}

/// Binds to an interface of a server. The thread's cancellers can end the wait for the server's
/// answers, but not the wait for another host to accept the connection.
fn bind(binding: &StringBinding, interface: SyntaxId, deadline: Deadline) -> Result<DirectCalls> {
    let directory = process::runtime()?.directory();
    let open = |deadline| network::stream_to(directory, binding, deadline);
    let stream = Arc::new(match binding.protocol {
        ProtocolSequence::Lrpc => canceller::in_attempts(deadline, open)?,
        _ => open(deadline)?,
    });
    canceller::cancellable(Arc::clone(&stream), || Ok(DirectCalls::bind(stream, interface, deadline)?))
}

/// Makes a call. The thread's cancellers can end the wait for its results.
pub(super) fn call(calls: &mut DirectCalls, call: (u16, Vec<u8>), deadline: Deadline) -> Result<(ByteOrder, Vec<u8>)> {
    canceller::cancellable(Arc::clone(calls.stream()), || Ok(calls.call(call, deadline)?))
}

/// Binds to an endpoint mapper.
pub(super) fn bind_to_mapper(mapper: &StringBinding, deadline: Deadline) -> Result<DirectCalls> {
    let calls = bind(mapper, epm::INTERFACE, deadline);
    calls.map_err(|error: Error| {
        error.with_detail(|why| format!("the endpoint mapper at {mapper} cannot be queried: {why}"))
    })
}

/// Queries the endpoint mapper of a host for an endpoint of an interface.
pub(super) fn map(
    mapper: &StringBinding,
    object: Uuid,
    info: &InterfaceInfo,
    way: Way,
    deadline: Deadline,
) -> Result<String> {
    let deadline = deadline.start();
    let wanted = Tower { interface: binding::syntax_of(info), transfer: NDR, way };
    let object = Some(object).filter(|object| object.0 != 0);
    let mut calls = bind_to_mapper(mapper, deadline).map_err(|error| {
        error.with_detail(|why| format!("the binding names no endpoint of {}, and {why}", info.name))
    })?;
    let (order, results) = call(&mut calls, epm::map_request(&wanted, object), deadline)?;
    let found = epm::mapped(order, &results)
        .map_err(|error| Error::from(error).with_detail(|why| format!("{}, at {mapper}: {why}", info.name)))?;
    // Only the endpoint is taken from the answer. Because of address translation (NAT), the mapper
    // may know its host by an address that this process cannot reach.
    let endpoints = found.into_iter().map(|way| match way {
        Way::Tcp(_, port) | Way::Udp(_, port) => port.to_string(),
        Way::Local(name) => name,
    });
    let usable = endpoints.into_iter().find(|endpoint| !endpoint.is_empty() && endpoint != "0");
    usable.ok_or_else(|| {
        let text = format!("the endpoint mapper at {mapper} has only empty endpoints of {}", info.name);
        Error::new(code::RPC_E_INVALID_DATA, text)
    })
}

/// Returns the entries of the endpoint mapper at a binding's host. The function stops reading when
/// it has `REGISTERED_MAX` entries or more.
pub(crate) fn registered_at(mut binding: StringBinding, deadline: Deadline) -> Result<Vec<Registered>> {
    let deadline = deadline.start();
    let option = super::take_mapper(&mut binding);
    let mut calls = bind_to_mapper(&super::mapper_of(&binding, option.as_deref())?, deadline)?;
    let (mut found, mut next) = (Vec::new(), Some(Lookup::default()));
    while let Some(lookup) = next.filter(|_| found.len() < REGISTERED_MAX) {
        let (order, results) = call(&mut calls, epm::lookup_request(lookup), deadline)?;
        let (entries, more) = epm::looked_up(order, &results)?;
        found.extend(entries.into_iter().map(|entry| registered(entry, &binding.address)));
        next = more;
    }
    Ok(found)
}

fn registered(entry: Entry, host: &str) -> Registered {
    let Entry { object, tower, annotation } = entry;
    let host = |address| match address {
        ANY_HOST => host.to_owned(),
        address => Ipv4Addr::from(address).to_string(),
    };
    let binding = match tower.way {
        Way::Local(name) => StringBinding::new(ProtocolSequence::Lrpc, "", name),
        Way::Tcp(address, port) => StringBinding::new(ProtocolSequence::IpTcp, host(address), port.to_string()),
        Way::Udp(address, port) => StringBinding::new(ProtocolSequence::IpUdp, host(address), port.to_string()),
    };
    Registered { interface: tower.interface, object, annotation, binding }
}

/// Returns the interfaces of the server at a binding, as its management interface lists them. The
/// management interface itself is left out.
pub(crate) fn interfaces_at(binding: &StringBinding, deadline: Deadline) -> Result<Vec<SyntaxId>> {
    let deadline = deadline.start();
    let mut calls = bind(binding, mgmt::INTERFACE, deadline)?;
    let (order, results) = call(&mut calls, mgmt::interfaces_request(), deadline)?;
    let mut found = mgmt::interfaces(order, &results).map_err(Error::from)?;
    found.retain(|interface| *interface != mgmt::INTERFACE);
    Ok(found)
}
