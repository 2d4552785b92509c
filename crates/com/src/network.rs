//! Networks: what this process reaches others by, and is reached by, besides the shared memory of its host.

use crate::error::{Error, Result, code};
use crate::runtime::Runtime;
use crate::server::accept_from;
use obvia_rpc::string_binding::{ProtocolSequence, StringBinding};
use obvia_via::provider::udp;
use obvia_via::window::{self, Options, Window};
use obvia_via::{Deadline, Nic};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The NICs that are open, and the addresses that are listened on.
#[derive(Default)]
pub(crate) struct Network {
    nics: Mutex<Vec<Opened>>,
    heard: Mutex<Vec<StringBinding>>,
}

/// A NIC, and what it was opened for.
struct Opened {
    protocol: ProtocolSequence,
    options: Vec<(String, String)>,
    nic: Nic,
}

/// A string binding that a user wrote.
pub(crate) fn parse(text: &str) -> Result<StringBinding> {
    text.parse().map_err(|why| Error::new(code::E_INVALIDARG, format!("`{text}` is no string binding: {why}")))
}

/// An address as providers take it.
fn socket_text(binding: &StringBinding) -> String {
    let StringBinding { address, endpoint, .. } = binding;
    if address.contains(':') { format!("[{address}]:{endpoint}") } else { format!("{address}:{endpoint}") }
}

/// The options of a UDP binding: `fault`, conditions that are put on its network on purpose, as in `fault=loss=5%`.
fn udp_options(options: &[(String, String)]) -> Result<udp::Options> {
    let mut found = udp::Options::default();
    for (option, value) in options {
        match option.as_str() {
            "fault" => found.fault = Some(value.parse()?),
            _ => return Err(Error::new(code::E_INVALIDARG, format!("ncacn_vi_udp has no option `{option}`"))),
        }
    }
    Ok(found)
}

/// Hosts that stand for every address of this one.
const ANY: [&str; 3] = ["", "0.0.0.0", "::"];

impl Network {
    fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The NIC for a binding: the options say which one, where there are several.
    fn nic(&self, binding: &StringBinding) -> Result<Nic> {
        let mut nics = Self::lock(&self.nics);
        let known = nics.iter().find(|nic| (nic.protocol, &nic.options) == (binding.protocol, &binding.options));
        if let Some(known) = known {
            return Ok(known.nic.clone());
        }
        let nic = match binding.protocol {
            ProtocolSequence::ViUdp => udp::open(&udp_options(&binding.options)?)?,
            protocol => {
                let text = format!("this program was built without {protocol}");
                return Err(Error::new(code::E_INVALIDARG, text));
            }
        };
        nics.push(Opened { protocol: binding.protocol, options: binding.options.clone(), nic: nic.clone() });
        Ok(nic)
    }

    /// Connects to a process.
    pub(crate) fn connect(&self, binding: &StringBinding, options: &Options, deadline: Deadline) -> Result<Window> {
        if binding.endpoint.is_empty() {
            return Err(Error::new(code::E_INVALIDARG, format!("the binding `{binding}` names no endpoint: [PORT]")));
        }
        let nic = self.nic(binding)?;
        Ok(window::connect(&nic, &socket_text(binding), options, deadline)?)
    }

    /// Listens. Returns the binding with the endpoint that was taken.
    fn listen(&self, runtime: &'static Runtime, mut binding: StringBinding) -> Result<StringBinding> {
        let nic = self.nic(&binding)?;
        if binding.endpoint.is_empty() {
            "0".clone_into(&mut binding.endpoint);
        }
        if binding.address.is_empty() {
            "0.0.0.0".clone_into(&mut binding.address);
        }
        let listener = nic.listen(&socket_text(&binding))?;
        let address = listener.address();
        if let Some((_, port)) = address.rsplit_once(':') {
            port.clone_into(&mut binding.endpoint);
        }
        accept_from(runtime, nic, listener)?;
        Self::lock(&self.heard).push(binding.clone());
        Ok(binding)
    }

    /// How a peer reaches this process, which is `local` to it. Where nobody has said what to listen on, the process listens on a
    /// port of the system's choice: a peer that has a reference must be able to call.
    pub(crate) fn bindings(&self, runtime: &'static Runtime, local: &str) -> Vec<StringBinding> {
        let heard = |network: &Self| {
            let mut heard = network.heard(Some(local));
            heard.retain(|binding| binding.address == local);
            heard
        };
        let known = heard(self);
        if !known.is_empty() {
            return known;
        }
        let protocols: Vec<_> = Self::lock(&self.nics).iter().map(|nic| (nic.protocol, nic.options.clone())).collect();
        let any = if local.contains(':') { "::" } else { "0.0.0.0" };
        for (protocol, options) in protocols {
            // Without one the peer learns at its first call that this process cannot be reached.
            let _ = self.listen(runtime, StringBinding { options, ..StringBinding::new(protocol, any, "0") });
        }
        heard(self)
    }

    /// The bindings that are listened on, for somebody to whom this process is `local`.
    pub(crate) fn heard(&self, local: Option<&str>) -> Vec<StringBinding> {
        let mut heard = Self::lock(&self.heard).clone();
        for binding in &mut heard {
            if let Some(local) = local.filter(|_| ANY.contains(&binding.address.as_str())) {
                local.clone_into(&mut binding.address);
            }
        }
        heard
    }
}

/// Lets processes of other hosts connect to what this process exports: `ncacn_vi_udp:0.0.0.0[5555]`, or without an endpoint to have one
/// chosen. Returns the binding with the endpoint that was taken.
///
/// Whoever reaches the address can call every object that is exported; there is no authentication yet.
///
/// # Errors
///
/// E_INVALIDARG for a binding that is none, or for a protocol sequence that this program was built without; or why
/// the address cannot be had.
pub fn listen(binding: &str) -> Result<String> {
    let runtime = Runtime::of_process()?;
    let parsed = parse(binding)?;
    if parsed.protocol == ProtocolSequence::ViShm {
        return Err(Error::new(
            code::E_INVALIDARG,
            "shared memory is always listened on, by the names that are exported",
        ));
    }
    Ok(runtime.network().listen(runtime, parsed)?.to_string())
}
