//! Cap'n Proto: capnp-rpc over a Unix socket.

use super::{Connection, Place, Ready, System, accept, count, failed, runtime};
use adapters::compat::TokioAsyncReadCompatExt;
use capnp_rpc::rpc_twoparty_capnp::Side;
use capnp_rpc::{RpcSystem, twoparty};
use futures::AsyncReadExt;
use futures::io::{BufReader, BufWriter};
use obvia_bench::Error;
use peers_capnp::bench;
use std::cell::Cell;
use std::future::Future;
use std::rc::Rc;
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::Runtime;
use tokio::task::{LocalSet, spawn_local};
use tokio_adapters as adapters;

/// The compiled schema `peers.capnp`. The result is part of the source because the compilation
/// needs the program `capnp`. A test compiles the schema again.
#[allow(warnings, clippy::all, reason = "capnpc generates this module")]
mod peers_capnp {
    include!("capnp/peers_capnp.in");
}

pub(crate) struct CapnProto;

impl System for CapnProto {
    type Connection = Client;

    fn serve(place: &Place, ready: Ready<'_>) -> Result<(), Error> {
        LocalSet::new().block_on(&runtime()?, async {
            let listener = UnixListener::bind(&place.socket).map_err(Error::system("listening"))?;
            ready()?;
            let bench: bench::Client = capnp_rpc::new_client(Bench::default());
            loop {
                let (stream, _) = listener.accept().await.map_err(Error::system("accepting a client"))?;
                spawn_local(RpcSystem::new(network(stream, Side::Server), Some(bench.clone().client)));
            }
        })
    }

    fn connect(place: &Place, _number: u32) -> Result<Self::Connection, Error> {
        let (runtime, tasks) = (runtime()?, LocalSet::new());
        let bench = tasks.block_on(&runtime, async {
            let stream = UnixStream::connect(&place.socket).await.map_err(Error::system("connecting"))?;
            let mut system = RpcSystem::new(network(stream, Side::Client), None);
            let bench = system.bootstrap(Side::Server);
            spawn_local(system);
            Ok::<bench::Client, Error>(bench)
        })?;
        Ok(Client { bench, tasks, runtime })
    }
}

fn network(stream: UnixStream, side: Side) -> Box<twoparty::VatNetwork<impl futures::AsyncRead + Unpin>> {
    let (reader, writer) = stream.compat().split();
    // The documentation of `VatNetwork` recommends buffered streams.
    let (reader, writer) = (BufReader::new(reader), BufWriter::new(writer));
    // A message may have 64 MiB, far more than the largest array.
    Box::new(twoparty::VatNetwork::new(reader, writer, side, capnp::message::ReaderOptions::new()))
}

pub(crate) struct Client {
    bench: bench::Client,
    tasks: LocalSet,
    runtime: Runtime,
}

impl Client {
    fn wait<T>(&self, call: impl Future<Output = Result<T, capnp::Error>>) -> Result<T, Error> {
        self.tasks.block_on(&self.runtime, call).map_err(failed)
    }
}

impl Connection for Client {
    fn null(&mut self) -> Result<(), Error> {
        self.wait(self.bench.null_request().send().promise).map(drop)
    }

    fn move_data(&mut self, words: &mut [u32]) -> Result<(), Error> {
        let mut request = self.bench.move_data_request();
        // A copy of the whole array; `set_words` would write word after word.
        let mut array = request.get().init_words(words.len() as u32);
        array.as_slice().ok_or_else(|| failed("an array is not contiguous"))?.copy_from_slice(words);
        let response = self.wait(request.send().promise)?;
        let received = response.get().and_then(|results| results.get_words()).map_err(failed)?;
        accept(words, received.as_slice().unwrap_or_default())
    }

    fn calls(&mut self) -> Result<u64, Error> {
        let response = self.wait(self.bench.calls_request().send().promise)?;
        response.get().map(|results| results.get_count()).map_err(failed)
    }
}

#[derive(Default)]
struct Bench {
    calls: Cell<u64>,
}

impl bench::Server for Bench {
    async fn null(self: Rc<Self>, _: bench::NullParams, _: bench::NullResults) -> Result<(), capnp::Error> {
        self.calls.set(self.calls.get() + 1);
        Ok(())
    }

    async fn calls(
        self: Rc<Self>,
        _: bench::CallsParams,
        mut results: bench::CallsResults,
    ) -> Result<(), capnp::Error> {
        results.get().set_count(self.calls.get());
        Ok(())
    }

    async fn move_data(
        self: Rc<Self>,
        params: bench::MoveDataParams,
        mut results: bench::MoveDataResults,
    ) -> Result<(), capnp::Error> {
        self.calls.set(self.calls.get() + 1);
        let words = params.get()?.get_words()?;
        let mut results = results.get();
        results.set_words(words)?;
        if let Some(words) = results.get_words()?.as_slice() {
            count(words);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::{env, fs};

    const COMPILED: &str = "src/system/capnp/peers_capnp.in";

    /// Compiles the schema. With `OBVIA_BLESS=1`, writes the result to the source.
    #[test]
    #[ignore = "needs the program `capnp`"]
    fn the_module_is_compiled_from_the_schema() {
        let folder = Path::new(env!("OUT_DIR"));
        capnpc::CompilerCommand::new()
            .file("peers.capnp")
            .output_path(folder)
            .default_parent_module(["system", "capnp"].map(str::to_owned).to_vec())
            .run()
            .unwrap();
        let compiled = fs::read_to_string(folder.join("peers_capnp.rs")).unwrap();
        if env::var_os("OBVIA_BLESS").is_some() {
            fs::write(COMPILED, &compiled).unwrap();
        }
        // Comments are not compared, because one of them contains the version of `capnp`.
        let code = |text: &str| text.lines().filter(|line| !line.starts_with("//")).collect::<Vec<_>>().join("\n");
        let source = fs::read_to_string(COMPILED).unwrap();
        assert!(code(&compiled) == code(&source), "`OBVIA_BLESS=1` writes {COMPILED} anew");
    }
}
