//! tarpc: bincode over a Unix socket.

use super::{Connection, Place, Ready, System, accept, count, failed, runtime};
use futures::StreamExt;
use obvia_bench::Error;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use tarpc::context::{self, Context};
use tarpc::serde_transport::unix;
use tarpc::server::{BaseChannel, Channel};
use tarpc::tokio_serde::formats::Bincode;
use tokio::runtime::Runtime;

#[tarpc::service]
trait Bench {
    async fn null();
    async fn calls() -> u64;
    async fn move_data(words: Vec<u32>) -> Vec<u32>;
}

pub(crate) struct Tarpc;

impl System for Tarpc {
    type Connection = Client;

    fn serve(place: &Place, ready: Ready<'_>) -> Result<(), Error> {
        runtime()?.block_on(async {
            let mut listener =
                unix::listen(&place.socket, Bincode::default).await.map_err(Error::system("listening"))?;
            // Without a limit of its own, a frame has at most 8 MiB.
            listener.config_mut().max_frame_length(usize::MAX);
            ready()?;
            let service = Service::default();
            while let Some(transport) = listener.next().await {
                let transport = transport.map_err(Error::system("accepting a client"))?;
                let channel = BaseChannel::with_defaults(transport).execute(service.clone().serve());
                tokio::spawn(channel.for_each(|response| async {
                    tokio::spawn(response);
                }));
            }
            Ok(())
        })
    }

    fn connect(place: &Place, _number: u32) -> Result<Self::Connection, Error> {
        let runtime = runtime()?;
        let client = runtime.block_on(async {
            let mut connect = unix::connect(&place.socket, Bincode::default);
            connect.config_mut().max_frame_length(usize::MAX);
            let transport = connect.await.map_err(Error::system("connecting"))?;
            Ok::<_, Error>(BenchClient::new(tarpc::client::Config::default(), transport).spawn())
        })?;
        Ok(Client { client, runtime })
    }
}

pub(crate) struct Client {
    client: BenchClient,
    runtime: Runtime,
}

impl Connection for Client {
    fn null(&mut self) -> Result<(), Error> {
        self.runtime.block_on(self.client.null(context::current())).map_err(failed)
    }

    fn move_data(&mut self, words: &mut [u32]) -> Result<(), Error> {
        let call = self.client.move_data(context::current(), words.to_vec());
        accept(words, &self.runtime.block_on(call).map_err(failed)?)
    }

    fn calls(&mut self) -> Result<u64, Error> {
        self.runtime.block_on(self.client.calls(context::current())).map_err(failed)
    }
}

#[derive(Clone, Default)]
struct Service {
    calls: Arc<AtomicU64>,
}

impl Bench for Service {
    async fn null(self, _: Context) {
        self.calls.fetch_add(1, Relaxed);
    }

    async fn calls(self, _: Context) -> u64 {
        self.calls.load(Relaxed)
    }

    async fn move_data(self, _: Context, mut words: Vec<u32>) -> Vec<u32> {
        self.calls.fetch_add(1, Relaxed);
        count(&mut words);
        words
    }
}
