//! Flows of bulk data from a line's client to its server.

use super::line::Line;
use super::state::State;
use super::{tcp, vi};
use crate::Error;
use std::sync::Arc;
use std::thread::JoinHandle;

/// The protocol of a flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Transport {
    /// Messages of a virtual interface over UDP, with reliable delivery.
    Obvia,
    /// A TCP connection of the kernel, with CUBIC.
    Tcp,
}

impl Transport {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Obvia => "obvia",
            Self::Tcp => "TCP",
        }
    }
}

/// A flow whose client sends without a pause. The flow ends when it is dropped.
#[derive(Debug)]
pub(super) struct Flow {
    state: Arc<State>,
    threads: Vec<JoinHandle<Result<(), Error>>>,
}

impl Flow {
    /// Connects client and server, and starts the flow.
    pub(super) fn start(transport: Transport, line: &Line) -> Result<Self, Error> {
        match transport {
            Transport::Obvia => {
                let (client, server) = vi::connect(line)?;
                Self::run(|state| client.send(state), |state| server.receive(state))
            }
            Transport::Tcp => {
                let (client, server) = tcp::connect(line)?;
                Self::run(|state| tcp::send(client, state), |state| tcp::receive(server, state))
            }
        }
    }

    fn run(
        send: impl FnOnce(&State) -> Result<(), Error> + Send + 'static,
        receive: impl FnOnce(&State) -> Result<(), Error> + Send + 'static,
    ) -> Result<Self, Error> {
        let mut flow = Self { state: Arc::default(), threads: Vec::new() };
        flow.spawn("send", send)?;
        flow.spawn("receive", receive)?;
        Ok(flow)
    }

    fn spawn(
        &mut self,
        name: &str,
        work: impl FnOnce(&State) -> Result<(), Error> + Send + 'static,
    ) -> Result<(), Error> {
        let state = Arc::clone(&self.state);
        let run = move || match work(&state) {
            // After the end of the flow an error is no failure: the other side may have ended
            // first.
            Err(_) if state.has_ended() => Ok(()),
            outcome => outcome,
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
        self.threads.push(thread.map_err(Error::system("starting a thread"))?);
        Ok(())
    }

    /// Returns the number of bytes that the server has received.
    pub(super) fn received(&self) -> u64 {
        self.state.sum()
    }

    /// Ends the flow, and returns the failure of the first thread that failed.
    pub(super) fn end(mut self) -> Result<(), Error> {
        self.stop()
    }

    fn stop(&mut self) -> Result<(), Error> {
        self.state.end();
        let panicked = |_| Error::Failed { message: "a thread of the flow panicked".to_owned() };
        self.threads.drain(..).map(|thread| thread.join().map_err(panicked)?).fold(Ok(()), Result::and)
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        // A flow is dropped without `end` only after another failure, which explains more than an
        // error of `stop`.
        let _ = self.stop();
    }
}
