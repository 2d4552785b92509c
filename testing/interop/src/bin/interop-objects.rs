//! A server of objects for DCOM clients of other implementations.
//!
//! `interop-objects [--user NAME PASSWORD] [--pinging MILLISECONDS] [--count SOCKET] BINDING ...`
//! serves until the process is killed. Each line of output is a binding with its endpoint. After
//! that, each line of input is answered with the number of objects. With `--user`, the server has
//! an account for this user. With `--pinging` clients have to ping at this period, and may miss
//! three pings. With `--count` the server was started on demand: it writes the number of objects to
//! each connection of the socket, and ends when it is idle.
//!
//! `--client [--user NAME PASSWORD] [BINDING]` creates an object and calls it. `--service` serves
//! activation for this host until its input ends. `--marshal BINDING ...` prints a marshaled
//! reference, and `--unmarshal BYTES` calls the object of such a reference.

use interop::objects::{ICounter, ICounter_Impl, INamed, INamed_Impl};
use obvia::dcom::{Pinging, class_object, create_instance, register_class, serve_until_idle, set_pinging};
use obvia::marshaling::{Context, Flags, marshal, unmarshal};
use obvia::security::{
    AccountTable, Callers, Credential, NtHash, set_access, set_accounts, set_class_access, set_credentials,
};
use obvia::{GUID, Interface, code, u16cstr};
use std::io::{BufRead, Write};
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering};
use std::time::Duration;

/// The class of counters.
const CLASS: GUID = GUID::from_u128(0x5b0e_6b3c_0d5e_4c5a_9f3e_6f1d_0c7a_2b01);
/// The class whose objects refuse calls.
const CLOSED: GUID = GUID::from_u128(0x5b0e_6b3c_0d5e_4c5a_9f3e_6f1d_0c7a_2b02);
/// The class that refuses activation.
const FORBIDDEN: GUID = GUID::from_u128(0x5b0e_6b3c_0d5e_4c5a_9f3e_6f1d_0c7a_2b03);

/// The class for which the program supplies no class object, so that the runtime supplies one.
const FACTORED: GUID = GUID::from_u128(0x5b0e_6b3c_0d5e_4c5a_9f3e_6f1d_0c7a_2b04);
/// A class that is not registered.
const UNKNOWN: GUID = GUID::from_u128(0x5b0e_6b3c_0d5e_4c5a_9f3e_6f1d_0c7a_2bff);

/// The time without clients after which a server ends that was started on demand.
const IDLE: Duration = Duration::from_secs(5);

static LIVE: AtomicI64 = AtomicI64::new(0);

#[obvia::object(ICounter, INamed)]
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

/// Writes the number of objects to each connection of a socket.
fn count_at(socket: &str) -> std::io::Result<()> {
    // A killed server may have left the socket.
    let _ = std::fs::remove_file(socket);
    let listener = UnixListener::bind(socket)?;
    std::thread::spawn(move || {
        for mut asker in listener.incoming().flatten() {
            // A write error is ignored, because the client may be gone.
            let _ = writeln!(asker, "{}", LIVE.load(Ordering::SeqCst));
        }
    });
    Ok(())
}

/// Calls a new object, on this host or at a string binding, and the class object.
fn call_made(server: Option<&str>) -> obvia::Result<()> {
    call(&create_instance(CLASS, server)?)?;
    // A server that was started on demand has no class object.
    match class_object(CLASS, server) {
        Err(error) if error.code() == code::E_NOINTERFACE => {}
        found => call(&found?)?,
    }
    assert_eq!(
        create_instance::<ICounter>(UNKNOWN, server).map_err(|error| error.code()),
        Err(code::REGDB_E_CLASSNOTREG)
    );
    Ok(())
}

/// Calls a counter, and checks the results.
fn call(counter: &ICounter) -> obvia::Result<()> {
    let before = counter.Add(1)?;
    assert_eq!(counter.Add(41)?, before + 41);
    assert_eq!(counter.Mixed(1, 1 << 40, u16cstr!("four"))?, (1 << 40) + 5);
    assert_eq!(counter.Make()?.Add(7)?, 7);
    assert_eq!(counter.AddTo(Some(&Counter::make()), 3)?, 3, "it calls this process's counter");
    assert_eq!(counter.Add(0).map_err(|error| error.code()), Err(code::E_INVALIDARG));
    println!("{}", counter.cast::<INamed>()?.Name()?.display());
    Ok(())
}

/// Waits until the input ends.
fn stay() {
    std::io::stdin().lock().lines().for_each(drop);
}

/// Prints a marshaled reference, and keeps its object until the input ends.
fn write_reference(bindings: impl Iterator<Item = String>) -> obvia::Result<()> {
    for binding in bindings {
        obvia::listen(&binding)?;
    }
    let bytes = marshal(&Counter::make(), Context::DifferentMachine, Flags::NORMAL)?;
    println!("{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    stay();
    Ok(())
}

fn read_reference(digits: &str) -> obvia::Result<()> {
    let byte = |at| u8::from_str_radix(digits.get(at..at + 2).unwrap_or_default(), 16).map_err(|_| code::E_INVALIDARG);
    let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect::<Result<_, _>>()?;
    call(&unmarshal(&bytes)?)
}

fn main() -> obvia::Result<()> {
    let mut words = std::env::args().skip(1).peekable();
    let is_client = words.next_if_eq("--client").is_some();
    if words.next_if_eq("--user").is_some() {
        let (user, password) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        set_accounts(AccountTable::default().with(&user, NtHash::of_password(&password)));
        // Callbacks of the server are authenticated with the same account.
        set_credentials(Credential::user("", &user, &password));
    }
    if is_client {
        return call_made(words.next().as_deref());
    }
    if words.next_if_eq("--service").is_some() {
        let _service = obvia::scm::serve()?;
        println!("serving");
        stay();
        return Ok(());
    }
    if words.next_if_eq("--marshal").is_some() {
        return write_reference(words);
    }
    if words.next_if_eq("--unmarshal").is_some() {
        return read_reference(&words.next().unwrap_or_default());
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
    let _factored = register_class(FACTORED, None, || Ok(Counter::make()))?;
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
