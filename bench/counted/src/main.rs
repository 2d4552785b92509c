//! Makes calls under callgrind, which writes the number of their instructions. Each side writes two
//! files for each case. The second file contains the counts.
//!
//! `obvia-icount serve NAME FIRST COUNTED` exports the object, and ends when its standard input
//! ends. `obvia-icount call NAME FIRST COUNTED METHOD:WORDS...` calls the object. The first file of
//! a case has the counts of its first calls, which set up lasting state.
//!
//! The client counts from the entry of [`entry_client`] until its return. The server counts from
//! one execution of a method to the next. In both, callgrind's options stop the counting in the
//! functions that hand calls over: see `xtask/src/icount/sides.rs`.

use obvia::{Access, Elements, ElementsMut, Lending, SharedMemory, Waiting};
use std::ffi::{CStr, CString};
use std::hint::black_box;
use std::io::Read;
use std::sync::atomic::{AtomicU32, Ordering};

mod callgrind;
mod interface {
    obvia::include_idl!("icount");
}

use interface::{IStubs, IStubs_Impl};

/// The name, in callgrind's files, of the counts before a case's counted calls.
const FIRST: &CStr = c"first";

/// The number of a case's first calls, and the number of its counted calls.
#[derive(Clone, Copy)]
struct Plan {
    first: u32,
    counted: u32,
}

/// The object that the client calls. Its methods do as little as possible.
#[obvia::object(IStubs)]
struct Stubs {
    plan: Plan,
    /// The number of calls in the current case so far.
    calls: AtomicU32,
}

impl Stubs {
    /// Counts the calls. Starts callgrind's counts in the last uncounted call, and stops them in
    /// the last call of the case. The counts of a call therefore reach from one execution of the
    /// method to the next.
    #[inline(always)]
    fn called(&self, method: &CStr) {
        // Only the thread that serves the client runs this function.
        let calls = self.calls.load(Ordering::Relaxed) + 1;
        self.calls.store(calls, Ordering::Relaxed);
        if calls == self.plan.first {
            callgrind::dump(FIRST);
            callgrind::toggle();
        } else if calls == self.plan.first + self.plan.counted {
            // If another thread now serves the connection, the toggle starts the counts of that
            // thread. These counts include hand-overs, and xtask rejects the case.
            callgrind::toggle();
            callgrind::dump(method);
            self.calls.store(0, Ordering::Relaxed);
        }
    }
}

impl IStubs_Impl for Stubs_Impl {
    fn null(&self) -> obvia::Result<()> {
        self.called(c"null");
        Ok(())
    }

    fn pfs_open(&self, client: i32, fobj: i32, flags: i32, mode: i32) -> obvia::Result<i32> {
        self.called(c"pfs_open");
        Ok(client ^ fobj ^ flags ^ mode)
    }

    fn pfs_write(&self, handle: i32, pos: &mut i32, len: i32, data: Elements<'_, i32>) -> obvia::Result<()> {
        self.called(c"pfs_write");
        *pos += len;
        black_box((handle, data.get(0)));
        Ok(())
    }

    fn pfs_get_direntries(
        &self,
        handle: i32,
        pos: &mut i32,
        count: i32,
        data: &mut Lending<'_, i32>,
    ) -> obvia::Result<()> {
        self.called(c"pfs_get_direntries");
        *pos += count;
        // The lent memory is initialized: it was zeroed, or an earlier call has used it.
        data.fill_with(count as usize, |entries| entries[0] = handle);
        Ok(())
    }

    fn MoveData(&self, mut data: ElementsMut<'_, u32>) -> obvia::Result<()> {
        self.called(c"MoveData");
        data.set(0, 7);
        Ok(())
    }

    fn copy_in(&self, handle: i32, pos: &mut i32, len: i32, data: &[i32]) -> obvia::Result<()> {
        self.called(c"copy_in");
        *pos += len;
        black_box((handle, data.first()));
        Ok(())
    }

    fn copy_out(&self, handle: i32, pos: &mut i32, count: i32, data: &mut [i32]) -> obvia::Result<i32> {
        self.called(c"copy_out");
        *pos += count;
        black_box((handle, data.first()));
        Ok(data.len() as i32)
    }

    fn copy_both(&self, data: &mut [u32]) -> obvia::Result<()> {
        self.called(c"copy_both");
        black_box(data.first());
        Ok(())
    }
}

/// The arguments of the calls.
struct Arguments {
    shared: SharedMemory,
    words: usize,
    unsigned: Vec<u32>,
    signed: Vec<i32>,
}

impl Arguments {
    fn new(words: usize) -> obvia::Result<Self> {
        let shared = SharedMemory::new(words * 4, Access::Write)?;
        Ok(Self { shared, words, unsigned: vec![1; words], signed: vec![1; words] })
    }
}

/// Makes one call. Callgrind counts from here: all instructions below belong to the client.
#[inline(never)]
fn entry_client(object: &IStubs, method: &str, with: &mut Arguments) -> obvia::Result<()> {
    let (mut pos, words) = (5, with.words);
    let too_short = obvia::code::E_INVALIDARG;
    match method {
        "null" => object.null()?,
        "pfs_open" => {
            black_box(object.pfs_open(1, 2, 3, 4)?);
        }
        "pfs_write" => object.pfs_write(1, &mut pos, 3, with.shared.elements(0, words).ok_or(too_short)?)?,
        "pfs_get_direntries" => {
            black_box(object.pfs_get_direntries(1, &mut pos, words as i32)?.get(0));
        }
        "MoveData" => object.MoveData(with.shared.elements_mut(0, words).ok_or(too_short)?)?,
        "copy_in" => object.copy_in(1, &mut pos, 3, &with.signed)?,
        "copy_out" => {
            black_box(object.copy_out(1, &mut pos, 3, &mut with.signed)?);
        }
        _ => object.copy_both(&mut with.unsigned)?,
    }
    Ok(())
}

/// Makes the calls of one case, `METHOD:WORDS`.
fn call(object: &IStubs, plan: Plan, case: &str) -> obvia::Result<()> {
    let wrong = obvia::code::E_INVALIDARG;
    let (method, words) = case.split_once(':').ok_or(wrong)?;
    let mut with = Arguments::new(words.parse().map_err(|_| wrong)?)?;
    let name = CString::new(method).map_err(|_| wrong)?;
    for _ in 0..plan.first {
        entry_client(object, black_box(method), &mut with)?;
    }
    callgrind::dump(FIRST);
    for _ in 0..plan.counted {
        entry_client(object, black_box(method), &mut with)?;
    }
    callgrind::dump(&name);
    Ok(())
}

fn main() -> obvia::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if !callgrind::IS_KNOWN {
        eprintln!("obvia-icount cannot ask callgrind anything on this processor: see bench/counted/src/callgrind.rs");
        return Err(obvia::code::E_NOTIMPL.into());
    }
    let number = |text: &str| text.parse().unwrap_or(1);
    // Both sides wait by blocking, because callgrind runs one thread of a process at a time.
    obvia::set_waiting(Waiting::Block);
    match arguments.as_slice() {
        ["serve", name, first, counted] => {
            let plan = Plan { first: number(first), counted: number(counted) };
            let _export = obvia::export(name, IStubs::from(Stubs { plan, calls: AtomicU32::new(0) }))?;
            println!("ready");
            let _ = std::io::stdin().read(&mut [0]);
        }
        ["call", name, first, counted, cases @ ..] => {
            let plan = Plan { first: number(first), counted: number(counted) };
            let object: IStubs = obvia::connect(name)?;
            for case in cases {
                call(&object, plan, case)?;
            }
        }
        _ => eprintln!("usage: obvia-icount serve NAME FIRST COUNTED | call NAME FIRST COUNTED METHOD:WORDS..."),
    }
    Ok(())
}
