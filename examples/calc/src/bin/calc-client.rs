//! A client of the calculator that is exported under the name in the first argument, or "calc".
//! With `--class`, the client creates a calculator by its class.

use calc::*;
use obvia::{Interface, u16cstr};
use std::sync::atomic::{AtomicU32, Ordering};

#[obvia::object(ITapeEvents)]
#[derive(Default)]
struct Printer(std::sync::Arc<AtomicU32>);

impl ITapeEvents_Impl for Printer_Impl {
    fn Printed(&self, entry: &Entry) -> obvia::Result<()> {
        println!("  printed: {entry:?}");
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn Hint(&self, code: i32) -> obvia::Result<()> {
        println!("  hint: {code}");
        Ok(())
    }
}

fn main() -> obvia::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "calc".to_owned());
    let calc: ICalc =
        if name == "--class" { obvia::dcom::create_instance(CALC, None)? } else { obvia::connect(&name)? };
    println!("2 + 3 = {}", calc.Add(2, 3)?);
    println!("too much: {}", calc.Add(i32::MAX, 1).unwrap_err());
    println!("sum = {}", calc.Sum(&[1, 2, 3, i32::MAX])?);
    let mut values = [1.0, 2.0, 3.0];
    calc.Scale(1.5, &mut values)?;
    println!("scaled = {values:?}");
    println!(
        "it is a {}, a {}",
        calc.Name(u16cstr!("en"))?.to_string_lossy(),
        calc.Name(u16cstr!("de"))?.to_string_lossy()
    );
    println!("{:?} {:?}", calc.Shout(Some(c"quiet"))?, calc.Shout(None)?);
    println!("grid = {}", calc.Grid(3, 2, &[1, 2, 3, 4, 5, 6])?);
    println!("wrong grid: {}", calc.Grid(3, 3, &[1]).unwrap_err());

    let tape = calc.Tape()?;
    let count = std::sync::Arc::new(AtomicU32::new(0));
    let printer: ITapeEvents = Printer(count.clone()).into();
    tape.Watch(Some(&printer))?;
    println!("6 * 7 = {}", calc.Compute(Operation::MULTIPLY, 6.0, 7.0)?);
    println!("600 / 7 = {}", calc.Compute(Operation::DIVIDE, 600.0, 7.0)?);
    assert_eq!(count.load(Ordering::SeqCst), 2);
    // The method returns the client's own object itself, not a proxy.
    assert_eq!(tape.Watcher()?, printer);
    let all = tape.All()?;
    let mut some = [Entry::default(); 8];
    let got = tape.Read(1, &mut some)?;
    println!("tape has {} entries, the second is {:?}", tape.Length()?, &some[..got as usize]);
    assert_eq!(all[1], some[0]);
    let asked: ITape = calc.Ask(&ITape::IID)?.cast()?;
    // An object has one identity, whichever call returned it.
    assert_eq!(asked, tape);
    println!("50 % of it is {}", calc.Percent(50, Some(&all[1]))?);
    println!("101 %: {}", calc.Percent(101, None).unwrap_err());
    println!("a panic: {}", calc.Crash().unwrap_err());
    let calc2: ICalc2 = calc.cast()?;
    let mut calls = 100;
    println!("many: {}, calls: {calls}", calc2.Calls(&mut calls)?);
    let slow = obvia::with_timeout(std::time::Duration::from_millis(50), || calc.Wait(2000)).unwrap_err();
    println!("slow: {slow}");
    println!("and on it goes: {}", calc2.Add(20, 22)?);
    tape.Watch(None)?;
    Ok(())
}
