//! Structures, unions, enumerations and typedefs, and the descriptions of types.

use super::{Emitter, HRESULT, VOID, empty, with_about};
use crate::model::automation::vartype;
use crate::model::typelib::{Kind, Place, TypeDesc, TypeInfo, TypeRef, Value, Variable};
use crate::model::{Base, Declared, EnumId, Extent, Field, Object, StructId, Type, Union, UnionId};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;
use obvia_ndr::vartype as vt;

/// VARTYPEs that only type libraries use.
const LPSTR: u16 = 30;
const LPWSTR: u16 = 31;

impl Emitter<'_> {
    pub(super) fn enumeration(&mut self, id: EnumId) -> TypeRef {
        let found = &self.model.enums[id.0];
        let value = |(at, (name, value)): (usize, &(String, i32))| Variable {
            place: Place::Const(Value::Number(vt::I4, u64::from(value.cast_unsigned()))),
            ..variable(name, at, TypeDesc::Simple(vt::INT))
        };
        let info = TypeInfo {
            size: 4,
            variables: found.values.iter().enumerate().map(value).collect(),
            ..with_about(&found.about, &found.name, Kind::Enum)
        };
        self.reserve(Declared::Enum(id), info)
    }

    pub(super) fn structure(&mut self, id: StructId) -> TypeRef {
        let found = &self.model.structs[id.0];
        // The types that the structure contains are added before the structure.
        for field in &found.fields {
            self.by_value(&field.ty);
        }
        if let Some((element, ..)) = &found.conformant {
            self.by_value(element);
        }
        let (_, size, align) = self.model.offsets(found);
        let info = TypeInfo { size, align: align as u8, ..with_about(&found.about, &found.name, Kind::Record) };
        self.reserve(Declared::Struct(id), info)
    }

    pub(super) fn fill_structure(&mut self, made: usize, id: StructId) {
        let found = &self.model.structs[id.0];
        let (offsets, ..) = self.model.offsets(found);
        for (at, (field, offset)) in found.fields.iter().zip(offsets).enumerate() {
            let ty = match &found.conformant {
                // The conformant array at the end is described as an array of one element, as in C.
                Some((element, ..)) if at + 1 == found.fields.len() => {
                    self.without_size(field.span);
                    TypeDesc::Array(Box::new(self.described(element, field.named, field.span)), vec![(1, 0)])
                }
                _ => self.described(&field.ty, field.named, field.span),
            };
            let member = Variable { place: Place::Member(offset), ..variable(&field.name, at, ty) };
            self.made.types[made].variables.push(member);
        }
    }

    /// Adds a union. An encapsulated union becomes a structure of the discriminant and the union.
    pub(super) fn union(&mut self, id: UnionId) -> TypeRef {
        let found = &self.model.unions[id.0];
        arms(found).for_each(|field| self.by_value(&field.ty));
        let (size, align) = self.model.layout(&Type::Union(id));
        let kind = if found.encapsulated.is_some() { Kind::Record } else { Kind::Union };
        let info = TypeInfo { size, align: align as u8, ..with_about(&found.about, &found.name, kind) };
        let warning =
            Diagnostic::warning("no-discriminant", found.span, "a type library cannot describe how an arm is selected");
        self.report(warning.help("callers that use its description need that"));
        self.reserve(Declared::Union(id), info)
    }

    pub(super) fn fill_union(&mut self, made: usize, id: UnionId) {
        let found = &self.model.unions[id.0];
        let mut members: Vec<Variable> = Vec::new();
        for field in arms(found) {
            // The default arm may also have cases. It is then in the list twice.
            if members.iter().all(|member| member.name != field.name) {
                let ty = self.described(&field.ty, field.named, field.span);
                members.push(Variable { place: Place::Member(0), ..variable(&field.name, members.len(), ty) });
            }
        }
        if let Some((tag, inner)) = &found.encapsulated {
            let (size, align) = self.model.union_body(found);
            let name = format!("{}_{inner}", found.name);
            let info = TypeInfo { size, align: align as u8, variables: members, ..empty(&name, Kind::Union) };
            let body = TypeDesc::Named(TypeRef::Own(self.made.types.len()));
            self.made.types.push(info);
            let tag_type = self.described(&found.tag, None, found.span);
            let place = crate::model::round_up(self.model.layout(&found.tag).0, align);
            members = vec![
                Variable { place: Place::Member(0), ..variable(tag, 0, tag_type) },
                Variable { place: Place::Member(place), ..variable(inner, 1, body) },
            ];
        }
        self.made.types[made].variables = members;
    }

    pub(super) fn alias(&mut self, at: usize) -> TypeRef {
        let found = &self.model.typedefs[at];
        self.by_value(&found.ty);
        let (size, align) = self.model.layout(&found.ty);
        let info = TypeInfo { size, align: align as u8, ..with_about(&found.about, &found.name, Kind::Alias) };
        self.reserve(Declared::Alias(at), info)
    }

    pub(super) fn fill_alias(&mut self, made: usize, at: usize) {
        let found = &self.model.typedefs[at];
        self.made.types[made].alias = Some(self.unnamed(&found.ty, found.span));
    }

    /// Adds the types that a type contains by value.
    fn by_value(&mut self, ty: &Type) {
        match ty {
            Type::Fixed(element, _) => self.by_value(element),
            Type::Enum(id) => drop(self.declared(Declared::Enum(*id))),
            Type::Struct(id) if vartype(self.model, ty, None).is_none() => drop(self.declared(Declared::Struct(*id))),
            Type::Union(id) => drop(self.declared(Declared::Union(*id))),
            _ => {}
        }
    }

    /// Returns the description of a type. `named` is the index of the typedef by which the source
    /// names the type or a part of the type.
    pub(super) fn described(&mut self, ty: &Type, named: Option<usize>, span: Span) -> TypeDesc {
        let plain = self.unnamed(ty, span);
        let Some(at) = named else { return plain };
        let alias = &self.model.typedefs[at];
        let target = if alias.public {
            TypeDesc::Named(self.declared(Declared::Alias(at)))
        } else {
            // `VARIANT_BOOL` and `DATE` are typedefs of base types, but have a VARTYPE of their
            // own.
            match vartype(self.model, &alias.ty, Some(&alias.name)) {
                Some(kind @ (vt::BOOL | vt::DATE)) => TypeDesc::Simple(kind),
                _ => return plain,
            }
        };
        let source = self.unnamed(&alias.ty, span);
        replaced(plain, &source, &target)
    }

    fn unnamed(&mut self, ty: &Type, span: Span) -> TypeDesc {
        match ty {
            Type::Void => TypeDesc::Simple(VOID),
            Type::Base(Base::Guid) => TypeDesc::Named(self.guid()),
            Type::Base(Base::Hresult) => TypeDesc::Simple(HRESULT),
            Type::Base(Base::Boolean) => TypeDesc::Simple(vt::UI1),
            Type::Enum(id) => TypeDesc::Named(self.declared(Declared::Enum(*id))),
            Type::Union(id) => TypeDesc::Named(self.declared(Declared::Union(*id))),
            Type::Interface(Object::Known(id)) if !self.model.is_built_in(*id) => {
                TypeDesc::Pointer(Box::new(TypeDesc::Named(self.declared(Declared::Interface(*id)))))
            }
            Type::Fixed(element, count) => match self.unnamed(element, span) {
                TypeDesc::Array(element, mut bounds) => {
                    bounds.insert(0, (*count, 0));
                    TypeDesc::Array(element, bounds)
                }
                element => TypeDesc::Array(Box::new(element), vec![(*count, 0)]),
            },
            Type::Pointer(pointer) => match (&pointer.to, &pointer.extent) {
                (Type::Base(Base::Char), Extent::Text) => TypeDesc::Simple(LPSTR),
                (Type::Base(Base::WChar), Extent::Text) => TypeDesc::Simple(LPWSTR),
                (to, extent) => {
                    if matches!(extent, Extent::Counted { .. }) {
                        self.without_size(span);
                    }
                    TypeDesc::Pointer(Box::new(self.unnamed(to, span)))
                }
            },
            ty => match (vartype(self.model, ty, None), ty) {
                (Some(kind), _) => TypeDesc::Simple(kind),
                (None, Type::Struct(id)) => TypeDesc::Named(self.declared(Declared::Struct(*id))),
                _ => {
                    let error = Diagnostic::error("not-in-library", span, "type libraries have no such type");
                    self.report(error.help("move the declaration that uses this type out of the library"));
                    TypeDesc::Simple(VOID)
                }
            },
        }
    }

    fn without_size(&mut self, span: Span) {
        let text = "a type library does not say how many elements there are";
        let warning = Diagnostic::warning("no-size-in-library", span, text);
        self.report(warning.help("a SAFEARRAY contains its own size"));
    }

    /// Returns the structure of GUIDs.
    fn guid(&mut self) -> TypeRef {
        if let Some(known) = self.guid {
            return TypeRef::Own(known);
        }
        let bytes = TypeDesc::Array(Box::new(TypeDesc::Simple(vt::UI1)), vec![(8, 0)]);
        let half = TypeDesc::Simple(vt::UI2);
        let members = [
            ("Data1", 0, TypeDesc::Simple(vt::UI4)),
            ("Data2", 4, half.clone()),
            ("Data3", 6, half),
            ("Data4", 8, bytes),
        ];
        let member = |(at, (name, offset, ty)): (usize, (&str, u32, TypeDesc))| Variable {
            place: Place::Member(offset),
            ..variable(name, at, ty)
        };
        let variables = members.into_iter().enumerate().map(member).collect();
        let made = self.made.types.len();
        self.made.types.push(TypeInfo { size: 16, variables, ..empty("GUID", Kind::Record) });
        self.guid = Some(made);
        TypeRef::Own(made)
    }
}

/// Returns the contents of a union's arms.
fn arms(union: &Union) -> impl Iterator<Item = &Field> {
    union.arms.iter().filter_map(|arm| arm.field.as_ref()).chain(union.default.iter().flatten())
}

/// Returns a member or a value with this index.
fn variable(name: &str, at: usize, ty: TypeDesc) -> Variable {
    let id = 0x4000_0000 | at as i32;
    Variable {
        name: name.to_owned(),
        id,
        flags: 0,
        ty,
        place: Place::Property,
        help: crate::model::typelib::Help::default(),
    }
}

/// Returns a description in which `source` is replaced by `target`.
fn replaced(of: TypeDesc, source: &TypeDesc, target: &TypeDesc) -> TypeDesc {
    if of == *source {
        return target.clone();
    }
    let again = |inner: Box<TypeDesc>| Box::new(replaced(*inner, source, target));
    match of {
        TypeDesc::Pointer(inner) => TypeDesc::Pointer(again(inner)),
        TypeDesc::Array(inner, bounds) => TypeDesc::Array(again(inner), bounds),
        other => other,
    }
}
