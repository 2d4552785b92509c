//! Exports a calculator under the name in the first argument, or "calc". With `--class`, registers
//! the class instead, and creates a calculator for each activation until the server is idle.

use calc::*;
use obvia::{Agile, ComObject, U16CStr, U16CString};
use std::ffi::{CStr, CString};
use std::sync::Mutex;
use std::time::Duration;

#[obvia::object(ICalc2)]
struct Calc {
    tape: ComObject<Tape>,
    calls: Mutex<i64>,
}

#[obvia::object(ITape)]
#[derive(Default)]
struct Tape {
    entries: Mutex<Vec<Entry>>,
    events: Mutex<Option<Agile<ITapeEvents>>>,
}

impl Tape {
    fn print(&self, entry: Entry) -> obvia::Result<()> {
        self.entries.lock().unwrap().push(entry);
        let events = self.events.lock().unwrap().clone();
        if let Some(events) = events {
            let events = events.get();
            events.Hint(entry.operation.0)?;
            events.Printed(&entry)?;
        }
        Ok(())
    }
}

impl ITape_Impl for Tape_Impl {
    fn Length(&self) -> obvia::Result<u32> {
        Ok(self.entries.lock().unwrap().len() as u32)
    }

    fn Read(&self, first: u32, entries: &mut [Entry]) -> obvia::Result<u32> {
        let all = self.entries.lock().unwrap();
        let there = all.get(first as usize..).unwrap_or_default();
        let count = there.len().min(entries.len());
        entries[..count].copy_from_slice(&there[..count]);
        Ok(count as u32)
    }

    fn All(&self) -> obvia::Result<Vec<Entry>> {
        Ok(self.entries.lock().unwrap().clone())
    }

    fn Watch(&self, events: Option<&ITapeEvents>) -> obvia::Result<()> {
        *self.events.lock().unwrap() = events.map(Agile::new).transpose()?;
        Ok(())
    }

    fn Watcher(&self) -> obvia::Result<ITapeEvents> {
        let events = self.events.lock().unwrap().clone();
        events.map(|events| events.get().clone()).ok_or_else(|| obvia::code::E_POINTER.into())
    }
}

impl ICalc_Impl for Calc_Impl {
    fn Nothing(&self) -> obvia::Result<()> {
        Ok(())
    }

    fn Add(&self, a: i32, b: i32) -> obvia::Result<i32> {
        *self.calls.lock().unwrap() += 1;
        a.checked_add(b).ok_or_else(|| obvia::code::E_INVALIDARG.into())
    }

    fn Compute(&self, operation: Operation, left: f64, right: f64) -> obvia::Result<f64> {
        let result = match operation {
            Operation::ADD => left + right,
            Operation::SUBTRACT => left - right,
            Operation::MULTIPLY => left * right,
            _ => left / right,
        };
        self.tape.print(Entry { operation, left, right, result, marked: result > 100.0 })?;
        Ok(result)
    }

    fn Sum(&self, values: &[i32]) -> obvia::Result<i64> {
        Ok(values.iter().copied().map(i64::from).sum())
    }

    fn Scale(&self, by: f64, values: &mut [f64]) -> obvia::Result<()> {
        values.iter_mut().for_each(|value| *value *= by);
        Ok(())
    }

    fn Name(&self, language: &U16CStr) -> obvia::Result<U16CString> {
        let name = if language.to_string_lossy() == "de" { "Taschenrechner \u{1f9ee}" } else { "calculator" };
        U16CString::from_str(name).map_err(|_| obvia::code::E_UNEXPECTED.into())
    }

    fn Shout(&self, text: Option<&CStr>) -> obvia::Result<(CString, i32)> {
        let loud = text.map_or(Vec::new(), |text| text.to_bytes().to_ascii_uppercase());
        let letters = loud.len() as i32;
        Ok((CString::new(loud)?, letters))
    }

    fn Tape(&self) -> obvia::Result<ITape> {
        Ok(self.tape.to_interface())
    }

    fn Ask(&self, iid: &obvia::GUID) -> obvia::Result<obvia::IUnknown> {
        let tape: ITape = self.tape.to_interface();
        if *iid == <ITape as obvia::Interface>::IID { Ok(tape.into()) } else { Err(obvia::code::E_NOINTERFACE.into()) }
    }

    fn Percent(&self, percent: i32, of: Option<&Entry>) -> obvia::Result<f64> {
        Ok(of.map_or(0.0, |entry| entry.result * f64::from(percent) / 100.0))
    }

    fn Crash(&self) -> obvia::Result<()> {
        panic!("this method is there to show that a panic costs only its call");
    }

    fn Grid(&self, width: i32, height: i32, cells: &[i16]) -> obvia::Result<i64> {
        assert_eq!(cells.len(), (width * height) as usize);
        Ok(cells.iter().copied().map(i64::from).sum())
    }

    fn Wait(&self, milliseconds: i32) -> obvia::Result<()> {
        for _ in 0..milliseconds {
            if obvia::is_cancelled() {
                return Err(obvia::code::RPC_E_CALL_CANCELED.into());
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        Ok(())
    }
}

impl ICalc2_Impl for Calc_Impl {
    fn Calls(&self, calls: &mut i64) -> obvia::Result<bool> {
        *calls += *self.calls.lock().unwrap();
        Ok(*calls > 10)
    }
}

fn calculator() -> ICalc2 {
    Calc { tape: ComObject::new(Tape::default()), calls: Mutex::default() }.into()
}

fn main() -> obvia::Result<()> {
    // Catch signals before the server is announced. Once clients know the server, a signal has to
    // end the server properly.
    obvia::catch_signals()?;
    let name = std::env::args().nth(1).unwrap_or_else(|| "calc".to_owned());
    if name == "--class" {
        let _class = obvia::dcom::register_class(CALC, None, || Ok(calculator()))?;
        return obvia::dcom::serve_until_idle(Duration::from_secs(60));
    }
    let _export = obvia::export(&name, calculator())?;
    println!("serving {name}");
    obvia::wait_for_signal()
}
