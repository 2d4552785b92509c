//! A server of objects that are called by name, for clients of DCOM and Automation of other
//! implementations.
//!
//! `interop-script [--user NAME PASSWORD [--sealed]] [--pinging MILLISECONDS] BINDING ...` serves
//! until the process is killed. Each line of output is a binding with its endpoint. After that,
//! each line of input is answered with the number of objects. With `--user` only this user may
//! create objects and call them; with `--sealed` calls have to be encrypted. With `--pinging`
//! clients have to ping at this period, and may miss three pings.

use interop::script::{IScript, IScript_Impl};
use obvia::dcom::{Pinging, register_class, set_pinging};
use obvia::security::{
    AccountTable, Callers, Level, NtHash, set_accounts, set_default_access, set_default_class_access,
};
use obvia::{Agile, Bstr, Error, GUID, HRESULT, Result, SafeArray, Variant, code};
use std::collections::HashMap;
use std::io::BufRead;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The class of the objects.
const CLASS: GUID = GUID::from_u128(0x5b0e_6b3c_0d5e_4c5a_9f3e_6f1d_0c7a_2b04);

static LIVE: AtomicI32 = AtomicI32::new(0);

#[obvia::object(IScript)]
#[derive(Default)]
struct Script {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    title: Bstr,
    items: HashMap<String, Agile<Variant>>,
    friend: Option<Agile<IScript>>,
}

impl Script {
    fn titled(title: Bstr) -> IScript {
        LIVE.fetch_add(1, Ordering::SeqCst);
        Self { kept: Mutex::new(Kept { title, ..Kept::default() }) }.into()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        LIVE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Returns the elements of an array, if they have the type `T`.
fn elements<T: obvia::automation::Element + Copy>(array: &SafeArray) -> Result<Vec<T>> {
    array.as_slice::<T>().map(<[T]>::to_vec).ok_or_else(|| code::DISP_E_TYPEMISMATCH.into())
}

impl IScript_Impl for Script_Impl {
    fn Echo(&self, value: &Variant) -> Result<Variant> {
        value.copy()
    }

    fn Kind(&self, value: &Variant) -> Result<i32> {
        Ok(value.vt().into())
    }

    fn Subtract(&self, from: i32, what: i32) -> Result<i32> {
        Ok(from.wrapping_sub(what))
    }

    fn get_Title(&self) -> Result<Bstr> {
        Ok(self.kept().title.clone())
    }

    fn put_Title(&self, title: &Bstr) -> Result<()> {
        self.kept().title = title.clone();
        Ok(())
    }

    fn get_Item(&self, name: &Bstr) -> Result<Variant> {
        let kept = self.kept();
        let found = kept.items.get(&name.to_string());
        found.ok_or_else(|| Error::new(code::E_INVALIDARG, format!("there is no {name}")))?.get().copy()
    }

    fn put_Item(&self, name: &Bstr, value: &Variant) -> Result<()> {
        let value = Agile::new(value)?;
        self.kept().items.insert(name.to_string(), value);
        Ok(())
    }

    fn get_Friend(&self) -> Result<IScript> {
        let friend = self.kept().friend.clone();
        friend.map(|friend| friend.get().clone()).ok_or_else(|| Error::new(code::E_FAIL, "it has no friend"))
    }

    fn putref_Friend(&self, object: Option<&IScript>) -> Result<()> {
        let friend = object.map(Agile::new).transpose()?;
        self.kept().friend = friend;
        Ok(())
    }

    fn Fail(&self, code: i32, words: &Bstr) -> Result<()> {
        Err(Error::new(HRESULT(code), words.to_string()))
    }

    fn Make(&self, title: &Bstr) -> Result<IScript> {
        Ok(Script::titled(title.clone()))
    }

    fn TitleOf(&self, other: Option<&IScript>) -> Result<Bstr> {
        other.ok_or(code::E_POINTER)?.get_Title()
    }

    fn Numbers(&self, numbers: &SafeArray) -> Result<SafeArray> {
        let more: Vec<i32> = elements::<i32>(numbers)?.into_iter().map(|number| number.wrapping_add(1)).collect();
        SafeArray::of(&more)
    }

    fn Halves(&self, numbers: &SafeArray) -> Result<SafeArray> {
        let halves: Vec<f64> = elements::<f64>(numbers)?.into_iter().map(|number| number / 2.0).collect();
        SafeArray::of(&halves)
    }

    fn Texts(&self, texts: &SafeArray) -> Result<SafeArray> {
        let backwards = |text: &Variant| {
            let text = String::try_from(text)?;
            Ok(Variant::from(text.chars().rev().collect::<String>().as_str()))
        };
        let texts: Vec<Variant> = texts.to_variants()?.iter().map(backwards).collect::<Result<_>>()?;
        SafeArray::of_variants(obvia::automation::vt::BSTR, &texts)
    }

    fn Values(&self, values: &SafeArray) -> Result<SafeArray> {
        let mut values = values.to_variants()?;
        values.reverse();
        SafeArray::of_variants(obvia::automation::vt::VARIANT, &values)
    }

    fn Change(&self, number: &mut i32, text: &mut Bstr, value: &mut Variant) -> Result<Variant> {
        *number = number.wrapping_add(1);
        *text = format!("{text}!").as_str().into();
        Ok(std::mem::replace(value, Variant::from("changed")))
    }

    fn Text(&self, letters: i32) -> Result<Bstr> {
        let letters = usize::try_from(letters).map_err(|_| code::E_INVALIDARG)?;
        Ok("x".repeat(letters).as_str().into())
    }

    fn Simple(
        &self,
        least: i16,
        middle: i32,
        most: i64,
        octet: u8,
        narrow: f32,
        wide: f64,
        truth: i16,
        day: f64,
    ) -> Result<Bstr> {
        let text = format!("{least} {middle} {most} {octet} {narrow} {wide} {truth} {day}");
        Ok(text.as_str().into())
    }

    fn get_Live(&self) -> Result<i32> {
        Ok(LIVE.load(Ordering::SeqCst))
    }
}

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1).peekable();
    if words.next_if_eq("--user").is_some() {
        let (user, password) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        set_accounts(AccountTable::default().with(&user, NtHash::of_password(&password)));
        let who = |least| Callers::nobody().with_account(&user, least);
        set_default_class_access(who(Level::Connect))?;
        let is_sealed = words.next_if_eq("--sealed").is_some();
        set_default_access(who(if is_sealed { Level::Privacy } else { Level::Connect }))?;
    }
    if words.next_if_eq("--pinging").is_some() {
        let period = words.next().and_then(|text| text.parse().ok()).map(Duration::from_millis);
        set_pinging(Pinging { period: period.ok_or(code::E_INVALIDARG)?, missed: 3 })?;
    }
    let _class = register_class(CLASS, None, || Ok(Script::titled(Bstr::new())))?;
    for binding in words {
        println!("{}", obvia::listen(&binding)?);
    }
    for _ in std::io::stdin().lock().lines() {
        println!("{}", LIVE.load(Ordering::SeqCst));
    }
    obvia::wait()
}
