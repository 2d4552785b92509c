//! gRPC: tonic over a Unix socket.

use super::{Connection, Place, Ready, System, accept, count, failed, runtime};
use bench_client::BenchClient;
use bench_server::{Bench, BenchServer};
use obvia_bench::Error;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use tokio::net::UnixListener;
use tokio::runtime::Runtime;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};

#[allow(warnings, clippy::all, reason = "tonic generates this module")]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/peers.Bench.rs"));
}

use generated::{bench_client, bench_server};

/// The longest message. tonic's default limit is 4 MiB.
const MESSAGE_MAX: usize = 64 << 20;
/// The window of a stream and of a connection: a whole array, so that the sender does not wait for
/// the receiver's updates. HTTP/2's default is 64 KiB.
const WINDOW: u32 = 16 << 20;
/// The longest frame. HTTP/2's default is 16 KiB.
const FRAME_MAX: u32 = 1 << 20;

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Nothing {}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Count {
    #[prost(uint64, tag = "1")]
    calls: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Words {
    /// `repeated fixed32`, which protocol buffers pack.
    #[prost(fixed32, repeated, tag = "1")]
    words: Vec<u32>,
}

pub(crate) struct Grpc;

impl System for Grpc {
    type Connection = Client;

    fn serve(place: &Place, ready: Ready<'_>) -> Result<(), Error> {
        runtime()?.block_on(async {
            let listener = UnixListener::bind(&place.socket).map_err(Error::system("listening"))?;
            ready()?;
            let service = BenchServer::new(Service::default())
                .max_decoding_message_size(MESSAGE_MAX)
                .max_encoding_message_size(MESSAGE_MAX);
            Server::builder()
                .initial_stream_window_size(WINDOW)
                .initial_connection_window_size(WINDOW)
                .max_frame_size(FRAME_MAX)
                .add_service(service)
                .serve_with_incoming(UnixListenerStream::new(listener))
                .await
                .map_err(failed)
        })
    }

    fn connect(place: &Place, _number: u32) -> Result<Self::Connection, Error> {
        let runtime = runtime()?;
        let endpoint = Endpoint::from_shared(format!("unix://{}", place.socket.display())).map_err(failed)?;
        let endpoint = endpoint
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW)
            .max_frame_size(FRAME_MAX);
        let channel = runtime.block_on(endpoint.connect()).map_err(failed)?;
        let client =
            BenchClient::new(channel).max_decoding_message_size(MESSAGE_MAX).max_encoding_message_size(MESSAGE_MAX);
        Ok(Client { client, runtime })
    }
}

pub(crate) struct Client {
    client: BenchClient<Channel>,
    runtime: Runtime,
}

impl Connection for Client {
    fn null(&mut self) -> Result<(), Error> {
        self.runtime.block_on(self.client.null(Nothing {})).map(drop).map_err(failed)
    }

    fn move_data(&mut self, words: &mut [u32]) -> Result<(), Error> {
        let request = Words { words: words.to_vec() };
        let response = self.runtime.block_on(self.client.move_data(request)).map_err(failed)?;
        accept(words, &response.get_ref().words)
    }

    fn calls(&mut self) -> Result<u64, Error> {
        let response = self.runtime.block_on(self.client.calls(Nothing {})).map_err(failed)?;
        Ok(response.get_ref().calls)
    }
}

#[derive(Default)]
struct Service {
    calls: AtomicU64,
}

#[tonic::async_trait]
impl Bench for Service {
    async fn null(&self, _: Request<Nothing>) -> Result<Response<Nothing>, Status> {
        self.calls.fetch_add(1, Relaxed);
        Ok(Response::new(Nothing {}))
    }

    async fn calls(&self, _: Request<Nothing>) -> Result<Response<Count>, Status> {
        Ok(Response::new(Count { calls: self.calls.load(Relaxed) }))
    }

    async fn move_data(&self, request: Request<Words>) -> Result<Response<Words>, Status> {
        self.calls.fetch_add(1, Relaxed);
        let mut words = request.into_inner();
        count(&mut words.words);
        Ok(Response::new(words))
    }
}
