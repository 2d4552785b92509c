//! Clients: one that calls a hostile server, and one that calls the good server all the time.

use crate::NAME;
use crate::objects::Thing;
use obvia::{Access, Interface, SharedMemory, U16CString};
use obvia_hostile::mapped::IMapped;
use obvia_hostile::{Color, IPair, IThing, IVictim, Mark};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time limit of a call that a hostile server may leave unanswered.
const SHORT: Duration = Duration::from_secs(2);
/// The time limit of a call that a server answers.
const LONG: Duration = Duration::from_secs(100);
/// The time in which one method is called repeatedly.
const REPEATED: Duration = Duration::from_millis(600);

static CALLS: AtomicU64 = AtomicU64::new(0);

/// Returns the number of the witness's rounds.
pub(crate) fn calls() -> u64 {
    CALLS.load(Ordering::Relaxed)
}

const MARK: Mark = Mark { set: true, color: Color::BLUE, weight: 10 };

/// Calls the good server without passing objects, and checks the results.
fn plain_round(good: &IVictim, turn: i32) -> obvia::Result<()> {
    assert_eq!(good.Add(turn, 2)?, turn + 2);
    assert_eq!(good.Sum(&[turn, 1, 2, 3])?, i64::from(turn) + 6);
    let mut values: Vec<i32> = (0..100).collect();
    good.Reverse(&mut values)?;
    assert!(values.iter().copied().eq((0..100).rev()));
    assert_eq!(good.Shout(c"quiet")?.as_c_str(), c"QUIET");
    assert_eq!(good.Weigh(&[MARK; 3])?, 120);
    Ok(())
}

/// Calls the good server, and checks the results.
fn round(good: &IVictim, turn: i32) -> obvia::Result<()> {
    plain_round(good, turn)?;
    let thing = good.Make(turn)?;
    assert_eq!(thing.Number()?, turn);
    assert_eq!(thing.cast::<IPair>()?.Second()?, i64::from(turn) + 1);
    assert_eq!(good.Visit(Some(&thing))?, turn);
    // The server calls back an object of this process.
    assert_eq!(good.Visit(Some(&IThing::from(Thing(turn + 5))))?, turn + 5);
    Ok(())
}

/// Calls the good server until the process is ended. Any failure exits with code 2.
pub(crate) fn witness() -> obvia::Result<()> {
    watch(&obvia::connect(NAME)?, round)
}

/// Calls the good server over a network, by a binding, and with the credentials of a user if they
/// are given.
pub(crate) fn witness_from_away(arguments: &[String]) -> obvia::Result<()> {
    let [binding, who @ ..] = arguments else { panic!("where is the server?") };
    if let [user, password] = who {
        obvia::security::set_credentials(obvia::security::Credential::user("", user, password));
    }
    watch(&obvia::connect(binding)?, plain_round)
}

fn watch(good: &IVictim, round: fn(&IVictim, i32) -> obvia::Result<()>) -> obvia::Result<()> {
    for turn in 0.. {
        if let Err(error) = round(good, turn % 1000) {
            eprintln!("the witness was disturbed in round {turn}: {error}");
            std::process::exit(2);
        }
        if CALLS.fetch_add(1, Ordering::Relaxed) == 0 {
            println!("ready");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn tell<T: std::fmt::Debug>(what: &str, outcome: obvia::Result<T>) {
    match outcome {
        Ok(value) => println!("{what} ok {value:?}"),
        Err(error) => println!("{what} {:#010x}", error.code().0),
    }
}

/// Passes memory by reference to the good server, in Java or in another language.
fn share(good: &IVictim) -> obvia::Result<()> {
    let missing = || obvia::Error::from(obvia::code::E_UNEXPECTED);
    let mut shared = SharedMemory::new(100_000, Access::Write)?;
    let mut words = shared.elements_mut::<i32>(4096, 3).ok_or_else(missing)?;
    words.copy_from(0, &[1, -2, 30]);
    good.Double(words)?;
    assert_eq!(good.Total(shared.elements(4096, 3).ok_or_else(missing)?)?, 58);
    let squares = good.Squares(shared.elements_mut(8, 5).ok_or_else(missing)?)?;
    let found: Vec<i64> = shared.elements(8, squares as usize).ok_or_else(missing)?.to_vec();
    assert_eq!(found, [0, 1, 4, 9, 16]);
    good.Stain(shared.elements_mut(1000, 2).ok_or_else(missing)?)?;
    assert_eq!(shared.elements::<u8>(999, 4).ok_or_else(missing)?.to_vec(), [0, 0xee, 0xee, 0]);
    // Read-only memory is copied in both directions, or refused.
    let mut read = SharedMemory::new(100, Access::Read)?;
    assert_eq!(good.Look(read.elements(0, 100).ok_or_else(missing)?)?, 1);
    good.Double(read.elements_mut(0, 25).ok_or_else(missing)?)?;
    let refused = good.Stain(read.elements_mut(0, 100).ok_or_else(missing)?).map_err(|error| error.code());
    assert_eq!(refused, Err(obvia::code::E_INVALIDARG));
    Ok(())
}

/// Calls the good server, visits another server, calls the good server again, and reports the
/// outcome.
///
/// The first argument is the other server's name. A second argument `first` or `good` skips the
/// first calls of the good server; with `good`, the other server answers all calls. With `again`
/// and an opnum, the method with this opnum is called many times.
pub(crate) fn visit(arguments: &[String]) -> obvia::Result<()> {
    let [name, how @ ..] = arguments else { panic!("whom to visit?") };
    if how != ["first"] && how != ["good"] {
        round(&obvia::connect(NAME)?, 1)?;
    }
    let limit = if how == ["good"] { LONG } else { SHORT };
    let hostile = obvia::with_timeout(limit, || obvia::connect::<IVictim>(name));
    match hostile {
        Ok(hostile) if how.first().is_some_and(|how| how == "again") => repeat(&hostile, &how[1]),
        Ok(hostile) => abuse(&hostile, limit),
        Err(error) => println!("connect {:#010x}", error.code().0),
    }
    let good: IVictim = obvia::connect(NAME)?;
    round(&good, 2)?;
    share(&good)?;
    // A new thread uses a new connection.
    let again: IVictim = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            let again: IVictim = obvia::connect(NAME)?;
            round(&again, 3)?;
            obvia::Agile::new(&again)
        });
        other.join().expect("the thread ends").map(|again| again.get().clone())
    })?;
    round(&again, 4)?;
    println!("good");
    Ok(())
}

/// Passes memory by reference to a hostile server, and reports the outcomes. The arrays of each
/// call lie in two regions. `is_silent` says whether the server leaves calls unanswered.
pub(crate) fn map(name: &str, is_silent: bool) -> obvia::Result<()> {
    let limit = if is_silent { SHORT } else { LONG };
    let missing = || obvia::Error::from(obvia::code::E_UNEXPECTED);
    let hostile: IMapped = obvia::connect(name)?;
    for _ in 0..2 {
        let (from, mut to) = (SharedMemory::new(64, Access::Read)?, SharedMemory::new(64, Access::Write)?);
        let given = from.elements(0, 8).ok_or_else(missing)?;
        tell("Blend", obvia::with_timeout(limit, || hostile.Blend(given, to.elements_mut(0, 8).ok_or_else(missing)?)));
        tell("Mix", obvia::with_timeout(limit, || hostile.Mix(given, to.elements_mut(0, 8).ok_or_else(missing)?)));
    }
    println!("good");
    Ok(())
}

/// Makes failing calls to a good server, and reports their error information.
pub(crate) fn report_failures(binding: &str) -> obvia::Result<()> {
    let good: IVictim = obvia::connect(binding)?;
    for failed in [good.Visit(None).map(drop), good.Make(-1).map(drop)] {
        let error = failed.err().ok_or(obvia::code::E_UNEXPECTED)?;
        println!("{error} {:?} {:?}", error.source_name(), error.help());
    }
    Ok(())
}

/// Calls every method, with a time limit for each call. Results may have any values, and are read
/// completely.
fn abuse(hostile: &IVictim, limit: Duration) {
    let limited = |work: &dyn Fn()| obvia::with_timeout(limit, work);
    limited(&|| tell("Add", hostile.Add(1, 2)));
    limited(&|| tell("Sum", hostile.Sum(&[1, 2, 3])));
    limited(&|| {
        let mut values = [1, 2, 3, 4];
        tell("Reverse", hostile.Reverse(&mut values).map(|()| values));
    });
    limited(&|| {
        let mut values = vec![0; 64];
        tell("Fill", hostile.Fill(&mut values).map(|()| values.len()));
    });
    limited(&|| tell("Flip", hostile.Flip(true).map(u8::from)));
    limited(&|| tell("Mix", hostile.Mix(Color::RED).map(|color| color.0)));
    limited(&|| tell("Shout", hostile.Shout(c"x").map(|text| text.as_bytes().len())));
    let wide = U16CString::from_str("wide").expect("no zero inside");
    limited(&|| tell("Measure", hostile.Measure(&wide)));
    limited(&|| tell("Weigh", hostile.Weigh(&[MARK; 2])));
    limited(&|| tell("Maybe", hostile.Maybe(Some(&MARK))));
    limited(&|| tell("Visit", hostile.Visit(Some(&IThing::from(Thing(9))))));
    limited(&|| tell("Make", hostile.Make(3).and_then(|thing| use_thing(&thing))));
    limited(&|| tell("MakeAgain", hostile.Make(4).and_then(|thing| use_thing(&thing))));
    limited(&|| {
        let mut marks = [MARK; 8];
        tell("Marks", hostile.Marks(&mut marks).map(|got| (got, marks.iter().filter(|mark| mark.set).count())));
    });
    limited(&|| tell("All", hostile.All().map(|marks| marks.iter().filter(|mark| mark.set).count())));
    // When the hostile server no longer takes these oneway calls, the window fills up, and a call
    // waits until its deadline. The loop then ends.
    for code in 0..20 {
        let began = Instant::now();
        limited(&|| drop(hostile.Hint(code)));
        if began.elapsed() >= limit {
            break;
        }
    }
    limited(&|| tell("Pair", hostile.cast::<IPair>().map_err(obvia::Error::from).and_then(|pair| use_pair(&pair))));
}

/// Calls one method repeatedly for some time.
fn repeat(hostile: &IVictim, opnum: &str) {
    let started = Instant::now();
    while started.elapsed() < REPEATED {
        let _ = match opnum {
            "9" => hostile.Shout(c"text").map(|text| text.as_bytes().len()),
            _ => hostile.All().map(|marks| marks.iter().filter(|mark| mark.set && mark.color.0 < 8).count()),
        };
    }
}

fn use_thing(thing: &IThing) -> obvia::Result<i32> {
    let number = thing.Number()?;
    let pair: IPair = thing.cast()?;
    use_pair(&pair)?;
    Ok(number)
}

fn use_pair(pair: &IPair) -> obvia::Result<usize> {
    pair.Swap(1, 2)?;
    let title = pair.Title()?;
    pair.Second()?;
    Ok(title.as_bytes().len())
}
