//! A server of objects for clients that others wrote and that speak DCOM.
//!
//! `interop-objects [--user NAME PASSWORD] [--pinging MILLISECONDS] [--count SOCKET] BINDING ...` serves until it is ended. Each line that it writes is
//! a binding with the endpoint that was taken; after that, whenever it is sent a line, it writes how many objects there are. With `--user` this user
//! has an account; with `--pinging` clients have to ping that often, and may fail to three times; with `--count` it is a server that was
//! started on demand, whoever connects to the socket is told how many objects there are, and it ends when nobody uses it.

use interop::objects::{ICounter, ICounter_Impl, INamed, INamed_Impl};
use obvia::dcom::{Pinging, register_class, serve_until_idle, set_pinging};
use obvia::security::{AccountTable, Callers, NtHash, set_access, set_accounts, set_class_access};
use obvia::{GUID, code};
use std::io::{BufRead, Write};
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering};
use std::time::Duration;
use windows_core::{Interface, implement};

/// The class of counters.
const CLASS: GUID = GUID::from_u128(0x5b0e_6b3c_0d5e_4c5a_9f3e_6f1d_0c7a_2b01);
/// The class whose objects nobody may call.
const CLOSED: GUID = GUID::from_u128(0x5b0e_6b3c_0d5e_4c5a_9f3e_6f1d_0c7a_2b02);
/// The class of which nobody may have objects made.
const FORBIDDEN: GUID = GUID::from_u128(0x5b0e_6b3c_0d5e_4c5a_9f3e_6f1d_0c7a_2b03);

/// How long a server that was started on demand stays when nobody uses it.
const IDLE: Duration = Duration::from_secs(5);

static LIVE: AtomicI64 = AtomicI64::new(0);

#[implement(ICounter, INamed)]
struct Counter(AtomicI32);

impl Counter {
    fn make() -> ICounter {
        LIVE.fetch_add(1, Ordering::SeqCst);
        Self(AtomicI32::new(0)).into()
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

impl ICounter_Impl for Counter_Impl {
    fn Add(&self, number: i32) -> obvia::Result<i32> {
        if number == 0 {
            return Err(obvia::Error::new(code::E_INVALIDARG, "nothing is added"));
        }
        Ok(self.0.fetch_add(number, Ordering::SeqCst).wrapping_add(number))
    }

    fn Mixed(&self, narrow: u8, wide: i64, text: &obvia::U16CStr) -> obvia::Result<i64> {
        Ok(wide.wrapping_add(narrow.into()).wrapping_add(text.len() as i64))
    }

    fn Make(&self) -> obvia::Result<ICounter> {
        Ok(Counter::make())
    }

    fn AddTo(&self, other: Option<&ICounter>, number: i32) -> obvia::Result<i32> {
        other.ok_or(code::E_POINTER)?.Add(number)
    }

    fn MoveData(&self, data: &mut [u32]) -> obvia::Result<()> {
        data.iter_mut().for_each(|element| *element = element.wrapping_add(1));
        Ok(())
    }
}

impl INamed_Impl for Counter_Impl {
    fn Name(&self) -> obvia::Result<obvia::U16CString> {
        Ok(obvia::u16cstr!("a counter").to_owned())
    }
}

/// Tells whoever connects how many objects there are.
fn count_at(socket: &str) -> std::io::Result<()> {
    // One that was killed has left it.
    let _ = std::fs::remove_file(socket);
    let listener = UnixListener::bind(socket)?;
    std::thread::spawn(move || {
        for mut asker in listener.incoming().flatten() {
            // Who asks may be gone.
            let _ = writeln!(asker, "{}", LIVE.load(Ordering::SeqCst));
        }
    });
    Ok(())
}

fn main() -> obvia::Result<()> {
    let mut words = std::env::args().skip(1).peekable();
    if words.next_if_eq("--user").is_some() {
        let (user, password) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        set_accounts(AccountTable::default().with(&user, NtHash::of_password(&password)));
    }
    if words.next_if_eq("--pinging").is_some() {
        let period = words.next().and_then(|text| text.parse().ok()).map(Duration::from_millis);
        set_pinging(Pinging { period: period.ok_or(code::E_INVALIDARG)?, missed: 3 })?;
    }
    let is_started = words.next_if_eq("--count").is_some();
    if is_started {
        count_at(&words.next().unwrap_or_default()).map_err(|_| code::E_INVALIDARG)?;
    }
    let object = Counter::make().cast()?;
    let _class = register_class(CLASS, Some(&object), || Ok(Counter::make()))?;
    let make_closed = || {
        let counter = Counter::make();
        set_access(&counter, Callers::nobody())?;
        Ok(counter)
    };
    let _closed = register_class(CLOSED, None, make_closed)?;
    let _forbidden = register_class(FORBIDDEN, Some(&object), || Ok(Counter::make()))?;
    set_class_access(FORBIDDEN, Callers::nobody())?;
    for binding in words {
        println!("{}", obvia::listen(&binding)?);
    }
    if is_started {
        return serve_until_idle(IDLE);
    }
    for _ in std::io::stdin().lock().lines() {
        println!("{}", LIVE.load(Ordering::SeqCst));
    }
    obvia::wait()
}
