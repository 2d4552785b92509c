//! Objects for interfaces of functions: Samba's `rpcecho`, and `Counters`, which has context
//! handles.

use crate::{
    Account, Counters, Counters_Impl, Enum1, Enum2, Enum3, Info, Info1, Info2, Info3, Info4, Info5, Info6, Info7,
    Surrounding, Way, rpcecho, rpcecho_Impl,
};
use obvia::{ContextHandle, Error, HRESULT, Owned, Result, U16CStr, U16CString, code};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU32, Ordering};
use std::time::Duration;

/// An implementation of rpcecho with the results that Samba's tests expect.
#[obvia::object(rpcecho)]
#[derive(Default)]
pub struct Echo;

impl rpcecho_Impl for Echo_Impl {
    fn AddOne(&self, number: u32) -> Result<u32> {
        Ok(number.wrapping_add(1))
    }

    fn EchoData(&self, given: &[u8], back: &mut [u8]) -> Result<()> {
        back.copy_from_slice(given);
        Ok(())
    }

    fn SinkData(&self, _data: &[u8]) -> Result<()> {
        Ok(())
    }

    fn SourceData(&self, data: &mut [u8]) -> Result<()> {
        data.iter_mut().enumerate().for_each(|(at, place)| *place = at as u8);
        Ok(())
    }

    fn TestCall(&self, text: &U16CStr) -> Result<U16CString> {
        Ok(text.to_owned())
    }

    fn TestCall2(&self, level: u16) -> Result<(Info<'static>, u32)> {
        let info = match level {
            1 => Info::Info1(Info1 { v: 10 }),
            2 => Info::Info2(Info2 { v: 20 }),
            3 => Info::Info3(Info3 { v: 30 }),
            4 => Info::Info4(Info4 { v: 40 }),
            5 => Info::Info5(Info5 { v1: 50, v2: 60 }),
            6 => Info::Info6(Info6 { v1: 70, info1: Info1 { v: 80 } }),
            7 => Info::Info7(Info7 { v1: 80, info4: Info4 { v: 90 } }),
            _ => return Err(Error::new(code::E_INVALIDARG, "there is no such level")),
        };
        Ok((info, 0))
    }

    fn TestSleep(&self, seconds: u32) -> Result<u32> {
        std::thread::sleep(Duration::from_secs(seconds.into()));
        Ok(seconds)
    }

    fn TestEnum(&self, _foo1: &mut Enum1, foo2: &mut Enum2, foo3: &mut Enum3<'static>) -> Result<()> {
        foo2.e1 = Enum1::ECHO_ENUM2;
        match foo3 {
            Enum3::E1(one) => *one = Enum1::ECHO_ENUM2,
            Enum3::E2(two) => two.e1 = Enum1::ECHO_ENUM2,
            Enum3::Borrowed__(never, _) => match *never {},
        }
        Ok(())
    }

    fn TestSurrounding(&self, data: &mut Owned<Surrounding>) -> Result<()> {
        let twice = data.with(|data| data.surrounding().iter().chain(data.surrounding()).copied().collect::<Vec<_>>());
        *data = Surrounding::new(&twice)?;
        Ok(())
    }

    fn TestDoublePointer(&self, data: &Option<&Option<&u16>>) -> Result<u16> {
        Ok(data.and_then(|inner| *inner).map_or(0, |number| *number))
    }
}

/// An object that keeps counters for its clients.
#[obvia::object(Counters)]
#[derive(Default)]
pub struct Keeper {
    alive: Arc<AtomicU32>,
    told: AtomicI32,
}

/// A counter of one client.
struct Counter {
    first: i64,
    next: AtomicI64,
    alive: Arc<AtomicU32>,
}

impl Counter {
    fn account(&self) -> Account {
        Account { first: self.first, steps: (self.next.load(Ordering::Relaxed) - self.first) as i32 }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Counters_Impl for Keeper_Impl {
    fn Open(&self, first: i64) -> Result<(ContextHandle, u32)> {
        if first < 0 {
            return Ok((ContextHandle::NULL, 22));
        }
        self.alive.fetch_add(1, Ordering::Relaxed);
        let counter = Counter { first, next: AtomicI64::new(first), alive: Arc::clone(&self.alive) };
        Ok((ContextHandle::new(counter)?, 0))
    }

    fn Next(&self, counter: ContextHandle) -> Result<i64> {
        Ok(counter.state::<Counter>()?.next.fetch_add(1, Ordering::Relaxed))
    }

    fn Close(&self, counter: &mut ContextHandle) -> Result<Account> {
        let account = counter.state::<Counter>()?.account();
        counter.end()?;
        Ok(account)
    }

    fn Alive(&self) -> Result<u32> {
        Ok(self.alive.load(Ordering::Relaxed))
    }

    fn Turn(&self, way: Way) -> Result<Way> {
        Ok(Way(-way.0))
    }

    fn Tell(&self, value: i32) -> Result<()> {
        self.told.store(value, Ordering::Relaxed);
        Ok(())
    }

    fn Told(&self) -> Result<i32> {
        Ok(self.told.load(Ordering::Relaxed))
    }

    fn Fail(&self, code: HRESULT) -> Result<()> {
        if code.0 < 0 { Err(code.into()) } else { Ok(()) }
    }

    fn Fault(&self, code: HRESULT) -> Result<()> {
        Err(Error::new(code, "as it was told"))
    }
}
