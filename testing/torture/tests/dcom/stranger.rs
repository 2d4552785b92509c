//! A DCOM client without the runtime, which activates and pings objects by calls that it encodes
//! itself.

use obvia::orpc::activator::{ACTIVATION, RemoteActivation, RemoteActivationResults};
use obvia::orpc::object_exporter::{ComplexPing, INTERFACE, Request, Resolve, Response};
use obvia::orpc::{Body, Calls, Decoder, Encoder, ObjRef, OrpcThis, Resolved, StdObjRef};
use obvia::{GUID, HRESULT, Interface};
use obvia_rpc::ByteOrder;
use obvia_rpc::co::{DirectCalls, DirectError};
use obvia_rpc::status::Status;
use obvia_rpc::string_binding::StringBinding;
use obvia_rpc::uuid::{SyntaxId, Uuid};
use obvia_via::Deadline;
use obvia_via::stream::Stream;
use std::sync::Arc;
use torture::CLASS;
use torture::IFactory;

/// The time limit of a call: the time that a server may take to start on a busy machine.
pub const PATIENCE: Deadline = Deadline::after_secs(60);
/// The tower identifier of `ncacn_ip_tcp`.
const TCP: u16 = 7;

/// The connections to a host's service for activation, or to a server.
pub struct Stranger {
    activation: DirectCalls,
    exporter: DirectCalls,
}

/// Binds to one interface of the server at a binding of `ncacn_ip_tcp`.
pub fn bound(binding: &StringBinding, id: GUID) -> DirectCalls {
    let stream = Stream::connect(&binding.address, binding.endpoint.parse().unwrap(), PATIENCE).unwrap();
    let interface = SyntaxId { uuid: Uuid(id.to_u128()), version: 0 };
    DirectCalls::bind(Arc::new(stream), interface, PATIENCE).unwrap()
}

/// An activated object.
#[derive(Clone, Debug)]
pub struct Made {
    /// The object reference.
    pub std: StdObjRef,
    /// The string bindings of the object's process.
    pub ways: Vec<StringBinding>,
}

impl Stranger {
    /// Connects to the server at a binding of `ncacn_ip_tcp`.
    pub fn new(binding: &str) -> Self {
        let binding: StringBinding = binding.parse().unwrap();
        Self { activation: bound(&binding, ACTIVATION.id), exporter: bound(&binding, INTERFACE.id) }
    }

    /// Activates a factory.
    ///
    /// # Errors
    ///
    /// Returns the HRESULT of a failed activation.
    pub fn activate(&mut self) -> Result<Made, HRESULT> {
        let made = self.activate_as(&[IFactory::IID]).unwrap();
        if made.result.is_err() {
            return Err(made.result);
        }
        let reference = ObjRef::from_bytes(made.interfaces[0].1.as_ref().unwrap()).unwrap();
        let (std, _) = reference.standard().unwrap();
        assert_eq!(std.oxid, made.oxid);
        Ok(Made { std: *std, ways: made.bindings.unwrap().string_bindings().collect() })
    }

    /// Activates a factory, with a query for interfaces.
    ///
    /// # Errors
    ///
    /// Fails when the call itself fails.
    pub fn activate_as(&mut self, iids: &[GUID]) -> Result<RemoteActivationResults, DirectError> {
        self.activate_in(0, iids)
    }

    /// Fetches the class object, with a query for interfaces.
    ///
    /// # Errors
    ///
    /// Fails when the call itself fails.
    pub fn class_object(&mut self, iids: &[GUID]) -> Result<RemoteActivationResults, DirectError> {
        self.activate_in(u32::MAX, iids)
    }

    fn activate_in(&mut self, mode: u32, iids: &[GUID]) -> Result<RemoteActivationResults, DirectError> {
        let asked = RemoteActivation {
            this: OrpcThis::new(GUID::from_u128(1)),
            class: CLASS,
            object_name: None,
            storage: None,
            impersonation: 0,
            mode,
            iids: iids.to_vec(),
            protseqs: vec![TCP],
        };
        let stub = asked.encode(ByteOrder::Little).unwrap();
        let (order, stub) = self.activation.call((0, stub), PATIENCE)?;
        Ok(RemoteActivationResults::read(iids.len(), &mut Decoder::new(&stub, order)).unwrap())
    }

    /// Makes a call of the object exporter's resolver.
    ///
    /// # Errors
    ///
    /// Fails when the call itself fails.
    pub fn ask(&mut self, request: &Request) -> Result<Response, DirectError> {
        let stub = Encoder::encode(ByteOrder::Little, |to| request.write(to)).unwrap();
        let (order, stub) = self.exporter.call((request.opnum(), stub), PATIENCE)?;
        Ok(Response::read(request.opnum(), &mut Decoder::new(&stub, order)).unwrap())
    }

    fn exporter(&mut self, request: &Request) -> Response {
        self.ask(request).unwrap()
    }

    /// Resolves an OXID to the process's bindings.
    ///
    /// # Errors
    ///
    /// Returns the status of the resolver.
    pub fn resolve(&mut self, oxid: u64) -> Result<Resolved, Status> {
        match self.exporter(&Request::ResolveOxid2(Resolve { oxid, protseqs: vec![TCP] })) {
            Response::ResolveOxid2(found) => found,
            other => panic!("{other:?}"),
        }
    }

    /// Pings a set.
    pub fn ping(&mut self, set: u64) -> Status {
        match self.exporter(&Request::SimplePing { set }) {
            Response::SimplePing(status) => status,
            other => panic!("{other:?}"),
        }
    }

    /// Changes the ping set with the number `set`. If the number is 0, creates a ping set. Returns
    /// the set's number and the status.
    pub fn change(&mut self, set: u64, sequence: u16, added: &[u64], removed: &[u64]) -> (u64, Status) {
        let ping = ComplexPing { set, sequence, added: added.to_vec(), removed: removed.to_vec() };
        match self.exporter(&Request::ComplexPing(ping)) {
            Response::ComplexPing { set, status, .. } => (set, status),
            other => panic!("{other:?}"),
        }
    }
}
