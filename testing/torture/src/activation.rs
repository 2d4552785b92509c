//! The orders of tests (see `orders`) about activation, and the server that is started on demand.

#![expect(clippy::unit_arg, reason = "orders without a result of their own are answered all the same")]

use crate::answer::{Answer, done, number};
use crate::process::{LATEST, within};
use crate::registered::go_file;
use crate::state::{CLASS, State, made, make};
use crate::{Counter, IFactory};
use obvia::dcom::{
    ClassContext, IClassFactory, Pinging, class_object, create_instance, create_instance_in, register_class,
    serve_until_idle, set_pinging,
};
use obvia::{Agile, Interface as _, code};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Creates factories in several threads at the same time, one in each thread. Returns the number of
/// processes that have made the factories.
pub(crate) fn in_threads(state: &mut State, words: &[&str]) -> Answer {
    let made: Vec<_> = std::thread::scope(|scope| {
        let make = || Agile::new(&create_instance::<IFactory>(CLASS, None)?);
        let threads: Vec<_> = (0..number(words, 0).unwrap()).map(|_| scope.spawn(make)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<obvia::Result<_>>()
    })?;
    let ways: BTreeSet<_> = made.iter().map(|factory| obvia::binding_of(factory.get())).collect();
    state.factory = made.first().map(|factory| factory.get().clone());
    Ok(ways.len().to_string())
}

/// Creates a factory in a class context, and returns its binding.
pub(crate) fn in_context(state: &mut State, context: &str) -> Answer {
    let context = match context {
        "process" => ClassContext::INPROC_SERVER,
        "host" => ClassContext::LOCAL_SERVER,
        "network" => ClassContext::REMOTE_SERVER,
        _ => return Err(code::E_INVALIDARG.into()),
    };
    let factory: IFactory = create_instance_in(CLASS, context)?;
    let way = obvia::binding_of(&factory).unwrap_or_else(|| "in process".to_owned());
    state.factory = Some(factory);
    Ok(way)
}

pub(crate) fn pinging(period: Duration) -> Answer {
    set_pinging(Pinging { period, missed: 3 }).map(done)?
}

/// Registers the class, with a factory as the class object.
pub(crate) fn register(state: &mut State) -> Answer {
    done(state.classes.push(register_class(CLASS, Some(&make().cast()?), || Ok(make()))?))
}

/// Registers the class. Each activation takes ten minutes, unless its caller gives up or the order
/// `wake` ends it. If `is_deaf`, an activation does not notice that its caller gives up. An
/// activation begins by making a counter, which lives as long as the factory.
pub(crate) fn register_slow(state: &mut State, is_deaf: bool) -> Answer {
    let make_slowly = move || {
        let (counter, factory) = (Counter::new(), make());
        factory.Keep(Some(&counter))?;
        let sleeper = Agile::new(&counter)?;
        let sleep = move || sleeper.get().Sleep(600_000);
        // A new thread performs no call, so a sleep of that thread notices no cancellation.
        let slept = if is_deaf { std::thread::spawn(sleep).join().map_err(|_| code::E_UNEXPECTED)? } else { sleep() };
        slept.map(|()| factory)
    };
    done(state.classes.push(register_class(CLASS, None, make_slowly)?))
}

/// Registers the class. Every activation returns the connected factory, which belongs to another
/// process. Each activation takes ten minutes, unless the order `wake` ends it. An activation does
/// not notice that its caller gives up.
pub(crate) fn register_borrowed(state: &mut State) -> Answer {
    let factory = Agile::new(state.factory()?)?;
    let lend = move || {
        let sleep = || Counter::new().Sleep(600_000);
        std::thread::spawn(sleep).join().map_err(|_| code::E_UNEXPECTED)??;
        Ok(factory.get().clone())
    };
    done(state.classes.push(register_class(CLASS, None, lend)?))
}

/// Registers the class with a function that makes its objects, and without a class object, so that
/// the runtime supplies one.
pub(crate) fn register_factory(state: &mut State) -> Answer {
    done(state.classes.push(register_class(CLASS, None, || Ok(make()))?))
}

/// Fetches the class object.
pub(crate) fn class_factory(state: &mut State, words: &[&str]) -> Answer {
    let found: IClassFactory = class_object(CLASS, words.first().copied())?;
    state.class_factory = Some(found);
    done(())
}

fn of_class(state: &State) -> obvia::Result<&IClassFactory> {
    Ok(state.class_factory.as_ref().ok_or(code::E_POINTER)?)
}

/// Creates a factory by the class object.
pub(crate) fn create(state: &mut State) -> Answer {
    let made: IFactory = of_class(state)?.create_instance()?;
    done(state.factory = Some(made))
}

/// Locks the server, or unlocks it.
pub(crate) fn lock_server(state: &State, stays: &str) -> Answer {
    done(of_class(state)?.lock_server(stays == "1")?)
}

/// Returns the process ID of the class's server; 0 if none runs.
pub(crate) fn running() -> Answer {
    let found = obvia::scm::running()?.into_iter().find(|running| running.class == CLASS);
    Ok(found.and_then(|running| running.pid).unwrap_or_default().to_string())
}

/// Runs the server that is started on demand. `how` makes the server wait, hang or fail.
pub(crate) fn serve(how: Option<&str>) {
    let starts = std::env::var_os("TORTURE_STARTS").map(PathBuf::from);
    if let Some(path) = &starts {
        let file = OpenOptions::new().create(true).append(true).open(path);
        writeln!(file.unwrap(), "{}", std::process::id()).unwrap();
    }
    match how {
        Some("refuse") => {
            eprintln!("nothing to serve:\nthe store is locked");
            std::process::exit(7);
        }
        Some("hang") => {
            eprintln!("looking for the store");
            std::thread::sleep(Duration::from_secs(3600));
        }
        Some("die") => std::process::abort(),
        _ => {
            if let Some(starts) = starts.filter(|_| how == Some("wait")) {
                within(LATEST, || if go_file(&starts).exists() { Ok(()) } else { Err("it may not go on".to_owned()) });
            }
            if let Ok(period) = std::env::var("TORTURE_PINGING") {
                pinging(Duration::from_millis(period.parse().unwrap())).unwrap();
            }
            let mut state = State::default();
            register(&mut state).unwrap();
            eprintln!("serving");
            // The server must not end as idle before its first use. Tests count starts, and a slow
            // client must not cause a second start.
            within(LATEST, || if made() > 1 { Ok(()) } else { Err("nobody uses it".to_owned()) });
            serve_until_idle(Duration::from_secs(3600)).unwrap();
        }
    }
}
