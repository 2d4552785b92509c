//! iceoryx2: requests and responses through shared memory. Sides that poll look for messages all
//! the time, as in iceoryx2's own benchmark; sides that block also notify each other by events.

use super::{Connection, Place, Ready, System, accept, count, failed};
use iceoryx2::pending_response::PendingResponse;
use iceoryx2::port::client::Client as Calls;
use iceoryx2::port::listener::{Listener, ListenerWaitError};
use iceoryx2::port::notifier::{ListenerKey, Notifier};
use iceoryx2::port::port_name::PortName;
use iceoryx2::port::server::Server as Answers;
use iceoryx2::prelude::*;
use iceoryx2::service::port_factory::event::PortFactory as Events;
use iceoryx2::service::port_factory::request_response::PortFactory as Requests;
use obvia_bench::{Error, PATIENCE, Wait};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::Instant;

type Ipc = ipc::Service;
/// A request whose response is outstanding.
type Pending = PendingResponse<Ipc, [u32], Header, [u32], ()>;
/// The header of a request: the method in the upper half, the client's number in the lower half.
type Header = u64;

const NULL: u32 = 0;
const CALLS: u32 = 1;
const MOVE_DATA: u32 = 2;
/// The number of times that a poller looks for a message before it reads the clock.
const SPINS: u32 = 1 << 12;

pub(crate) struct Iceoryx2;

impl System for Iceoryx2 {
    type Connection = Client;

    fn serve(place: &Place, ready: Ready<'_>) -> Result<(), Error> {
        let services = Services::open(place)?;
        let answers =
            services.requests.server_builder().initial_max_slice_len(slots(place)).create().map_err(failed)?;
        let bells = services.bells(|arrivals, responses| {
            let listener = arrivals.listener_builder().create().map_err(failed)?;
            Ok((listener, responses.notifier_builder().create().map_err(failed)?))
        })?;
        let mut server = Server { answers, bells, keys: HashMap::new(), calls: 0, _node: services.node };
        ready()?;
        loop {
            server.answer()?;
        }
    }

    fn connect(place: &Place, number: u32) -> Result<Self::Connection, Error> {
        let services = Services::open(place)?;
        let calls = services.requests.client_builder().initial_max_slice_len(slots(place)).create().map_err(failed)?;
        let bells = services.bells(|arrivals, responses| {
            let listener = responses.listener_builder().name(&name(number)?).create().map_err(failed)?;
            Ok((listener, arrivals.notifier_builder().create().map_err(failed)?))
        })?;
        Ok(Client { calls, bells, number, _node: services.node })
    }
}

/// Returns the length of the longest array of a place, in words. The response of `calls` has two
/// words.
fn slots(place: &Place) -> usize {
    (place.bytes / 4).max(2)
}

/// Returns the name of a client's listener, by which the server finds the listener.
fn name(client: u32) -> Result<PortName, Error> {
    PortName::new(&format!("client-{client}")).map_err(failed)
}

/// The listener and the notifier of a side that blocks.
type Bells = (Listener<Ipc>, Notifier<Ipc>);

/// Returns the outcome of a wait. Signals that suspend and resume a process interrupt its waits.
fn waited(outcome: Result<u64, ListenerWaitError>) -> Result<(), Error> {
    match outcome {
        Ok(_) | Err(ListenerWaitError::InterruptSignal) => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

/// The services of a place, opened by one side.
struct Services {
    node: Node<Ipc>,
    requests: Requests<Ipc, [u32], Header, [u32], ()>,
    /// The events of arrived requests and of arrived responses, if the sides block.
    events: Option<(Events<Ipc>, Events<Ipc>)>,
}

impl Services {
    fn open(place: &Place) -> Result<Self, Error> {
        set_log_level(LogLevel::Error);
        let node = NodeBuilder::new()
            .config(&config(place)?)
            // Signals end the process at once. The run removes the files that remain.
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<Ipc>()
            .map_err(failed)?;
        let clients = place.clients as usize;
        let service = |kind: &str| ServiceName::new(&format!("{}/{kind}", place.name())).map_err(failed);
        let requests = node
            .service_builder(&service("requests")?)
            .request_response::<[u32], [u32]>()
            .request_user_header::<Header>()
            .max_servers(1)
            .max_clients(clients)
            .max_nodes(clients + 1)
            .max_active_requests_per_client(1)
            .max_response_buffer_size(1)
            .open_or_create()
            .map_err(failed)?;
        let events = |kind: &str, notifiers, listeners| {
            node.service_builder(&service(kind)?)
                .event()
                .max_notifiers(notifiers)
                .max_listeners(listeners)
                .max_nodes(clients + 1)
                .open_or_create()
                .map_err(failed)
        };
        let events = match place.wait {
            Wait::Block => Some((events("arrivals", clients, 1)?, events("responses", 1, clients)?)),
            _ => None,
        };
        Ok(Self { node, requests, events })
    }

    /// Makes a side's listener and notifier if the side blocks.
    fn bells(
        &self,
        make: impl FnOnce(&Events<Ipc>, &Events<Ipc>) -> Result<Bells, Error>,
    ) -> Result<Option<Bells>, Error> {
        self.events.as_ref().map(|(arrivals, responses)| make(arrivals, responses)).transpose()
    }
}

/// Returns a configuration with the run's own file names, by which the files are found and removed
/// after the run.
fn config(place: &Place) -> Result<Config, Error> {
    let folder = place.folder();
    let mut config = Config::default();
    let root = Path::new(folder.display().to_string().as_bytes()).map_err(failed)?;
    config.global.set_root_path(&root);
    let prefix = format!("{}_", folder.file_name().unwrap_or_default().to_string_lossy());
    config.global.prefix = FileName::new(prefix.as_bytes()).map_err(failed)?;
    // With these clean-ups, each of a thousand clients would examine all other clients on
    // connecting.
    config.global.node.cleanup_dead_nodes_on_creation = false;
    config.global.node.cleanup_dead_nodes_on_destruction = false;
    config.global.service.cleanup_dead_nodes_on_open = false;
    Ok(config)
}

struct Server {
    answers: Answers<Ipc, [u32], Header, [u32], ()>,
    bells: Option<Bells>,
    /// The listeners of the clients that have called.
    keys: HashMap<u32, ListenerKey>,
    calls: u64,
    _node: Node<Ipc>,
}

impl Server {
    /// Answers a request, or waits for one.
    fn answer(&mut self) -> Result<(), Error> {
        let Some(request) = self.answers.receive().map_err(failed)? else {
            // An event stays until it is read, so no request is missed.
            return self.bells.as_ref().map_or(Ok(()), |(arrivals, _)| waited(arrivals.blocking_wait(|_| ())));
        };
        let (method, client) = ((*request.user_header() >> 32) as u32, *request.user_header() as u32);
        self.calls += u64::from(method != CALLS);
        let mut words = [0; 2];
        let response = match method {
            MOVE_DATA => request.payload(),
            CALLS => {
                words = [self.calls as u32, (self.calls >> 32) as u32];
                &words[..]
            }
            _ => &words[..1],
        };
        let loan = request.loan_slice_uninit(response.len()).map_err(failed)?;
        let mut response = loan.write_from_slice(response);
        if method == MOVE_DATA {
            count(response.payload_mut());
        }
        response.send().map_err(failed)?;
        self.notify(client)
    }

    fn notify(&mut self, client: u32) -> Result<(), Error> {
        let Some((_, responses)) = &self.bells else { return Ok(()) };
        let key = match self.keys.entry(client) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(unknown) => *unknown.insert(key(responses, client)?),
        };
        responses.notify_single_listener(&key).map_err(failed)
    }
}

/// Finds the listener of a client.
fn key(responses: &Notifier<Ipc>, client: u32) -> Result<ListenerKey, Error> {
    let wanted = name(client)?;
    let mut found = None;
    responses.for_each_listener(|notifier, details| {
        if details.listener_name != wanted {
            return CallbackProgression::Continue;
        }
        found = Some(notifier.listener_key());
        CallbackProgression::Stop
    });
    found.ok_or_else(|| failed("a client has no listener"))
}

pub(crate) struct Client {
    calls: Calls<Ipc, [u32], Header, [u32], ()>,
    bells: Option<Bells>,
    number: u32,
    _node: Node<Ipc>,
}

impl Client {
    /// Sends a request.
    fn ask(&self, method: u32, words: &[u32]) -> Result<Pending, Error> {
        let mut request = self.calls.loan_slice_uninit(words.len()).map_err(failed)?;
        *request.user_header_mut() = u64::from(method) << 32 | u64::from(self.number);
        let pending = request.write_from_slice(words).send().map_err(failed)?;
        if let Some((_, arrivals)) = &self.bells {
            arrivals.notify().map_err(failed)?;
        }
        Ok(pending)
    }

    /// Waits for the response to a request. Returns the result of `read` for the response.
    fn wait<T>(&self, pending: &Pending, read: impl FnOnce(&[u32]) -> Result<T, Error>) -> Result<T, Error> {
        let mut since = None;
        for look in 1_u32.. {
            if let Some(response) = pending.receive().map_err(failed)? {
                return read(response.payload());
            }
            if let Some((responses, _)) = &self.bells {
                waited(responses.timed_wait(|_| (), PATIENCE))?;
            }
            let is_time = self.bells.is_some() || look.is_multiple_of(SPINS);
            if is_time && since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                break;
            }
        }
        Err(Error::Stalled { after: PATIENCE })
    }
}

impl Connection for Client {
    fn null(&mut self) -> Result<(), Error> {
        self.wait(&self.ask(NULL, &[0])?, |_| Ok(()))
    }

    fn move_data(&mut self, words: &mut [u32]) -> Result<(), Error> {
        self.wait(&self.ask(MOVE_DATA, words)?, |response| accept(words, response))
    }

    fn calls(&mut self) -> Result<u64, Error> {
        self.wait(&self.ask(CALLS, &[0])?, |response| match response {
            [low, high] => Ok(u64::from(*low) | u64::from(*high) << 32),
            _ => Err(failed("the count of calls has another length")),
        })
    }
}
