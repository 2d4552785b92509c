//! Tables as words: the contents of [`super::shape`], for languages that cannot express its types.
//!
//! A table is a sequence of 64-bit words. Each entry is followed by its parts. A list is preceded
//! by its length, and an optional part by 0 or 1. Alternatives are numbered in the order of
//! `obvia_table.h`, which lists the parts of each alternative.

use super::shape::{
    Binary, Block, Class, Element, ElementType, Expr, Extent, Iid, Int, Part, Shape, Tail, Unary, What,
};
use super::{KIND_FIRST, KIND_TEXT8, KIND_TEXT16};

/// A method with pointers in its parameters.
#[derive(Debug)]
pub struct Method {
    /// The method's opnum.
    pub opnum: u16,
    /// Whether the method has no response.
    pub oneway: bool,
    /// The parameters of the request.
    pub request: Block,
    /// The parameters of the response.
    pub reply: Block,
    /// The values outside of the response that the response's expressions read.
    pub outer: &'static [Outer],
    /// The parameters in the order of the source.
    pub params: &'static [Param],
}

/// A value outside of a response that the response's expressions may read: a part of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outer {
    /// The index of the parameter in [`Method::params`].
    pub param: usize,
    /// The part of the parameter.
    pub half: Half,
}

/// A part of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// A whole integer.
    Whole(Int),
    /// The upper half of a GUID.
    Upper,
    /// The lower half of a GUID.
    Lower,
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Whether callers pass a pointer to the value, although the block contains the value itself.
    pub is_place: bool,
    /// The size in the block, in bytes.
    pub size: u32,
    /// The offset in the request's block.
    pub request: Option<u32>,
    /// The offset in the response's block.
    pub reply: Option<u32>,
}

/// Reads the types of an interface's objects in the order of their numbers. Returns `None` if the
/// words are malformed.
///
/// The result lives as long as the process.
pub fn types(words: &[i64]) -> Option<&'static [ElementType]> {
    Reader(words).all(Reader::many(Reader::element_type))
}

/// Reads a method. Returns `None` if the words are malformed.
///
/// The result lives as long as the process.
pub fn method(words: &[i64]) -> Option<Method> {
    Reader(words).all(Reader::method)
}

/// Returns the type of the elements of objects with the type number `kind`, or `None` if no type
/// has this number.
pub fn element(kind: u32) -> Option<Element> {
    Some(match kind {
        KIND_TEXT8 => Element::Char,
        KIND_TEXT16 => Element::Wide,
        own => Element::Own(u16::try_from(own.checked_sub(KIND_FIRST)?).ok()?),
    })
}

/// A reader of a table's remaining words. Its functions return `None` if the words are malformed.
pub(crate) struct Reader<'a>(pub(crate) &'a [i64]);

pub(crate) const INTS: [Int; 8] = [Int::I8, Int::U8, Int::I16, Int::U16, Int::I32, Int::U32, Int::I64, Int::U64];
pub(crate) const CLASSES: [Class; 3] = [Class::Ref, Class::Unique, Class::Full];
const UNARIES: [Unary; 3] = [Unary::Minus, Unary::Complement, Unary::Not];
const BINARIES: [Binary; 18] = [
    Binary::Add,
    Binary::Subtract,
    Binary::Multiply,
    Binary::Divide,
    Binary::Remainder,
    Binary::ShiftLeft,
    Binary::ShiftRight,
    Binary::And,
    Binary::Or,
    Binary::BitAnd,
    Binary::BitOr,
    Binary::BitXor,
    Binary::Equal,
    Binary::Unequal,
    Binary::Less,
    Binary::LessOrEqual,
    Binary::Greater,
    Binary::GreaterOrEqual,
];

fn kept<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

impl Reader<'_> {
    /// Reads all words as one entry. Returns `None` if the entry is malformed or words are left.
    pub(crate) fn all<T>(mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let found = read(&mut self)?;
        self.0.is_empty().then_some(found)
    }

    pub(crate) fn word(&mut self) -> Option<i64> {
        let (first, others) = self.0.split_first()?;
        self.0 = others;
        Some(*first)
    }

    pub(crate) fn number<T: TryFrom<i64>>(&mut self) -> Option<T> {
        T::try_from(self.word()?).ok()
    }

    pub(crate) fn one_of<T: Copy>(&mut self, values: &[T]) -> Option<T> {
        values.get(self.number::<usize>()?).copied()
    }

    /// Reads a list with its length.
    pub(crate) fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number::<usize>()?;
        (0..count).map(|_| read(self)).collect()
    }

    /// Returns a function that reads a list that lives as long as the process.
    fn many<T: 'static>(mut read: impl FnMut(&mut Self) -> Option<T>) -> impl FnMut(&mut Self) -> Option<&'static [T]> {
        move |reader| Some(&*Vec::leak(reader.list(&mut read)?))
    }

    /// Reads an optional part.
    pub(crate) fn optional<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.one_of(&[false, true])? { read(self).map(Some) } else { Some(None) }
    }

    fn method(&mut self) -> Option<Method> {
        Some(Method {
            opnum: self.number()?,
            oneway: self.one_of(&[false, true])?,
            request: self.block()?,
            reply: self.block()?,
            outer: Self::many(Self::outer)(self)?,
            params: Self::many(Self::param)(self)?,
        })
    }

    fn outer(&mut self) -> Option<Outer> {
        let param = self.number()?;
        let mut halves = INTS.map(Half::Whole).to_vec();
        halves.extend([Half::Upper, Half::Lower]);
        Some(Outer { param, half: self.one_of(&halves)? })
    }

    fn param(&mut self) -> Option<Param> {
        let is_place = self.one_of(&[false, true])?;
        let size = self.number()?;
        let request = self.optional(Self::number)?;
        let reply = self.optional(Self::number)?;
        Some(Param { is_place, size, request, reply })
    }

    fn block(&mut self) -> Option<Block> {
        Some(Block { size: self.number()?, shape: self.shape()? })
    }

    fn element_type(&mut self) -> Option<ElementType> {
        Some(ElementType { size: self.number()?, shape: self.shape()?, tail: self.optional(Self::tail)? })
    }

    fn tail(&mut self) -> Option<Tail> {
        Some(Tail {
            at: self.number()?,
            size: self.number()?,
            shape: self.shape()?,
            count: self.expr()?,
            length: self.optional(Self::expr)?,
        })
    }

    fn shape(&mut self) -> Option<Shape> {
        let runs = Self::many(|reader| Some((reader.number()?, reader.number()?)))(self)?;
        let parts = Self::many(|reader| Some(Part { at: reader.number()?, what: reader.what()? }))(self)?;
        Some(Shape { runs, parts })
    }

    fn what(&mut self) -> Option<What> {
        Some(match self.word()? {
            0 => What::Boolean,
            1 => What::Enum(Self::many(Self::number)(self)?),
            2 => What::Range(self.one_of(&INTS)?, self.word()?, self.word()?),
            3 => What::Pointer { class: self.one_of(&CLASSES)?, to: self.element()?, extent: self.extent()? },
            4 => What::Object(self.iid()?),
            5 => What::Inner { count: self.number()?, stride: self.number()?, shape: self.shape()? },
            6 => What::Union {
                tag: self.expr()?,
                arms: Self::many(|reader| Some((Self::many(Self::word)(reader)?, reader.shape()?)))(self)?,
                default: self.optional(Self::shape)?,
            },
            7 => What::Utf8,
            8 => What::Ended,
            _ => return None,
        })
    }

    fn element(&mut self) -> Option<Element> {
        element(self.number()?)
    }

    fn extent(&mut self) -> Option<Extent> {
        Some(match self.word()? {
            0 => Extent::One,
            1 => Extent::Counted { size: self.expr()?, length: self.optional(Self::expr)? },
            2 => Extent::Text,
            _ => return None,
        })
    }

    fn iid(&mut self) -> Option<Iid> {
        Some(match self.word()? {
            0 => {
                let mut half = || Some(u128::from(self.word()?.cast_unsigned()));
                Iid::Known(half()? << 64 | half()?)
            }
            1 => Iid::Member(self.number()?),
            2 => Iid::Outer(self.number()?),
            _ => return None,
        })
    }

    pub(crate) fn expr(&mut self) -> Option<Expr> {
        Some(match self.word()? {
            0 => Expr::Const(self.word()?),
            1 => Expr::Member(self.number()?, self.one_of(&INTS)?),
            2 => Expr::Outer(self.number()?),
            3 => Expr::Unary(self.one_of(&UNARIES)?, kept(self.expr()?)),
            4 => Expr::Binary(self.one_of(&BINARIES)?, kept(self.expr()?), kept(self.expr()?)),
            5 => Expr::Choose(kept(self.expr()?), kept(self.expr()?), kept(self.expr()?)),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Half, method, types};
    use crate::flat::check::check;
    use crate::flat::shape::{Binary, Block, Class, Element, Expr, Extent, Iid, Int, What};
    use crate::flat::{KIND_FIRST, KIND_TEXT8};

    #[test]
    fn type_tables_with_lists_and_trailing_arrays_are_read() {
        // A list item (number, boolean, name, next item), and a counted array of shorts at the end
        // of a structure.
        let list = [24, 1, 0, 5, 3, 4, 0, 8, 3, 1, 3, 2, 16, 3, 2, 16, 0, 0];
        let open = [4, 1, 0, 4, 0, 1, 4, 2, 1, 0, 2, 0, 1, 0, 5, 0];
        let words: Vec<i64> = [2].into_iter().chain(list).chain(open).collect();
        let types = types(&words).unwrap();
        assert_eq!((types[0].size, types[0].shape.runs), (24, [(0, 5)].as_slice()));
        let parts: Vec<_> = types[0].shape.parts.iter().map(|part| (part.at, &part.what)).collect();
        assert!(matches!(parts[0], (4, What::Boolean)));
        let name = (Class::Unique, Element::Wide);
        assert!(matches!(parts[1], (8, What::Pointer { class, to, extent: Extent::Text }) if (*class, *to) == name));
        let next = (Class::Full, Element::Own(0));
        assert!(matches!(parts[2], (16, What::Pointer { class, to, extent: Extent::One }) if (*class, *to) == next));
        let tail = types[1].tail.as_ref().unwrap();
        assert_eq!((tail.at, tail.size, tail.shape.runs), (4, 2, [(0, 2)].as_slice()));
        assert!(matches!(tail.count, Expr::Member(0, Int::U32)) && tail.length.is_none());
    }

    #[test]
    fn strings_in_utf8_are_checked() {
        // A request with a string that is never null, and an empty reply.
        let words = [3, 0, 8, 0, 2, 0, 3, 0, 2, 2, 0, 7, 0, 0, 0, 0, 1, 0, 8, 1, 0, 0];
        let method = Box::leak(Box::new(method(&words).unwrap()));
        assert!(matches!(method.request.shape.parts[0].what, What::Pointer { extent: Extent::Text, .. }));
        assert!(matches!(method.request.shape.parts[1].what, What::Utf8));
        let frame = |text: &[u8]| {
            let header = u64::from(KIND_TEXT8) | (text.len() as u64) << 32;
            let mut frame = [16_u64.to_le_bytes(), header.to_le_bytes()].concat();
            frame.extend(text);
            frame.resize(frame.len().next_multiple_of(8), 0);
            frame
        };
        for text in ["\0", "abc\0", "\u{20ac}\u{1f980}\0"] {
            assert!(check(&frame(text.as_bytes()), &method.request, &[], &[]).is_ok(), "{text:?}");
        }
        for (text, at) in [(&b"\xff\0"[..], 16), (b"abc\x80\0", 19), (b"\xe2\x82\0", 16), (b"a\xed\xa0\x80\0", 17)] {
            let flaw = check(&frame(text), &method.request, &[], &[]).unwrap_err();
            assert_eq!((flaw.at, flaw.what), (at, "the string is not in UTF-8"), "{text:?}");
        }
    }

    #[test]
    fn strings_in_arrays_end_within_them() {
        // A request with an array of three 16-bit numbers that holds a string, and an empty reply.
        let of_numbers = [1, 2, 1, 0, 2, 0, 0];
        let words = [3, 0, 8, 0, 2, 0, 3, 0, i64::from(KIND_FIRST), 1, 0, 3, 0, 0, 8, 0, 0, 0, 0, 1, 0, 8, 1, 0, 0];
        let types = Box::leak(types(&of_numbers).unwrap().into());
        let method = Box::leak(Box::new(method(&words).unwrap()));
        assert!(matches!(method.request.shape.parts[1].what, What::Ended));
        let frame = |characters: [u16; 3]| {
            let header = u64::from(KIND_FIRST) | 3 << 32;
            let mut frame = [16_u64.to_le_bytes(), header.to_le_bytes()].concat();
            frame.extend(characters.iter().flat_map(|character| character.to_le_bytes()));
            frame.resize(24, 0);
            frame
        };
        for ended in [[0, 0, 0], [1, 0, 9], [1, 2, 0]] {
            assert!(check(&frame(ended), &method.request, types, &[]).is_ok(), "{ended:?}");
        }
        let flaw = check(&frame([0x100, 2, 0xff00]), &method.request, types, &[]).unwrap_err();
        assert_eq!((flaw.at, flaw.what), (16, "the string does not end within its array"));
    }

    #[test]
    fn method_tables_are_read() {
        let request = [16, 1, 0, 16, 0];
        let reply = [8, 0, 1, 0, 4, 2, 0];
        let outer = [2, 0, 8, 0, 9];
        let params = [2, 1, 16, 1, 0, 0, 0, 8, 0, 1, 0];
        let words: Vec<i64> = [7, 0].into_iter().chain(request).chain(reply).chain(outer).chain(params).collect();
        let method = method(&words).unwrap();
        assert_eq!((method.opnum, method.oneway, method.request.size, method.reply.size), (7, false, 16, 8));
        assert!(matches!(method.reply.shape.parts[0].what, What::Object(Iid::Outer(0))));
        assert_eq!(method.outer.iter().map(|outer| outer.half).collect::<Vec<_>>(), [Half::Upper, Half::Lower]);
        let [iid, object] = method.params else { panic!() };
        assert_eq!((iid.is_place, iid.size, iid.request, iid.reply), (true, 16, Some(0), None));
        assert_eq!((object.is_place, object.size, object.request, object.reply), (false, 8, None, Some(0)));
        for length in 0..words.len() {
            assert!(super::method(&words[..length]).is_none(), "the first {length} words are no method");
        }
        let more: Vec<i64> = words.iter().copied().chain([0]).collect();
        assert!(super::method(&more).is_none());
    }

    #[test]
    fn expressions_of_type_tables_are_read() {
        // The size of an array of type 16: (outer 0 > member 2 ? -3 : ~1).
        let size = [5, 4, 16, 2, 0, 1, 2, 3, 3, 0, 0, 3, 3, 1, 0, 1];
        let pointer: Vec<i64> = [0, 3, 0, 16, 1].into_iter().chain(size).chain([0]).collect();
        let words: Vec<i64> = [1, 8, 0, 1].into_iter().chain(pointer).chain([0]).collect();
        let types = types(&words).unwrap();
        let What::Pointer { extent: Extent::Counted { size, length: None }, .. } = &types[0].shape.parts[0].what else {
            panic!()
        };
        let block = Block { size: 8, shape: types[0].shape };
        assert!(block.counts_by(0) && !block.counts_by(1));
        let value = |outer: i64| size.evaluate(&|at, int| (at == 2 && int == Int::U16).then_some(5), &[outer]);
        assert_eq!((value(6), value(5)), (Some(-3), Some(-2)));
        // The left operand decides, even if the right one has no value.
        let unavailable: &'static Expr = &Expr::Member(8, Int::I32);
        let decided = |operator, left| {
            let left: &'static Expr = if left { &Expr::Const(7) } else { &Expr::Const(0) };
            Expr::Binary(operator, left, unavailable).evaluate(&|_, _| None, &[])
        };
        assert_eq!((decided(Binary::And, false), decided(Binary::And, true)), (Some(0), None));
        assert_eq!((decided(Binary::Or, true), decided(Binary::Or, false)), (Some(1), None));
    }
}
