//! A provider over libfabric: TCP, shared memory, and every adapter that libfabric has a provider
//! for.
//!
//! With a connection-oriented provider of libfabric (`tcp`, `verbs`), a VI is an endpoint of type
//! `FI_EP_MSG`. With a connectionless one (`shm`, `efa`, `psm3`), a VI is an endpoint of type
//! `FI_EP_RDM` with a single peer. A socket introduces the two endpoints to each other. The socket
//! stays open: end of file on it shows that the peer's process is gone. Each protection tag has a
//! domain of its own, so that a peer reaches no region of another tag. `docs/fabric.md` has the
//! properties of each provider.

mod contexts;
mod endpoint;
mod endpoint_pair;
mod ffi;
mod handle;
mod introduction;
mod link;
mod objects;
mod port;
mod registration;
mod segment;
mod side_channel;
mod stream;

use crate::attributes::{Attributes, Reliability};
use crate::deadline::Deadline;
use crate::memory::{MemoryHandle, Region};
use crate::nic::Nic;
use crate::spi::{Listening, Offer, Port, Provider};
use crate::sync::lock;
use crate::{Error, Memory};
use endpoint::PIECES_MAX;
use ffi::Capabilities;
use objects::{Domain, Fabric, Info, Query};
use registration::TagDomain;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// The options of a fabric.
#[derive(Clone, Debug)]
pub struct Options {
    /// libfabric's name of the provider: `tcp`, `shm`, `verbs`, `efa`, `psm3`, `tcp;ofi_rxm`.
    /// `fi_info -l` lists them.
    pub provider: String,
    /// The domain, which is libfabric's word for an adapter: `mlx5_0`, `eth0`. The default is the
    /// first.
    pub domain: Option<String>,
    /// The requested maximum length of a message or RDMA, in bytes. The provider can lower it.
    pub max_transfer: u32,
    /// The requested maximum number of descriptors of a queue. The provider can lower it.
    pub queue_depth: usize,
    /// The time without a sign of life after which a peer counts as gone.
    pub silence: Duration,
    /// The directory for the names of listeners. The default is the directory of this user's names.
    pub directory: Option<PathBuf>,
}

impl Options {
    /// Returns the default options for a provider.
    pub fn new(provider: impl Into<String>) -> Self {
        Self {
            provider: provider.into(),
            domain: None,
            max_transfer: 16 << 20,
            queue_depth: 128,
            silence: Duration::from_secs(5),
            directory: None,
        }
    }
}

/// Opens a fabric.
///
/// # Errors
///
/// [`Error::NotFound`] when libfabric has no such provider on this host, or the provider lacks
/// messages or RDMA; [`Error::Unsupported`] when the provider has a requirement that this module
/// does not meet.
pub fn open(options: &Options) -> Result<Nic, Error> {
    Ok(Nic::open(Box::new(Provided { state: NicState::open(options)? })))
}

/// The state that connections, listeners and regions of a NIC share.
#[derive(Debug)]
struct NicState {
    options: Options,
    attributes: Attributes,
    capabilities: Capabilities,
    // Whether the provider reports the delivery of sends. Later queries ask for the same values of
    // `delivers` and `ordered` as the query that found the provider.
    delivers: bool,
    // Whether messages without a receive descriptor are detected by a probe receive, which requires
    // that receives can be cancelled.
    has_probe_receive: bool,
    ordered: bool,
    domains: Mutex<HashMap<u64, Weak<TagDomain>>>,
    info: Info,
    fabric: Arc<Fabric>,
}

/// The kinds of endpoints to search for: with connections (`FI_EP_MSG`), or without. Those with
/// connections come first, because they correspond to VIs.
const KINDS: [bool; 2] = [true, false];
/// The combinations of properties to request, as (order of writes and sends, report of delivery),
/// with the strongest first. The first combination that the provider supports is used.
const WISHES: [(bool, bool); 4] = [(true, true), (false, true), (true, false), (false, false)];

impl NicState {
    fn open(options: &Options) -> Result<Arc<Self>, Error> {
        let unsupported = |what| Err(Error::Unsupported { provider: "fabric", what });
        for is_msg in KINDS {
            for (ordered, delivered) in WISHES {
                let query = Query {
                    provider: &options.provider,
                    domain: options.domain.as_deref(),
                    is_msg,
                    ordered,
                    delivered,
                    ..Query::default()
                };
                let Some(info) = Info::find(query)? else { continue };
                let capabilities = info.capabilities();
                if capabilities.unsupported != 0 {
                    return unsupported("memory registrations that are independent of endpoints and devices");
                }
                if capabilities.segments < 2 || capabilities.data_bytes < 4 {
                    return unsupported("gathering of segments, or immediate data");
                }
                let attributes = attributes(&info, &capabilities, options);
                let fabric = Fabric::open(&info)?;
                return Ok(Arc::new(Self {
                    options: options.clone(),
                    has_probe_receive: ["fabric/tcp", "fabric/shm"].contains(&attributes.provider),
                    attributes,
                    capabilities,
                    delivers: delivered,
                    ordered,
                    domains: Mutex::default(),
                    info,
                    fabric,
                }));
            }
        }
        Err(Error::NotFound { name: format!("libfabric's provider {}", options.provider) })
    }

    /// Returns the [`Info`] of the provider for an address, if there is one.
    fn find(&self, node: &str, service: &str, is_source: bool) -> Result<Option<Info>, Error> {
        Info::find(Query {
            provider: &self.options.provider,
            domain: self.options.domain.as_deref(),
            node: Some(node),
            service: Some(service),
            is_msg: self.is_msg(),
            is_source,
            ordered: self.ordered,
            delivered: self.delivers,
        })
    }

    fn is_msg(&self) -> bool {
        self.capabilities.is_msg != 0
    }

    fn is_shm(&self) -> bool {
        self.attributes.provider == "fabric/shm"
    }

    /// Whether the two providers of a connection exchange messages by writes to each other's
    /// `Page`. Such messages require endpoints with connections, keys that the page's owner
    /// chooses, RDMA by offsets instead of addresses, and writes that consume no receive.
    fn has_page(&self) -> bool {
        let caps = &self.capabilities;
        self.is_msg() && caps.provider_keys == 0 && caps.virtual_address == 0 && caps.consumes == 0
    }

    /// Returns the domain of a protection tag.
    fn domain(&self, tag: u64) -> Result<Arc<TagDomain>, Error> {
        let mut domains = lock(&self.domains);
        if let Some(found) = domains.get(&tag).and_then(Weak::upgrade) {
            return Ok(found);
        }
        let (caps, domain) = (&self.capabilities, Domain::open(&self.fabric, &self.info)?);
        let found = Arc::new(TagDomain::open(domain, self.has_page(), caps.local != 0, self.attributes.max_transfer)?);
        domains.retain(|_, domain| domain.strong_count() > 0);
        domains.insert(tag, Arc::downgrade(&found));
        Ok(found)
    }

    /// Returns the number of completions for which an endpoint's completion queue needs room.
    fn completions(&self) -> usize {
        self.attributes.queue_depth * 4
    }
}

fn attributes(info: &Info, capabilities: &Capabilities, options: &Options) -> Attributes {
    let name = info.provider();
    let provider = match name.as_str() {
        "tcp" => "fabric/tcp",
        "shm" => "fabric/shm",
        "verbs" => "fabric/verbs",
        _ => "fabric",
    };
    // The length plus one must fit in 32 bits: see `FabricPort::post_send`.
    let most = u32::try_from(capabilities.max_message).unwrap_or(u32::MAX).min(u32::MAX - 1);
    // Half of the send queue is kept free for announcements of RDMA writes and for messages between
    // the two providers.
    let depth = (capabilities.send_depth / 2).min(capabilities.receive_depth).max(1) as usize;
    Attributes {
        provider,
        max_transfer: options.max_transfer.min(most),
        // The last piece of each receive is the overflow memory, which takes the excess of a
        // message that is too long.
        max_segments: (capabilities.segments as usize).min(PIECES_MAX) - 1,
        queue_depth: options.queue_depth.clamp(1, depth),
        rdma_write: true,
        rdma_read: true,
        // Reliable reception cannot be offered: a message may count as delivered although it was
        // too long for its receive, and its sender would learn that only after the completion.
        reliability: &[Reliability::ReliableDelivery],
    }
}

/// The tag of VIs for which the caller passes no protection tag.
const NO_TAG: u64 = 0;

#[derive(Debug)]
struct Provided {
    state: Arc<NicState>,
}

impl Provider for Provided {
    fn attributes(&self) -> &Attributes {
        &self.state.attributes
    }

    fn listen(&self, discriminator: &str) -> Result<Box<dyn Listening>, Error> {
        if self.state.is_msg() {
            return Ok(Box::new(link::Listener::open(&self.state, discriminator)?));
        }
        Ok(Box::new(introduction::Listener::open(&self.state, discriminator)?))
    }

    fn connect(&self, address: &str, own: &Offer, deadline: Deadline) -> Result<(Box<dyn Port>, Offer), Error> {
        self.connect_tagged(NO_TAG, address, own, deadline)
    }

    fn connect_tagged(
        &self,
        tag: u64,
        address: &str,
        own: &Offer,
        deadline: Deadline,
    ) -> Result<(Box<dyn Port>, Offer), Error> {
        let deadline = deadline.start();
        if self.state.is_msg() {
            return link::connect(&self.state, tag, address, own, deadline);
        }
        introduction::connect(&self.state, tag, address, own, deadline)
    }

    fn memory(&self, length: usize) -> Result<Memory, Error> {
        Memory::new(length)
    }

    fn register(&self, region: &Region) -> Result<Option<MemoryHandle>, Error> {
        let tag = self.state.domain(region.tag())?;
        let caps = &self.state.capabilities;
        registration::register(&tag, region, caps.local != 0, caps.virtual_address != 0)
    }

    fn deregister(&self, region: &Arc<Region>) {
        registration::deregister(region);
    }
}
