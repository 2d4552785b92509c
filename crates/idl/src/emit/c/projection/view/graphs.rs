//! Views of data with pointers, and of data that a method returns or replaces.

use super::{
    FIXED, OBJECTS, POINTERS, REPLACED_OBJECT, Reason, UNION, View, Viewer, owner_changed, owner_result, pointer,
};
use crate::emit::c::names::{binding, pointer_to, type_name};
use crate::emit::c::structures::is_owned;
use crate::model::{Direction, Extent, Object, Pointer, PointerClass, Type};
use crate::plan::{ParamPlan, is_plain};

impl Viewer<'_> {
    /// Returns the view of a parameter that contains pointers, or by which the method replaces data
    /// that contains pointers.
    pub(super) fn graph(&self, param: &ParamPlan<'_>) -> Result<View, Reason> {
        let name = binding(&param.param.code);
        let Type::Pointer(pointer_type) = &param.param.ty else {
            return match &param.param.ty {
                ty @ (Type::Struct(_) | Type::Union(_)) => Ok(self.value(ty, &name, &name, &name)),
                _ => Err(FIXED),
            };
        };
        let Pointer { class, to, extent } = &**pointer_type;
        let is_reference = *class == PointerClass::Ref;
        match (extent, to, param.param.direction) {
            (Extent::Text, Type::Base(base), Direction::In) => self.text(param, *base, !is_reference),
            (Extent::Counted { .. }, element, _) => self.graph_elements(param, element),
            (_, Type::Pointer(_) | Type::Interface(_) | Type::Void, Direction::In) => Err(POINTERS),
            (Extent::One, to, Direction::In) if is_reference => {
                Ok(self.value(to, &name, &format!("&{name}"), &format!("*{name}")))
            }
            (Extent::One, to, Direction::In) => {
                Ok(pointer(format!("const {}", pointer_to(self.model, to, &name)), &name))
            }
            (Extent::One, to, _) if !is_reference => Ok(pointer(pointer_to(self.model, to, &name), &name)),
            (Extent::One, Type::Pointer(inner), _) => self.replaced(param, inner),
            (Extent::One, Type::Interface(Object::IidIs(_)), Direction::InOut) => Err(REPLACED_OBJECT),
            (Extent::One, Type::Interface(object), Direction::Out) => self.out_object(object, &name),
            (Extent::One, Type::Interface(object), _) => Ok(owner_changed(&self.holder(object), &name)),
            (Extent::One, to, direction) => {
                let text = type_name(self.model, to);
                match (self.owned(to)?, direction) {
                    (true, Direction::Out) => Ok(owner_result(format!("obvia::filled<{text}>"), &name)),
                    (true, _) => Ok(owner_changed(&format!("obvia::filled<{text}>"), &name)),
                    (false, Direction::Out) => Ok(self.place(to, &name)),
                    (false, _) => Ok(self.changed(text, &name)),
                }
            }
            _ => Err(POINTERS),
        }
    }

    fn graph_elements(&self, param: &ParamPlan<'_>, element: &Type) -> Result<View, Reason> {
        if let Type::Interface(Object::IidIs(_)) = element {
            return Err(OBJECTS);
        }
        if let Type::Interface(object) = element {
            return Ok(self.elements(param, self.holder(object), element, true));
        }
        let text = type_name(self.model, element);
        let is_owner = self.owned(element)? && param.param.direction.is_out();
        let seen = if is_owner { format!("obvia::filled<{text}>") } else { text };
        Ok(self.elements(param, seen, element, is_owner))
    }

    /// Returns the view of a parameter by which the method returns a pointer to data, or changes a
    /// pointer to data.
    fn replaced(&self, param: &ParamPlan<'_>, inner: &Pointer) -> Result<View, Reason> {
        let name = binding(&param.param.code);
        let text = type_name(self.model, &inner.to);
        let is_result = param.param.direction == Direction::Out;
        let owner = match &inner.extent {
            Extent::Counted { size, length: None } if is_result => {
                self.owned(&inner.to)?;
                return self.allocated(param, &inner.to, size);
            }
            Extent::Counted { .. } => return Err(POINTERS),
            Extent::Text => format!("obvia::memory<{text}>"),
            Extent::One if self.owned(&inner.to)? => format!("obvia::owned<{text}>"),
            Extent::One => format!("obvia::memory<{text}>"),
        };
        Ok(if is_result { owner_result(owner, &name) } else { owner_changed(&owner, &name) })
    }

    /// Whether a type contains pointers, so that generated code has functions that free its values.
    pub(super) fn owned(&self, ty: &Type) -> Result<bool, Reason> {
        match ty {
            Type::Union(id) if self.model.unions[id.0].encapsulated.is_none() => Err(UNION),
            Type::Struct(_) | Type::Union(_) => Ok(is_owned(self.model, ty)),
            Type::Base(_) | Type::Enum(_) => Ok(false),
            Type::Fixed(..) if is_plain(self.model, ty) => Ok(false),
            _ => Err(POINTERS),
        }
    }
}
