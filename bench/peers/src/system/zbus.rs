//! D-Bus: zbus from peer to peer over a Unix socket, without a bus.

use super::{Connection as Calls, Place, Ready, System, accept, count, failed, runtime};
use obvia_bench::Error;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use tokio::net::UnixListener;
use tokio::runtime::Runtime;
use zbus::connection::Builder;
use zbus::{Connection, Guid, Message};

const PATH: &str = "/bench";
const INTERFACE: &str = "obvia.peers.Bench";

pub(crate) struct Zbus;

impl System for Zbus {
    type Connection = Client;

    fn serve(place: &Place, ready: Ready<'_>) -> Result<(), Error> {
        runtime()?.block_on(async {
            let listener = UnixListener::bind(&place.socket).map_err(Error::system("listening"))?;
            ready()?;
            let bench = Bench::default();
            loop {
                let (stream, _) = listener.accept().await.map_err(Error::system("accepting a client"))?;
                let stream = stream.into_std().map_err(Error::system("accepting a client"))?;
                tokio::spawn(serve(stream, bench.clone()));
            }
        })
    }

    fn connect(place: &Place, _number: u32) -> Result<Self::Connection, Error> {
        let runtime = runtime()?;
        let connection = runtime.block_on(async {
            let stream = UnixStream::connect(&place.socket).map_err(Error::system("connecting"))?;
            Builder::unix_stream(stream).p2p().build().await.map_err(failed)
        })?;
        Ok(Client { connection, runtime })
    }
}

/// Serves a client as long as the process runs. The connection's own tasks execute the calls.
async fn serve(stream: UnixStream, bench: Bench) -> zbus::Result<()> {
    let guid = Guid::generate();
    let connection = Builder::unix_stream(stream).server(guid).p2p().serve_at(PATH, bench).build().await?;
    std::future::pending::<()>().await;
    drop(connection);
    Ok(())
}

pub(crate) struct Client {
    connection: Connection,
    runtime: Runtime,
}

impl Client {
    fn call<A>(&self, method: &str, arguments: &A) -> Result<Message, Error>
    where
        A: serde::Serialize + zbus::zvariant::DynamicType,
    {
        let call = self.connection.call_method(None::<&str>, PATH, Some(INTERFACE), method, arguments);
        self.runtime.block_on(call).map_err(failed)
    }
}

impl Calls for Client {
    fn null(&mut self) -> Result<(), Error> {
        self.call("Null", &()).map(drop)
    }

    fn move_data(&mut self, words: &mut [u32]) -> Result<(), Error> {
        let response = self.call("MoveData", &&*words)?;
        let received: Vec<u32> = response.body().deserialize().map_err(failed)?;
        accept(words, &received)
    }

    fn calls(&mut self) -> Result<u64, Error> {
        self.call("Calls", &())?.body().deserialize().map_err(failed)
    }
}

#[derive(Clone, Default)]
struct Bench {
    calls: Arc<AtomicU64>,
}

#[zbus::interface(name = "obvia.peers.Bench")]
impl Bench {
    fn null(&self) {
        self.calls.fetch_add(1, Relaxed);
    }

    fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }

    fn move_data(&self, mut words: Vec<u32>) -> Vec<u32> {
        self.calls.fetch_add(1, Relaxed);
        count(&mut words);
        words
    }
}
