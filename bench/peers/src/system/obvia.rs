//! obvia, over shared memory.

use super::{Connection, Place, Ready, System, count, failed};
use obvia_bench::Error;
use obvia_bench::calls::policy;
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;

mod interface {
    obvia::include_idl!("peers");
}

use interface::{IBench, IBench_Impl};

pub(crate) struct Obvia;

impl System for Obvia {
    type Connection = IBench;

    fn serve(place: &Place, ready: Ready<'_>) -> Result<(), Error> {
        // When a signal ends this process, the process must still remove its names.
        obvia::catch_signals().map_err(failed)?;
        obvia::set_waiting(policy(place.wait));
        let _export = obvia::export(&place.name(), IBench::from(Bench::default())).map_err(failed)?;
        ready()?;
        obvia::wait_for_signal().map_err(failed)?;
        Ok(())
    }

    fn connect(place: &Place, _number: u32) -> Result<Self::Connection, Error> {
        // The first call sets up the connection, with the waiting policy that is set here.
        obvia::set_waiting(policy(place.wait));
        obvia::connect(&place.name()).map_err(failed)
    }
}

impl Connection for IBench {
    #[inline]
    fn null(&mut self) -> Result<(), Error> {
        self.Null().map_err(failed)
    }

    #[inline]
    fn move_data(&mut self, words: &mut [u32]) -> Result<(), Error> {
        self.MoveData(words).map_err(failed)
    }

    fn calls(&mut self) -> Result<u64, Error> {
        self.Calls().map(|calls| calls as u64).map_err(failed)
    }
}

#[obvia::object(IBench)]
#[derive(Default)]
struct Bench {
    calls: AtomicI64,
}

impl IBench_Impl for Bench_Impl {
    fn Null(&self) -> obvia::Result<()> {
        self.calls.fetch_add(1, Relaxed);
        Ok(())
    }

    fn Calls(&self) -> obvia::Result<i64> {
        Ok(self.calls.load(Relaxed))
    }

    fn MoveData(&self, words: &mut [u32]) -> obvia::Result<()> {
        self.calls.fetch_add(1, Relaxed);
        count(words);
        Ok(())
    }
}
