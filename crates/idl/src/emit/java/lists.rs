//! Linked lists: structures whose last pointer leads to the next structure.

use super::fields::Members;
use super::members::{self, Seen, place, seen};
use super::values::{in_name, is_number};
use crate::model::{Base, Operand, Type};
use crate::text::writer::Writer;

impl Members<'_> {
    /// Whether a member is a number in the word of 8 bytes that begins at an offset.
    fn is_in_word(&self, at: usize, begin: u32) -> bool {
        let is_number = match &self.fields[at].ty {
            Type::Base(base) => !matches!(base, Base::Guid | Base::Context),
            ty => matches!(ty, Type::Enum(_)),
        };
        is_number && begin.is_multiple_of(8) && self.offsets[at] / 8 == begin / 8
    }

    /// Returns the expression for a number, shifted to its bits in the word.
    fn bits(&self, at: usize) -> String {
        let value = self.written(at);
        let number = if matches!(self.fields[at].ty, Type::Enum(_)) { ".value()" } else { "" };
        format!("Frames.bits({value}{number}, {})", 8 * (self.offsets[at] % 8))
    }
}

/// Returns the expression for the index of the word at an offset of a structure: `word + 1`.
fn word_at(offset: u32) -> String {
    place("word", offset / 8)
}

/// Writes the loop that writes a list word by word. The generated loop asks the writer for the
/// beginning of the next object only after a member that makes this position unknown.
pub(super) fn writes(out: &mut Writer, members: &Members<'_>) {
    let (context, fields) = (members.context, &members.fields);
    out.line("int word = at >> 3;");
    out.line("do {");
    let (mut end, mut declare) = (word_at(members.context.model.offsets(members.found).1), "int ");
    let mut at = 0;
    while let Some(field) = fields.get(at) {
        let (offset, value) = (members.offsets[at], members.written(at));
        let slot = word_at(offset);
        let together = (at..fields.len()).take_while(|&next| members.is_in_word(next, offset)).count();
        if together > 0 {
            let bits: Vec<String> = (at..at + together).map(|at| members.bits(at)).collect();
            out.line(format!("out.word({slot}, {});", bits.join(" | ")));
            at += together;
            continue;
        }
        match seen(context.model, &field.ty) {
            _ if at + 1 == fields.len() => {
                out.line(format!("of = {value};"));
                out.line(format!("word = out.last({slot}, {end}, TYPE, of);"));
            }
            Ok(Seen::Array { element, .. }) if is_number(element) && in_name(element) == "Byte" => {
                let ty = members::graph_type(context, element);
                out.line(format!("{declare}end = out.array({slot}, {end}, {ty}, {value});"));
                (end, declare) = ("end".to_owned(), "");
            }
            seen => {
                let iid = |operand: &Operand| format!("of.{}()", members.names[operand.index]);
                members::write(out, context, &field.ty, ("out", &place("8 * word", offset)), &value, &iid);
                if !matches!(seen, Ok(Seen::Plain)) {
                    end = "out.end()".to_owned();
                }
            }
        }
        at += 1;
    }
    out.line("} while (word != 0);");
}
