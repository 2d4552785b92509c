//! The layout of structures and unions: their members and the padding between them.

use crate::model::{Arith, Field, Model, Struct, Type, Union, all_arms, round_up};

/// A row of a layout.
#[derive(Debug)]
pub(super) struct Row<'m> {
    pub(super) offset: u32,
    /// The member's name. Empty for padding.
    pub(super) name: &'m str,
    pub(super) ty: &'m Type,
    /// The index of the typedef that the source names.
    pub(super) named: Option<usize>,
    pub(super) size: u32,
    pub(super) align: u32,
    pub(super) is_padding: bool,
    pub(super) field: Option<&'m Field>,
    /// For a conformant array, its number of elements and the number of transmitted elements.
    pub(super) open: Option<(&'m Arith, Option<&'m Arith>)>,
}

impl<'m> Row<'m> {
    fn padding(offset: u32, size: u32) -> Option<Self> {
        let row = Self {
            offset,
            name: "",
            ty: &Type::Void,
            named: None,
            size,
            align: 1,
            is_padding: true,
            field: None,
            open: None,
        };
        (size > 0).then_some(row)
    }

    fn member(model: &Model, offset: u32, field: &'m Field) -> Self {
        let (size, align) = model.layout_inside(&field.ty);
        let (name, ty, named) = (field.name.as_str(), &field.ty, field.named);
        Self { offset, name, ty, named, size, align, is_padding: false, field: Some(field), open: None }
    }

    fn end(&self) -> u32 {
        self.offset.saturating_add(self.size)
    }
}

/// Returns the rows of a structure.
pub(super) fn of_struct<'m>(model: &Model, of: &'m Struct) -> Vec<Row<'m>> {
    let (offsets, size, _) = model.offsets(of);
    let (mut rows, mut at) = (Vec::new(), 0);
    for (index, field) in of.fields.iter().enumerate() {
        let mut row = Row::member(model, offsets[index], field);
        if let (Type::Void, Some((element, count, length))) = (&field.ty, &of.conformant) {
            // The last offset belongs to the array, whose elements follow the structure's members.
            row.offset = offsets.last().copied().unwrap_or_default();
            (row.ty, row.align) = (element, model.layout(element).1);
            row.open = Some((count, length.as_ref()));
        }
        rows.extend(Row::padding(at, row.offset.saturating_sub(at)));
        at = row.end();
        rows.push(row);
    }
    rows.extend(Row::padding(at, size.saturating_sub(at)));
    rows
}

/// Returns the rows of a union: a row for the discriminant if the union contains the discriminant,
/// and then a row for each arm. All arms begin at the same place.
pub(super) fn of_union<'m>(model: &Model, of: &'m Union) -> Vec<Row<'m>> {
    let (body, align) = model.union_body(of);
    let (mut rows, mut at) = (Vec::new(), 0);
    if let Some((tag, _)) = &of.encapsulated {
        let (size, tag_align) = model.layout(&of.tag);
        let (name, ty) = (tag.as_str(), &of.tag);
        let row = Row {
            offset: 0,
            name,
            ty,
            named: None,
            size,
            align: tag_align,
            is_padding: false,
            field: None,
            open: None,
        };
        at = round_up(size, align);
        rows.push(row);
        rows.extend(Row::padding(size, at - size));
    }
    rows.extend(all_arms(of).map(|field| Row::member(model, at, field)));
    let end = at.saturating_add(body);
    rows.extend(Row::padding(end, of.measure.size.saturating_sub(end)));
    rows
}
