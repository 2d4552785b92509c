//! Orders: the commands that tests send to their processes. Each line is an order; its answer is a
//! line "ok ..." or "error ...".
//!
//! Tests send orders to servers and to clients. A process can be both.

#![expect(clippy::unit_arg, reason = "orders without a result of their own are answered all the same")]

mod cancellation;
mod lent;

use crate::activation::{pinging, register};
use crate::answer::{Answer, done, number, word};
use crate::state::{CLASS, State, made};
use crate::{Counter, Factory, ICounter, IFactory, IListener, IListener_Impl, Listener};
use crate::{
    access, activation, begun, context, error_info, events, failed_calls, live, lockdown, noticed, poll_path, sleeping,
    soak, usage, wake,
};
use obvia::dcom::{class_object, create_instance};
use obvia::security::{AccountTable, Credential, NtHash};
use obvia::{Agile, Interface, Waiting, code};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::io::BufRead;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The time limit for all attempts to connect to a server.
const CONNECTING_MAX: Duration = Duration::from_secs(100);

type Order = fn(&mut State, &[&str]) -> Answer;

const ORDERS: &[(&str, Order)] = &[
    ("export", export),
    ("listen", |_, words| obvia::listen(word(words, 0)?)),
    ("accounts", |_, words| accounts(words)),
    ("credentials", credentials),
    ("who", |state, _| Ok(state.factory()?.Who()?.to_string_lossy())),
    ("pinging", |_, words| pinging(Duration::from_millis(number(words, 0)?))),
    ("register", |state, _| register(state)),
    ("register-slow", |state, words| activation::register_slow(state, words.first() == Some(&"deaf"))),
    ("register-borrowed", |state, _| activation::register_borrowed(state)),
    ("register-factory", |state, _| activation::register_factory(state)),
    ("made", |_, _| Ok(made().to_string())),
    ("class-factory", activation::class_factory),
    ("create", |state, _| activation::create(state)),
    ("lock-server", |state, words| activation::lock_server(state, word(words, 0)?)),
    ("activate", |state, words| activate(state, words.first().copied())),
    ("scm", |state, _| done(state.service = Some(obvia::scm::serve()?))),
    ("no-scm", |state, _| done(state.service = None)),
    ("activate-in-threads", activation::in_threads),
    ("running", |_, _| activation::running()),
    ("activate-in", |state, words| activation::in_context(state, word(words, 0)?)),
    ("free-libraries", |_, _| obvia::dcom::free_unused_libraries().map(done)?),
    ("disconnect", |state, _| failed_calls::disconnect(state)),
    ("hide", |state, _| done((state.exports.clear(), state.exported = None).1)),
    ("access", |state, words| access::set(state, words)),
    ("audit", |_, _| access::audit()),
    ("serve-tally", access::serve_tally),
    ("set-tally-access", |state, words| access::set_tally_access(state, words)),
    ("bind-tally", access::bind_tally),
    ("tally", |state, words| access::add_to_tally(state, words)),
    ("refusals", |_, _| access::refusals()),
    ("announcer", |state, words| events::announcer(&mut state.events, words)),
    ("source", |state, words| events::source(&mut state.events, words)),
    ("advise", |state, words| events::advise(&mut state.events, words)),
    ("unadvise", |state, _| events::unadvise(&mut state.events)),
    ("unadvise-late", |state, _| events::unadvise_late(&mut state.events)),
    ("received", |state, _| events::received(&state.events)),
    ("announce", |state, words| events::announce(&state.events, words)),
    ("post", |state, words| events::post(&state.events, words)),
    ("sinks", |state, _| events::sinks(&state.events)),
    ("points", |state, _| events::points(&state.events)),
    ("list", |_, _| list()),
    ("list-at", |_, words| list_at(word(words, 0)?)),
    ("live", |_, _| Ok(live().to_string())),
    ("refuse-waitv", |_, _| done(lockdown::refuse_waitv()?)),
    ("sleeps", |_, _| Ok(usage::sleeps_of_others()?.to_string())),
    ("exported", |_, _| Ok(obvia::exported()?.to_string())),
    ("sleeping", |_, _| Ok(sleeping().to_string())),
    ("begun", |_, _| Ok(begun().to_string())),
    ("wake", |_, _| done(wake())),
    ("noticed", |_, _| Ok(noticed().to_string())),
    ("connect", |state, words| connect(state, word(words, 0)?)),
    ("timeout", timeout),
    ("make", make),
    ("drop-factory", |state, _| done(state.factory = None)),
    ("drop", |state, _| done(state.counters.clear())),
    ("drop-last", |state, words| done(state.counters.truncate(state.counters.len() - number::<usize>(words, 0)?))),
    ("leave", |state, _| done(*state = State::default())),
    ("fail", |state, words| state.counter()?.Fail(number(words, 0)?).map(done).map_err(|why| told(&why))?),
    ("panic-texts", |_, words| done(obvia::set_panic_texts(word(words, 0)? == "on"))),
    ("nothing", |state, _| state.counter()?.Nothing().map(done)?),
    ("add", |state, words| Ok(state.counter()?.Add(number(words, 0)?)?.to_string())),
    ("adds", |state, words| adds(state.counter()?, number(words, 0)?, number(words, 1)?)),
    ("adds-at", |state, words| adds_at(state.counter()?, number(words, 0)?, number(words, 1)?)),
    ("echo", |state, words| echo(state.counter()?, number(words, 0)?)),
    ("keep-lent", |state, words| lent::keep_lent(state, number(words, 0)?)),
    ("keep-lent-to-end", |state, _| lent::keep_lent_to_end(state)),
    ("sleep", |state, words| state.counter()?.Sleep(number(words, 0)?).map(done)?),
    ("cast", |state, _| cast(state.counter()?)),
    ("halve", |state, words| halve(state.counter()?, number(words, 0)?)),
    ("callback", |state, words| callback(state, number(words, 0)?)),
    ("pass", |state, _| pass(state, state.counter()?)),
    ("pass-own", |state, _| pass(state, &Counter::new())),
    ("keep", |state, _| state.factory()?.Keep(Some(state.counter()?)).map(done)?),
    ("keep-own", keep_own),
    ("give", |state, words| failed_calls::give(state, word(words, 0)?)),
    ("label", |state, words| failed_calls::label(state, number(words, 0)?, word(words, 1)?)),
    ("give-to-stopped", |state, words| failed_calls::give_to_stopped(state, number(words, 0)?, number(words, 1)?)),
    ("export-error-setter", |state, names| error_info::export(state, word(names, 0)?)),
    ("check-error-info", |_, names| error_info::check(word(names, 0)?)),
    ("keep-none", |state, _| state.factory()?.Keep(None).map(done)?),
    ("kept", |state, _| done(state.counters = vec![state.factory()?.Kept()?])),
    ("add-to-kept", |state, words| Ok(state.factory()?.AddToKept(number(words, 0)?)?.to_string())),
    ("context", |state, _| context::check(state)),
    ("kept-sleeps", |state, words| state.factory()?.KeptSleeps(number(words, 0)?).map(done)?),
    ("wait", wait),
    ("calls", calls),
    ("lend", lend),
    ("cancellable", cancellation::cancellable),
    ("cancellable-sleep", |state, words| cancellation::cancellable_sleep(state, word(words, 0)?)),
    ("cancellable-callback", cancellation::cancellable_callback),
    ("cancellable-connect", |state, words| cancellation::cancellable_connect(state, word(words, 0)?)),
    ("cancellable-cast", cancellation::cancellable_cast),
    ("cancellable-create", |state, words| cancellation::cancellable_create(state, words.first().copied())),
    ("cancellable-lookup", |state, words| cancellation::cancellable_lookup(state, word(words, 0)?)),
    ("cancel", |state, _| done(state.canceller.cancel())),
    ("cancel-race", |state, words| cancellation::cancel_race(state.counter()?, number(words, 0)?)),
    ("cancel-late", |state, words| cancellation::cancel_late(state.counter()?, number(words, 0)?)),
    ("soak", |state, words| soak::run(state, number(words, 0)?, number(words, 1)?)),
    ("measure", |state, words| poll_path::measure(state, number(words, 0)?, words.get(1).copied())),
    ("repeat", |_, words| poll_path::repeat(word(words, 0)?, number(words, 1)?)),
    ("locked", |state, words| poll_path::locked(state, number(words, 0)?, words.get(1).copied())),
];

/// Obeys orders until the input ends. The first argument is the waiting policy, and the second
/// argument is the processor. If the first argument is `serve`, the process is the server that is
/// started on demand.
pub fn obey() {
    let options: Vec<String> = std::env::args().skip(1).collect();
    if options.first().is_some_and(|option| option == "serve") {
        return activation::serve(options.get(1).map(String::as_str));
    }
    match options.first().map(String::as_str) {
        Some("poll") => obvia::set_waiting(Waiting::Poll),
        Some("block") => obvia::set_waiting(Waiting::Block),
        _ => {}
    }
    if let Some(processor) = options.get(1) {
        run_on(processor.parse().unwrap());
    }
    let mut state = State::default();
    for line in orders() {
        let words: Vec<&str> = line.split(' ').collect();
        let order = ORDERS.iter().find(|(name, _)| *name == words[0]).map(|(_, order)| order);
        let order = order.unwrap_or_else(|| panic!("no order: {line}"));
        let answer = match state.timeout {
            Some(timeout) => obvia::with_timeout(timeout, || order(&mut state, &words[1..])),
            None => order(&mut state, &words[1..]),
        };
        println!("{}", text(answer));
    }
}

/// Pins this process to the processor with this index among the allowed processors.
fn run_on(number: usize) {
    let allowed = sched_getaffinity(None).unwrap();
    let mut chosen = CpuSet::new();
    let mut processors = (0..CpuSet::MAX_CPU).filter(|&processor| allowed.is_set(processor));
    // With fewer processors, the process is not pinned.
    if let Some(processor) = processors.nth(number) {
        chosen.set(processor);
        sched_setaffinity(None, &chosen).unwrap();
    }
}

/// Returns the lines of the standard input. The end of the input ends the process, even during an
/// order.
fn orders() -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
        std::process::exit(0);
    });
    lines
}

fn text(answer: Answer) -> String {
    match answer {
        Ok(text) => format!("ok {text}"),
        Err(error) => format!("error {error}"),
    }
}

fn export(state: &mut State, words: &[&str]) -> Answer {
    let factory = state.exported.insert(IFactory::from(Factory::default()));
    done(state.exports.push(obvia::export(word(words, 0)?, factory.clone())?))
}

/// Sets the accounts that may call this process: users with their passwords.
fn accounts(words: &[&str]) -> Answer {
    let table = words
        .chunks_exact(2)
        .fold(AccountTable::default(), |table, account| table.with(account[0], NtHash::of_password(account[1])));
    done(obvia::security::set_accounts(table))
}

/// Sets the credentials of this process's calls.
fn credentials(_: &mut State, words: &[&str]) -> Answer {
    done(obvia::security::set_credentials(Credential::user("", word(words, 0)?, word(words, 1)?)))
}

fn list() -> Answer {
    let listed = obvia::list()?;
    Ok(listed.into_iter().map(|listed| listed.name).collect::<Vec<_>>().join(" "))
}

/// Asks a process for its bindings. Returns the protocol sequence of the query, and the bindings,
/// the best first.
fn list_at(binding: &str) -> Answer {
    let first = obvia::list_at(binding)?.into_iter().next().ok_or(code::E_UNEXPECTED)?;
    Ok(format!("{} {}", first.over.unwrap_or_default(), first.bindings.join(" ")))
}

/// Connects to a server. Repeats the attempt while the server is unavailable, because the server
/// may be starting, or may be ending other connections to make room. Fails at once if the server
/// has no place for this connection and ends no other connection.
fn connect(state: &mut State, name: &str) -> Answer {
    let end = Instant::now() + CONNECTING_MAX;
    loop {
        match obvia::connect(name) {
            Err(error)
                if error.code() == code::RPC_S_SERVER_UNAVAILABLE
                    && Instant::now() < end
                    && !error.to_string().contains("as many clients") =>
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            connected => return done(state.factory = Some(connected?)),
        }
    }
}

/// Returns an error whose text contains all error information of `why`.
fn told(why: &obvia::Error) -> obvia::Error {
    let (source, help) = (why.source_name().unwrap_or_default(), why.help().unwrap_or_default());
    obvia::Error::new(why.code(), format!("{} {source} {help:?}", why.detail().unwrap_or_default()))
}

/// Calls the class object, creates a factory, and returns the factory's binding.
fn activate(state: &mut State, server: Option<&str>) -> Answer {
    class_object::<IFactory>(CLASS, server)?.Live()?;
    let factory: IFactory = create_instance(CLASS, server)?;
    let way = obvia::binding_of(&factory).unwrap_or_else(|| "in process".to_owned());
    state.factory = Some(factory);
    Ok(way)
}

fn timeout(state: &mut State, words: &[&str]) -> Answer {
    done(state.timeout = number(words, 0).ok().map(Duration::from_millis))
}

fn make(state: &mut State, words: &[&str]) -> Answer {
    for _ in 0..number(words, 0)? {
        let made = state.factory()?.Make()?;
        state.counters.push(made);
    }
    done(())
}

/// Calls both methods that reduce a number of elements.
fn halve(counter: &ICounter, whole: u32) -> Answer {
    let (mut n, mut m) = (whole, whole);
    let (mut numbers, mut shrunk) = (vec![-1; whole as usize], vec![-1; whole as usize]);
    counter.Halve(&mut n, &mut numbers)?;
    counter.Shrink(&mut m, &mut shrunk)?;
    let half: Vec<i32> = (0..).take(n as usize).collect();
    let is_right = n == m && n == whole / 2 && numbers.starts_with(&half) && shrunk.starts_with(&half);
    if is_right { done(()) } else { Err(obvia::Error::new(code::E_FAIL, format!("{n} {numbers:?} {m} {shrunk:?}"))) }
}

fn callback(state: &State, value: i32) -> Answer {
    Ok(state.counter()?.Callback(Some(&IListener::from(Listener(3))), value)?.to_string())
}

/// Passes a counter to the server, which returns it. Returns whether the result is the same
/// counter, and whether the counter is an object of the server.
fn pass(state: &State, counter: &ICounter) -> Answer {
    let (same, home) = state.factory()?.Pass(Some(counter))?;
    Ok(format!("{} {home}", same == *counter))
}

fn keep_own(state: &mut State, _: &[&str]) -> Answer {
    let own = state.own.insert(Counter::new()).clone();
    done(state.factory()?.Keep(Some(&own))?)
}

/// Starts threads that each create a counter and make a long call. Each thread prints how the call
/// ended.
fn wait(state: &mut State, words: &[&str]) -> Answer {
    in_threads(state, words, |factory| {
        let outcome = factory.Make().and_then(|counter| counter.Sleep(600_000)).map(done).and_then(|done| done);
        println!("ended {}", text(outcome));
    })
}

/// Starts threads that make calls forever. Each prints a line once it has begun.
fn calls(state: &mut State, words: &[&str]) -> Answer {
    in_threads(state, words, |factory| {
        let values = vec![7; 5_000];
        for turn in 0_u64.. {
            let counter = factory.Make().unwrap();
            assert_eq!(counter.Add(5).unwrap(), 5);
            assert_eq!(counter.Echo(&values).unwrap(), values);
            assert_eq!(counter.Callback(Some(&IListener::from(Listener(3))), 5).unwrap(), 16);
            assert_eq!(factory.AddTo(Some(&counter), 2).unwrap(), 7);
            if turn == 20 {
                println!("calling");
            }
        }
    })
}

/// Makes `a_second` calls per second for some milliseconds, and returns their number.
fn adds_at(counter: &ICounter, a_second: u32, milliseconds: u64) -> Answer {
    let (began, interval) = (Instant::now(), Duration::from_secs(1) / a_second);
    let mut made = 0;
    while began.elapsed() < Duration::from_millis(milliseconds) {
        counter.Add(1)?;
        made += 1;
        std::thread::sleep((interval * made).saturating_sub(began.elapsed()));
    }
    Ok(made.to_string())
}

/// Adds one repeatedly, in some threads and for some milliseconds, at least once in each thread.
/// Returns the number of calls.
fn adds(counter: &ICounter, threads: usize, milliseconds: u64) -> Answer {
    let agile = Agile::new(counter)?;
    let end = Instant::now() + Duration::from_millis(milliseconds);
    let add = move |counter: Agile<ICounter>| {
        let mut made = 0_u64;
        loop {
            counter.get().Add(1)?;
            made += 1;
            if Instant::now() >= end {
                return Ok(made);
            }
        }
    };
    let threads: Vec<_> = (0..threads)
        .map(|_| {
            let counter = agile.clone();
            std::thread::spawn(move || add(counter))
        })
        .collect();
    let made: obvia::Result<Vec<u64>> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    Ok(made?.iter().sum::<u64>().to_string())
}

/// Sends numbers in both directions, and compares them.
fn echo(counter: &ICounter, count: i32) -> Answer {
    let values: Vec<i32> = (0..count).map(|value| value.wrapping_mul(2_654_435)).collect();
    if counter.Echo(&values)? == values { done(()) } else { Err(code::E_UNEXPECTED.into()) }
}

fn in_threads(state: &State, words: &[&str], work: fn(&IFactory)) -> Answer {
    for _ in 0..number(words, 0)? {
        let factory = Agile::new(state.factory()?)?;
        std::thread::spawn(move || work(factory.get()));
    }
    done(())
}

/// A listener that prints that it was called, and never returns.
#[obvia::object(IListener)]
struct Stubborn;

impl IListener_Impl for Stubborn_Impl {
    fn Heard(&self, _: i32) -> obvia::Result<i32> {
        keep_waiting()
    }
}

fn keep_waiting() -> ! {
    println!("heard");
    loop {
        std::thread::park();
    }
}

/// Starts threads that pass a listener to the server. The listener keeps its caller waiting.
fn lend(state: &mut State, words: &[&str]) -> Answer {
    in_threads(state, words, |factory| {
        let outcome = factory.Make().and_then(|counter| counter.Callback(Some(&IListener::from(Stubborn)), 1));
        println!("ended {}", text(outcome.map(|answer| answer.to_string())));
    })
}

/// Asks the server for an interface that the counter does not have.
fn cast(counter: &ICounter) -> Answer {
    counter.cast::<IListener>().map(drop).map_err(obvia::Error::from).and_then(done)
}
