//! Methods for tools that write programs: the declaration that an object implements, and a call.

use super::super::names::{binding, declare, type_ident, value as value_name};
use super::Method;
use super::view::View;
use crate::emit::component::{self, Call};
use crate::emit::sample::{self, COUNT, ELEMENTS, HANDLE, POINTERS, Reason, SHARED, enumerator, may_be_zero};
use crate::model::{Base, Extent, Model, PointerClass, Transfer, Type};
use crate::plan::{ParamPlan, Passing, element_counts, in_place};

impl Method<'_> {
    /// Returns the method's declaration for implementers, and a call of the method.
    pub(super) fn component(&self) -> component::Method {
        let is_raw = self.is_raw_for_objects();
        let views = self.views().iter().map(|view| is_raw || view.declared.is_some()).chain(std::iter::repeat(is_raw));
        let params = self.plan.params.iter().zip(views).filter(|(_, is_there)| *is_there);
        component::Method {
            name: self.plan.method.name.clone(),
            doc: self.plan.method.doc.clone(),
            declaration: self.declaration(),
            parameters: params.map(|(param, _)| binding(&param.param.code)).collect(),
            returns_hresult: is_raw,
            oneway: self.plan.method.oneway,
            call: self.sample(),
        }
    }

    fn sample(&self) -> Result<Call, String> {
        let views = self.views.as_ref().map_err(String::clone)?;
        let (mut before, mut arguments) = (Vec::new(), Vec::new());
        for (param, view) in self.plan.params.iter().zip(views).filter(|(_, view)| view.declared.is_some()) {
            let argument = self.argument(param, view, &mut before);
            arguments.push(argument.map_err(|why| format!("`{}` is {why}", param.param.name))?);
        }
        Ok(Call { before, text: format!("{}({})", self.name, arguments.join(", ")) })
    }

    /// Returns the expression for the simplest argument that a parameter permits. Adds the
    /// declarations of variables in this expression to `before`.
    fn argument(&self, param: &ParamPlan<'_>, view: &View, before: &mut Vec<String>) -> Result<String, Reason> {
        let (model, range) = (self.model, param.param.range);
        let name = binding(&param.param.code);
        if let Some((size, _)) = element_counts(param.param) {
            return self.elements(param, sample::count(&self.plan, size)?, before);
        }
        match (&param.passing, in_place(model, param.param)) {
            (_, ty @ Type::Fixed(..)) => {
                let ty = may_be_zero(model, ty, range).then(|| declare(model, ty, &name)).ok_or(ELEMENTS)?;
                before.push(format!("{ty} = {{}};"));
                Ok(name)
            }
            (_, ty) if param.param.direction.is_out() => {
                let declared = view.declared.as_deref().unwrap_or_default().replace('&', "");
                before.push(format!("{declared} = {};", changed(model, ty, range)?));
                Ok(name)
            }
            (Passing::Text { base, optional: false }, _) => {
                Ok(if base.size() == 2 { "u\"\"" } else { "\"\"" }.to_owned())
            }
            (_, Type::Pointer(pointer)) if pointer.class == PointerClass::Ref => Err(POINTERS),
            (_, Type::Pointer(pointer)) if pointer.extent == Extent::Text => Ok("std::nullopt".to_owned()),
            (_, Type::Pointer(_) | Type::Interface(_)) => Ok("nullptr".to_owned()),
            (_, Type::Base(Base::Context)) => Err(HANDLE),
            (_, ty) => value(model, ty, range),
        }
    }

    /// Returns the expression for an array of `count` elements in the caller's memory.
    fn elements(&self, param: &ParamPlan<'_>, count: i64, before: &mut Vec<String>) -> Result<String, Reason> {
        if param.param.transfer == Transfer::Map {
            return Err(SHARED);
        }
        if count == 0 {
            return Ok("{}".to_owned());
        }
        let Passing::Array { element, .. } = &param.passing else { return Err(COUNT) };
        if !may_be_zero(self.model, element, param.param.range) {
            return Err(ELEMENTS);
        }
        let name = binding(&param.param.code);
        before.push(format!("{} = {{}};", declare(self.model, element, &format!("{name}[{count}]"))));
        Ok(name)
    }
}

/// Returns the initial value of a parameter that the method changes.
fn changed(model: &Model, ty: &Type, range: Option<(i64, i64)>) -> Result<String, Reason> {
    match ty {
        // Values of owner types begin empty.
        Type::Interface(_) => Ok("{}".to_owned()),
        Type::Pointer(pointer) if pointer.class != PointerClass::Ref => Ok("{}".to_owned()),
        ty if may_be_zero(model, ty, range) => Ok("{}".to_owned()),
        ty => value(model, ty, range),
    }
}

/// Returns the simplest value of a type.
fn value(model: &Model, ty: &Type, range: Option<(i64, i64)>) -> Result<String, Reason> {
    Ok(match ty {
        Type::Base(Base::Boolean) => "false".to_owned(),
        Type::Base(Base::F32 | Base::F64) => "0.0".to_owned(),
        Type::Base(Base::Hresult) => "S_OK".to_owned(),
        Type::Base(Base::Guid) => "GUID{}".to_owned(),
        Type::Base(base) => sample::integer(*base, range).to_string(),
        Type::Enum(id) => enumerator(&model.enums[id.0])
            .map(|(name, _)| value_name(model, name, model.enums[id.0].imported))
            .ok_or(POINTERS)?,
        Type::Struct(id) if may_be_zero(model, ty, range) => format!("{}{{}}", type_ident(&model.structs[id.0].name)),
        Type::Struct(_) => return Err(ELEMENTS),
        Type::Fixed(..) | Type::Union(_) | Type::Pointer(_) | Type::Interface(_) | Type::Void => return Err(POINTERS),
    })
}
