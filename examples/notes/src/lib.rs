//! Notes with titles: an object that programs, scripts and the command line call, by its interface
//! or by the names of its members.

use obvia::automation::{Value, vt};
use obvia::{Agile, Bstr, Error, Result, SafeArray, Variant, code};
use std::sync::{Mutex, MutexGuard, PoisonError};

obvia::include_idl!("notes");

/// A list of notes.
#[obvia::object(INotes)]
#[derive(Default)]
pub struct Notes {
    kept: Mutex<Vec<Note>>,
}

struct Note {
    title: Bstr,
    content: Agile<Variant>,
    section: Option<Agile<INotes>>,
}

impl Notes {
    fn kept(&self) -> MutexGuard<'_, Vec<Note>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, title: &Bstr, content: &Variant) -> Result<i32> {
        // The content has to be usable on any thread.
        let content = Agile::new(content)?;
        let mut kept = self.kept();
        kept.push(Note { title: title.clone(), content, section: None });
        Ok(kept.len() as i32)
    }
}

/// Returns the index of a note. The key is the note's number from 1 on, or its title.
fn position(kept: &[Note], key: &Variant) -> Result<usize> {
    let found = match key.value()? {
        Value::Text(title) => kept.iter().position(|note| note.title == title),
        _ => usize::try_from(i64::try_from(key)?)
            .ok()
            .and_then(|number| number.checked_sub(1))
            .filter(|at| *at < kept.len()),
    };
    found.ok_or_else(|| Error::new(code::E_INVALIDARG, format!("there is no note {key:?}")))
}

impl INotes_Impl for Notes_Impl {
    fn get_Count(&self) -> Result<i32> {
        Ok(self.kept().len() as i32)
    }

    fn Add(&self, title: &Bstr, content: &Variant) -> Result<i32> {
        let empty = Variant::new();
        self.add(title, if content.is_missing() { &empty } else { content })
    }

    fn get_Item(&self, key: &Variant) -> Result<Variant> {
        let kept = self.kept();
        kept[position(&kept, key)?].content.get().copy()
    }

    fn put_Item(&self, key: &Variant, content: &Variant) -> Result<()> {
        let mut kept = self.kept();
        let at = position(&kept, key)?;
        kept[at].content = Agile::new(content)?;
        Ok(())
    }

    fn Find(&self, text: &Bstr, most: i32) -> Result<SafeArray> {
        let text = text.to_string();
        let kept = self.kept();
        let titles = kept.iter().map(|note| &note.title).filter(|title| title.to_string().contains(&text));
        let titles: Vec<Variant> = titles.take(most as usize).map(|title| title.clone().into()).collect();
        SafeArray::of_variants(vt::BSTR, &titles)
    }

    fn Import(&self, titles: &SafeArray, last: &mut Variant) -> Result<(i16, i32)> {
        let titles = titles.to_variants()?;
        for title in &titles {
            self.add(&Bstr::try_from(title)?, &std::mem::take(last))?;
            *last = title.copy()?;
        }
        Ok((if titles.is_empty() { 0 } else { -1 }, titles.len() as i32))
    }

    fn Complete(&self, text: &mut Bstr) -> Result<()> {
        *text = format!("{text}, and so on").as_str().into();
        Ok(())
    }

    fn Section(&self, title: &Bstr) -> Result<INotes> {
        let mut kept = self.kept();
        let at = position(&kept, &title.clone().into())?;
        if let Some(section) = &kept[at].section {
            return Ok(section.get().clone());
        }
        let section: INotes = Notes::default().into();
        kept[at].section = Some(Agile::new(&section)?);
        Ok(section)
    }

    fn Merge(&self, other: Option<&INotes>) -> Result<i32> {
        let other = other.ok_or(code::E_POINTER)?;
        let titles = other.Find(&Bstr::new(), 1000)?;
        let added = titles.to_variants()?;
        for title in &added {
            self.add(&Bstr::try_from(title)?, &other.get_Item(title)?)?;
        }
        Ok(added.len() as i32)
    }
}
