//! Comparison of the types of parameters, members and typedefs.

use super::alignment::Alignment;
use super::changes::Kind;
use super::comparison::{Comparison, Pair};
use crate::model::canonical::{arith, class};
use crate::model::{Arith, Base, Extent, Field, Model, Object, Operand, Pointer, Type, Varying};
use crate::text::source::Span;
use crate::tools::notation::type_text;

/// The parameters or members that the expressions of the old and of the new version read.
#[derive(Default)]
pub(super) struct Scope<'a> {
    pub(super) old: Vec<&'a str>,
    pub(super) new: Vec<&'a str>,
    pub(super) alignment: Alignment,
}

/// A change of a type: its kind, the old text and the new text.
pub(super) type Change = (Kind, String, String);

/// The properties that parameters and members share.
pub(super) struct Place<'a> {
    pub(super) ty: &'a Type,
    pub(super) range: Option<(i64, i64)>,
    pub(super) switch: Option<&'a Arith>,
    pub(super) varying: Option<&'a Varying>,
}

impl<'a> Place<'a> {
    pub(super) fn of(field: &'a Field) -> Self {
        Self { ty: &field.ty, range: field.range, switch: field.switch.as_ref(), varying: field.varying.as_ref() }
    }
}

impl<'a> Scope<'a> {
    /// Aligns two lists: see [`Alignment::of`].
    pub(super) fn of(old: Vec<&'a str>, new: Vec<&'a str>, is_same: impl Fn(usize, usize) -> bool) -> Self {
        let alignment = Alignment::of(&old, &new, is_same);
        Self { old, new, alignment }
    }

    /// Whether two expressions read the same operands in the same way.
    fn is_same(&self, old: &Arith, new: &Arith) -> bool {
        let without_type = |operand: &Operand| Operand { base: Base::I64, ..operand.clone() };
        let translated = old.map_operands(&|operand| {
            let index = self.alignment.partner(operand.index).unwrap_or(usize::MAX);
            Operand { index, ..without_type(operand) }
        });
        translated == new.map_operands(&without_type)
    }

    /// Returns the texts of two optional expressions, if they differ.
    fn difference(&self, old: Option<&Arith>, new: Option<&Arith>) -> Option<(String, String)> {
        let is_same = match (old, new) {
            (Some(old), Some(new)) => self.is_same(old, new),
            (old, new) => old.is_none() && new.is_none(),
        };
        let text = |value: Option<&Arith>, names: &[&str]| {
            value.map_or_else(|| "no expression".to_owned(), |value| arith(value, names))
        };
        (!is_same).then(|| (text(old, &self.old), text(new, &self.new)))
    }
}

impl Comparison<'_> {
    /// Compares two types, and adds the declared types in them to the pairs to compare.
    pub(super) fn types(&mut self, old: &Type, new: &Type, scope: &Scope<'_>) -> Vec<Change> {
        let (mut changes, mut left, mut right) = (Vec::new(), old, new);
        loop {
            match (left, right) {
                (Type::Fixed(a, before), Type::Fixed(b, now)) => {
                    if before != now {
                        changes.push((Kind::ArrayBound, before.to_string(), now.to_string()));
                    }
                    (left, right) = (a, b);
                }
                (Type::Pointer(a), Type::Pointer(b)) => {
                    pointers(a, b, scope, &mut changes);
                    (left, right) = (&a.to, &b.to);
                }
                _ => break,
            }
        }
        let kind = match (left, right) {
            (Type::Interface(a), Type::Interface(b)) => {
                changes.extend(self.objects(a, b, scope));
                return changes;
            }
            (Type::Base(a), Type::Base(b)) => (a != b).then(|| bases(*a, *b)),
            (Type::Void, Type::Void) => None,
            (Type::Pointer(_), _) | (_, Type::Pointer(_)) => Some(Kind::PointerLevels),
            (left, right) => match Pair::of(left, right) {
                Some(pair) => self.named(pair),
                None => Some(Kind::ValueType),
            },
        };
        changes.extend(kind.map(|kind| (kind, type_text(self.old, old), type_text(self.new, new))));
        changes
    }

    /// Compares two declared types. They correspond if they have the same name. They also
    /// correspond if the old name is declared only in the old model, and the new name only in the
    /// new model: the type was then renamed.
    fn named(&mut self, pair: Pair) -> Option<Kind> {
        let (old, new) = names(self.old, self.new, pair);
        if old != new && (self.new_names.types.contains_key(old) || self.old_names.types.contains_key(new)) {
            return Some(Kind::ValueType);
        }
        self.pair(pair);
        None
    }

    /// Compares the interfaces of two objects. `None` if nothing has changed.
    fn objects(&self, old: &Object, new: &Object, scope: &Scope<'_>) -> Option<Change> {
        let text = |model: &Model, object: &Object, names: &[&str]| match object {
            Object::IidIs(operand) => format!("iid_is({})", arith(&Arith::Operand(operand.clone()), names)),
            object => type_text(model, &Type::Interface(object.clone())),
        };
        let kind = match (old, new) {
            (Object::Known(a), Object::Known(b)) if self.is_same_interface(*a, *b) => {
                let is_renamed = self.old.interfaces[a.0].name != self.new.interfaces[b.0].name;
                is_renamed.then_some(Kind::InterfaceRenamed)
            }
            (Object::IidIs(a), Object::IidIs(b)) => {
                (!scope.is_same(&Arith::Operand(a.clone()), &Arith::Operand(b.clone()))).then_some(Kind::ObjectIid)
            }
            (Object::Unknown, Object::Unknown) => None,
            (Object::IidIs(_), _) | (_, Object::IidIs(_)) => Some(Kind::ObjectIid),
            _ => Some(Kind::ObjectInterface),
        };
        kind.map(|kind| (kind, text(self.old, old, &scope.old), text(self.new, new, &scope.new)))
    }

    /// Compares the properties that parameters and members share.
    pub(super) fn places(&mut self, old: &Place<'_>, new: &Place<'_>, scope: &Scope<'_>) -> Vec<Change> {
        let mut changes = self.types(old.ty, new.ty, scope);
        changes.extend(ranges(old, new));
        let switch = scope.difference(old.switch, new.switch);
        changes.extend(switch.map(|(before, now)| (Kind::SwitchExpression, before, now)));
        changes.extend(match (old.varying, new.varying) {
            (Some(Varying::Text), Some(Varying::Text)) | (None, None) => None,
            (Some(Varying::Length(a)), Some(Varying::Length(b))) => {
                scope.difference(Some(a), Some(b)).map(|(before, now)| (Kind::ArrayLength, before, now))
            }
            // The difference of the types contains this change already.
            _ if changes.iter().any(|(kind, ..)| *kind == Kind::ArrayForm) => None,
            (before, now) => Some((Kind::ArrayForm, part(before).to_owned(), part(now).to_owned())),
        });
        changes
    }

    /// Reports the parts of a declaration that are gone, new, or in another order. `kinds` are the
    /// kinds of these changes, and `place` gives the place of a new part.
    pub(super) fn parts(
        &mut self,
        (owner, span): (&str, Span),
        (what, kinds): (&str, [Kind; 3]),
        scope: &Scope<'_>,
        place: impl Fn(usize) -> Span,
    ) {
        let [removed, added, moved] = kinds;
        for &at in &scope.alignment.removed {
            self.report(removed, Some(span), format!("{owner} has no {what} `{}` any more", scope.old[at]));
        }
        for &at in &scope.alignment.added {
            self.report(added, Some(place(at)), format!("{owner} has the new {what} `{}`", scope.new[at]));
        }
        if scope.alignment.is_reordered {
            self.report(moved, Some(span), format!("the {what}s of {owner} have another order"));
        }
    }

    /// Reports the changes of a declaration.
    pub(super) fn report_all(&mut self, changes: Vec<Change>, span: Span, subject: &str) {
        for (kind, before, now) in changes {
            self.report(kind, Some(span), format!("{subject}: `{before}` before, `{now}` now"));
        }
    }
}

/// Returns the names of two corresponding types.
pub(super) fn names<'m>(old: &'m Model, new: &'m Model, pair: Pair) -> (&'m str, &'m str) {
    match pair {
        Pair::Struct(a, b) => (&old.structs[a.0].name, &new.structs[b.0].name),
        Pair::Union(a, b) => (&old.unions[a.0].name, &new.unions[b.0].name),
        Pair::Enum(a, b) => (&old.enums[a.0].name, &new.enums[b.0].name),
        Pair::Interface(a, b) => (&old.interfaces[a.0].name, &new.interfaces[b.0].name),
    }
}

fn pointers(old: &Pointer, new: &Pointer, scope: &Scope<'_>, changes: &mut Vec<Change>) {
    if old.class != new.class {
        let text = |pointer: &Pointer| class(pointer.class).to_owned();
        changes.push((Kind::PointerClass, text(old), text(new)));
    }
    match (&old.extent, &new.extent) {
        (Extent::One, Extent::One) | (Extent::Text, Extent::Text) => {}
        (Extent::Counted { size, length }, Extent::Counted { size: new_size, length: new_length }) => {
            extents(Some(size), Some(new_size), scope, Kind::ArraySize, changes);
            extents(length.as_ref(), new_length.as_ref(), scope, Kind::ArrayLength, changes);
        }
        (old, new) => {
            let text = |extent: &Extent| match extent {
                Extent::One => "one value",
                Extent::Text => "[string]",
                Extent::Counted { .. } => "an array",
            };
            changes.push((Kind::ArrayForm, text(old).to_owned(), text(new).to_owned()));
        }
    }
}

pub(super) fn extents(
    old: Option<&Arith>,
    new: Option<&Arith>,
    scope: &Scope<'_>,
    kind: Kind,
    changes: &mut Vec<Change>,
) {
    changes.extend(scope.difference(old, new).map(|(before, now)| (kind, before, now)));
}

fn part(varying: Option<&Varying>) -> &'static str {
    match varying {
        None => "all elements",
        Some(Varying::Text) => "[string]",
        Some(Varying::Length(_)) => "[length_is]",
    }
}

/// Returns the kind of a change between two base types.
fn bases(old: Base, new: Base) -> Kind {
    let is_arithmetic = |base: Base| base.is_number() && !matches!(base, Base::Char | Base::WChar);
    if !is_arithmetic(old) || !is_arithmetic(new) {
        Kind::ValueType
    } else if old.size() != new.size() {
        Kind::ValueWidth
    } else {
        Kind::ValueSign
    }
}

/// Returns the changes between two ranges. Without a range, all values of the type are permitted.
fn ranges(old: &Place<'_>, new: &Place<'_>) -> Vec<Change> {
    if old.range == new.range {
        return Vec::new();
    }
    let text = |range: Option<(i64, i64)>| {
        range.map_or_else(|| "no [range]".to_owned(), |(least, most)| format!("range({least}, {most})"))
    };
    let bounds = |place: &Place<'_>| match (place.range, place.ty) {
        (Some((least, most)), _) => (least.into(), most.into()),
        (None, Type::Base(base)) => base.range().unwrap_or((i128::MIN, i128::MAX)),
        (None, _) => (i128::MIN, i128::MAX),
    };
    let ((old_least, old_most), (least, most)) = (bounds(old), bounds(new));
    let kinds = [
        (Kind::RangeNarrowed, least > old_least || most < old_most),
        (Kind::RangeWidened, least < old_least || most > old_most),
    ];
    let (before, now) = (text(old.range), text(new.range));
    kinds.into_iter().filter(|(_, is_true)| *is_true).map(|(kind, _)| (kind, before.clone(), now.clone())).collect()
}
