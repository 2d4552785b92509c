//! Makes a number of calls, for counting the instructions that they take.
//!
//! `obvia-icount serve NAME` exports the object and ends when its standard input does; `obvia-icount call NAME METHOD CALLS
//! WORDS` calls it. Both sides sleep while they wait, so that the count does not depend on time.

use obvia::{Access, Elements, ElementsMut, Lending, SharedMemory, Waiting};
use std::hint::black_box;
use std::io::Read;

mod interface {
    obvia::include_idl!("icount");
}

use interface::{IStubs, IStubs_Impl};

/// The object. Its methods do as little as they can.
#[windows_core::implement(IStubs)]
struct Stubs;

impl IStubs_Impl for Stubs_Impl {
    fn null(&self) -> obvia::Result<()> {
        Ok(())
    }

    fn pfs_open(&self, client: i32, fobj: i32, flags: i32, mode: i32) -> obvia::Result<i32> {
        Ok(client ^ fobj ^ flags ^ mode)
    }

    fn pfs_write(&self, handle: i32, pos: &mut i32, len: i32, data: Elements<'_, i32>) -> obvia::Result<()> {
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
        *pos += count;
        // The room has been zeroed or used before.
        data.fill_with(count as usize, |entries| entries[0] = handle);
        Ok(())
    }

    fn MoveData(&self, mut data: ElementsMut<'_, u32>) -> obvia::Result<()> {
        data.set(0, 7);
        Ok(())
    }

    fn copy_in(&self, handle: i32, pos: &mut i32, len: i32, data: &[i32]) -> obvia::Result<()> {
        *pos += len;
        black_box((handle, data.first()));
        Ok(())
    }

    fn copy_out(&self, handle: i32, pos: &mut i32, count: i32, data: &mut [i32]) -> obvia::Result<i32> {
        *pos += count;
        black_box((handle, data.first()));
        Ok(data.len() as i32)
    }

    fn copy_both(&self, data: &mut [u32]) -> obvia::Result<()> {
        black_box(data.first());
        Ok(())
    }
}

/// What the calls are made with.
struct Arguments {
    shared: SharedMemory,
    words: usize,
    unsigned: Vec<u32>,
    signed: Vec<i32>,
}

/// A call's entry, which the counter looks for: everything below it is the client's.
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

fn main() -> obvia::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    obvia::set_waiting(Waiting::Block);
    match arguments.as_slice() {
        ["serve", name] => {
            let _export = obvia::export(name, IStubs::from(Stubs))?;
            println!("ready");
            let _ = std::io::stdin().read(&mut [0]);
        }
        ["call", name, method, calls, words] => {
            let object: IStubs = obvia::connect(name)?;
            let (calls, words): (u32, usize) = (calls.parse().unwrap_or(0), words.parse().unwrap_or(0));
            let shared = SharedMemory::new(words * 4, Access::Write)?;
            let mut with = Arguments { shared, words, unsigned: vec![1; words], signed: vec![1; words] };
            for _ in 0..calls {
                entry_client(&object, black_box(method), &mut with)?;
            }
        }
        _ => eprintln!("usage: obvia-icount serve NAME | call NAME METHOD CALLS WORDS"),
    }
    Ok(())
}
