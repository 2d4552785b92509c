//! The objects of the good server. Every method reads its arguments completely, so that invalid
//! memory is noticed.

use obvia::{Elements, ElementsMut, Error, U16CStr, code};
use obvia_hostile::{Color, IPair, IPair_Impl, IThing, IThing_Impl, IVictim, IVictim_Impl, Mark};
use std::collections::BTreeSet;
use std::ffi::{CStr, CString};

#[obvia::object(IVictim)]
pub(crate) struct Victim;

#[obvia::object(IThing, IPair)]
pub(crate) struct Thing(pub(crate) i32);

impl IThing_Impl for Thing_Impl {
    fn Number(&self) -> obvia::Result<i32> {
        Ok(self.0)
    }
}

impl IPair_Impl for Thing_Impl {
    fn First(&self) -> obvia::Result<i64> {
        Ok(self.0.into())
    }

    fn Second(&self) -> obvia::Result<i64> {
        Ok(i64::from(self.0) + 1)
    }

    fn Swap(&self, first: i64, second: i64) -> obvia::Result<(i64, i64)> {
        Ok((second, first))
    }

    fn Title(&self) -> obvia::Result<CString> {
        CString::new(format!("thing {}", self.0)).map_err(|_| code::E_UNEXPECTED.into())
    }
}

/// Returns an error with all parts of error information.
fn nobody() -> Error {
    Error::new(code::E_POINTER, "there is nothing to visit").with_source("victim").with_help("victim.chm", 7)
}

fn weight(marks: &[Mark]) -> i64 {
    marks.iter().map(|mark| if mark.set { mark.weight.wrapping_mul(i64::from(mark.color.0)) } else { 0 }).sum()
}

impl IVictim_Impl for Victim_Impl {
    fn Add(&self, a: i32, b: i32) -> obvia::Result<i32> {
        Ok(a.wrapping_add(b))
    }

    fn Sum(&self, values: &[i32]) -> obvia::Result<i64> {
        Ok(values.iter().map(|&value| i64::from(value)).sum())
    }

    fn Reverse(&self, values: &mut [i32]) -> obvia::Result<()> {
        values.reverse();
        Ok(())
    }

    fn Fill(&self, values: &mut [i32]) -> obvia::Result<()> {
        values.fill(7);
        Ok(())
    }

    fn Flip(&self, value: bool) -> obvia::Result<bool> {
        // An invalid boolean ends the process.
        Ok(match u8::from(value) {
            0 => true,
            1 => false,
            other => panic!("a boolean of {other}"),
        })
    }

    fn Mix(&self, color: Color) -> obvia::Result<Color> {
        assert!([Color::RED, Color::GREEN, Color::BLUE].contains(&color), "a colour of {}", color.0);
        Ok(color)
    }

    fn Shout(&self, text: &CStr) -> obvia::Result<CString> {
        CString::new(text.to_bytes().to_ascii_uppercase()).map_err(|_| code::E_UNEXPECTED.into())
    }

    fn Measure(&self, text: &U16CStr) -> obvia::Result<u32> {
        u32::try_from(text.len()).map_err(|_| code::E_INVALIDARG.into())
    }

    fn Digit(&self, digit: i32) -> obvia::Result<i32> {
        assert!((0..10).contains(&digit), "a digit of {digit}");
        Ok(digit)
    }

    fn Weigh(&self, marks: &[Mark]) -> obvia::Result<i64> {
        Ok(weight(marks))
    }

    fn Maybe(&self, mark: Option<&Mark>) -> obvia::Result<i64> {
        Ok(mark.map_or(-1, |mark| weight(&[*mark])))
    }

    fn Visit(&self, thing: Option<&IThing>) -> obvia::Result<i32> {
        thing.ok_or_else(nobody)?.Number()
    }

    fn Make(&self, number: i32) -> obvia::Result<IThing> {
        Ok(Thing(number).into())
    }

    fn Grid(&self, _width: i32, _height: i32, cells: &[i16]) -> obvia::Result<i64> {
        Ok(cells.iter().map(|&cell| i64::from(cell)).sum())
    }

    fn Marks(&self, marks: &mut [Mark]) -> obvia::Result<u32> {
        let count = marks.len().min(3);
        marks[..count].fill(Mark { set: true, color: Color::GREEN, weight: 5 });
        Ok(count as u32)
    }

    fn All(&self) -> obvia::Result<Vec<Mark>> {
        Ok(vec![Mark { set: true, color: Color::BLUE, weight: 2 }; 4])
    }

    fn Hint(&self, _code: i32) -> obvia::Result<()> {
        Ok(())
    }

    fn Total(&self, values: Elements<'_, i32>) -> obvia::Result<i64> {
        Ok(values.iter().map(i64::from).sum())
    }

    fn Double(&self, mut values: ElementsMut<'_, i32>) -> obvia::Result<()> {
        for at in 0..values.len() {
            let value = values.get(at).ok_or(code::E_UNEXPECTED)?;
            values.set(at, value.wrapping_mul(2)).ok_or(code::E_UNEXPECTED)?;
        }
        Ok(())
    }

    fn Squares(&self, mut values: ElementsMut<'_, i64>) -> obvia::Result<u32> {
        let count = values.len().min(100);
        for at in 0..count {
            values.set(at, (at * at) as i64).ok_or(code::E_UNEXPECTED)?;
        }
        Ok(count as u32)
    }

    fn Copy(&self, from: Elements<'_, i16>, mut to: ElementsMut<'_, i16>) -> obvia::Result<()> {
        to.copy_from(0, &from.to_vec());
        Ok(())
    }

    fn Look(&self, bytes: Elements<'_, u8>) -> obvia::Result<u32> {
        Ok(bytes.iter().collect::<BTreeSet<_>>().len() as u32)
    }

    fn Stain(&self, mut bytes: ElementsMut<'_, u8>) -> obvia::Result<()> {
        for at in 0..bytes.len() {
            bytes.set(at, 0xee).ok_or(code::E_UNEXPECTED)?;
        }
        Ok(())
    }
}
