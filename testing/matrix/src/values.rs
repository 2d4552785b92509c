//! An object that returns its arguments, each with a change.

use crate::{IBaseValues_Impl, IValues, IValues_Impl, Line, Mode, Point};
use obvia::{GUID, HRESULT, IUnknown, Interface, Result, U16CStr, U16CString, code};
use std::ffi::{CStr, CString};

/// The object, which has no state.
#[obvia::object(IValues)]
#[derive(Default)]
pub struct Values;

impl IBaseValues_Impl for Values_Impl {
    fn Integers(&self, a: &mut i8, b: &mut i16, c: &mut i32, d: &mut i64) -> Result<()> {
        (*a, *b, *c, *d) = (!*a, !*b, !*c, !*d);
        Ok(())
    }

    fn Unsigned(&self, a: &mut u8, b: &mut u16, c: &mut u32, d: &mut u64) -> Result<()> {
        (*a, *b, *c, *d) = (!*a, !*b, !*c, !*d);
        Ok(())
    }

    fn Others(
        &self,
        a: bool,
        b: u8,
        c: u16,
        d: f32,
        e: f64,
        f: HRESULT,
        g: GUID,
    ) -> Result<(bool, u8, u16, f32, f64, HRESULT, GUID)> {
        Ok((!a, !b, !c, -d, -e, HRESULT(!f.0), GUID::from_u128(!g.to_u128())))
    }
}

impl IValues_Impl for Values_Impl {
    fn Structure(&self, given: Line, pointed: &Line, maybe: Option<&Line>) -> Result<Line> {
        let id = given.id + pointed.id + maybe.map_or(0, |line| line.id);
        Ok(Line { id, width: maybe.map_or(0.0, |line| line.width), ..given })
    }

    fn Modes(&self, modes: &[Mode], turned: &mut [Mode]) -> Result<()> {
        for (place, mode) in turned.iter_mut().zip(modes.iter().rev()) {
            *place = *mode;
        }
        Ok(())
    }

    fn Lines(&self, lines: &mut [Line]) -> Result<()> {
        lines.reverse();
        lines.iter_mut().for_each(|line| line.ends.reverse());
        Ok(())
    }

    fn Matrix(&self, m: &[[i32; 2]; 3]) -> Result<[[i32; 3]; 2]> {
        Ok(std::array::from_fn(|column| std::array::from_fn(|row| m[row][column])))
    }

    fn Fill(&self, first: i32, values: &mut [i16]) -> Result<u32> {
        let used = values.len().min(10) as u32;
        for (at, place) in values.iter_mut().take(used as usize).enumerate() {
            *place = first as i16 + at as i16;
        }
        Ok(used)
    }

    fn Made(&self, n: i32) -> Result<Vec<f64>> {
        Ok((0..n).map(|at| f64::from(at) / 2.0).collect())
    }

    fn Expression(&self, rows: i32, columns: i32, cells: &[u8]) -> Result<i64> {
        Ok(cells.iter().map(|cell| i64::from(*cell)).sum::<i64>() + i64::from(rows - columns))
    }

    fn Texts(&self, narrow: &CStr, wide: &U16CStr, maybe: Option<&U16CStr>) -> Result<(CString, U16CString)> {
        let maybe = maybe.map_or_else(|| "-".to_owned(), U16CStr::to_string_lossy);
        let both = format!("{}|{}|{maybe}", narrow.to_string_lossy(), wide.to_string_lossy());
        Ok((CString::new(both).map_err(|_| code::E_INVALIDARG)?, U16CString::new()))
    }

    fn Ranged(&self, digit: i32) -> Result<i32> {
        // The square of 5 is replaced by a value outside of the declared range.
        Ok(if digit == 5 { 101 } else { digit * digit })
    }

    fn Same(&self, _iid: &GUID, object: Option<&IUnknown>) -> Result<IUnknown> {
        Ok(object.ok_or(code::E_POINTER)?.cast()?)
    }

    fn Fail(&self, code: HRESULT) -> Result<()> {
        Err(obvia::Error::new(code, "as it was told"))
    }

    fn Greet(&self, name: &str, title: Option<&str>) -> Result<(String, i32)> {
        let greeting = title.map_or_else(|| name.to_owned(), |title| format!("{title} {name}"));
        // A String can contain a zero, which cannot be sent.
        let greeting = if name == "wrong" { "wr\0ng".to_owned() } else { greeting };
        Ok((greeting, name.len() as i32))
    }

    fn Sign(&self, text: &str, _by: Option<&IUnknown>) -> Result<String> {
        Ok(if text == "wrong" { "wr\0ng".to_owned() } else { text.to_owned() })
    }

    fn Caption(&self, wide: &mut [u16], m: &mut u32, narrow: &mut [u8], fill: u16) -> Result<()> {
        if fill == u16::from(b'-') {
            return Ok(());
        }
        *m = m.saturating_sub(1);
        wide.fill(fill);
        narrow.fill(fill as u8);
        // A string without its end is refused.
        if fill != u16::from(b'x') {
            wide.last_mut().into_iter().for_each(|last| *last = 0);
            narrow.last_mut().into_iter().for_each(|last| *last = 0);
        }
        Ok(())
    }

    fn Negate(&self, one: Option<&mut i32>, point: Option<&mut Point>) -> Result<i32> {
        let given = i32::from(one.is_some()) + i32::from(point.is_some());
        one.into_iter().for_each(|one| *one = -*one);
        point.into_iter().for_each(|point| (point.x, point.y) = (-point.x, -point.y));
        Ok(given)
    }

    fn Halve(&self, values: Option<&mut [i16]>, given: &mut bool) -> Result<()> {
        *given = values.is_some();
        values.into_iter().flatten().for_each(|value| *value /= 2);
        Ok(())
    }
}
