//! Plans for NDR: the words by which `obvia_ndr::ndr` translates an interface's messages. The words
//! are the same for every language.

use crate::model::{
    Base, Extent, Field, InterfaceId, Method, Model, Pointer, PointerClass, Returns, Type, UnionId, Varying,
};
use crate::plan::shapes::flat::{binary, int, unary};
use crate::plan::shapes::{About, Expr, NOWHERE, Operands, expr};
use crate::plan::{self, KIND_FIRST, MethodPlan, Numbers, ParamPlan, Passing, kinds};
use obvia_ndr::flat::shape::Class;
use obvia_ndr::ndr::Plan;
use std::cell::RefCell;
use std::collections::HashMap;

/// Returns the plan of an interface, for tools without generated code. `None` if types are nested
/// deeper than a plan allows.
///
/// The plan's expressions are leaked: they live as long as the process.
pub fn plan(model: &Model, id: InterfaceId) -> Option<Plan> {
    Plan::read(&words(model, id))
}

/// Returns the words of an interface's plan: see `obvia_ndr::ndr`.
pub fn words(model: &Model, id: InterfaceId) -> Vec<i64> {
    let methods = model.remote_methods(id);
    // The type numbers are those of the interface's frames.
    let kinds = kinds(model, &model.all_methods(id));
    let mut types =
        Types { model, kinds: Numbers::of(&kinds), known: HashMap::new(), closed: HashMap::new(), words: Vec::new() };
    let of_kinds: Vec<i64> = kinds.iter().map(|ty| types.add(ty, About::default(), NOWHERE)).collect();
    let is_invoke = |method: &Method| method.opnum == INVOKE && model.extends_dispatch(id);
    let of_methods = methods.iter().map(|method| types.method(&plan::plan(model, method), is_invoke(method)));
    let of_methods = list(of_methods);
    let count = types.known.len() as i64;
    let of_kinds = list(of_kinds.into_iter().map(|kind| vec![kind]));
    [vec![count], types.words, of_kinds, of_methods].concat()
}

/// The opnum of `IDispatch::Invoke`, whose failures have results (MS-OAUT 3.1.4.4).
const INVOKE: u16 = 6;

/// Returns the words of a list: the number of entries, then the entries.
fn list(things: impl Iterator<Item = Vec<i64>>) -> Vec<i64> {
    let (mut words, mut count) = (vec![0], 0);
    things.for_each(|thing| {
        words.extend(thing);
        count += 1;
    });
    words[0] = count;
    words
}

/// Returns the words of an optional entry: 0, or 1 and the entry.
fn optional(thing: Option<Vec<i64>>) -> Vec<i64> {
    thing.map_or_else(|| vec![0], |thing| [vec![1], thing].concat())
}

/// Returns the words of an expression, numbered as `obvia_ndr::flat::words` reads them.
fn expression(value: &Expr) -> Vec<i64> {
    match value {
        Expr::Const(value) => vec![0, *value],
        Expr::Member(at, base) => vec![1, i64::from(*at), int(*base) as i64],
        Expr::Outer(number) => vec![2, *number as i64],
        Expr::Unary(operator, inner) => [vec![3, unary(operator) as i64], expression(inner)].concat(),
        Expr::Binary(operator, left, right) => {
            [vec![4, binary(operator) as i64], expression(left), expression(right)].concat()
        }
        Expr::Choose(parts) => parts.iter().fold(vec![5], |words, part| [words, expression(part)].concat()),
    }
}

/// The distinct types of an interface.
struct Types<'m> {
    model: &'m Model,
    kinds: Numbers<'m>,
    /// The number of each type, by its words.
    known: HashMap<Vec<i64>, i64>,
    /// The numbers of those structures and unions whose words are the same wherever they are used.
    closed: HashMap<Type, i64>,
    /// The words of all types.
    words: Vec<i64>,
}

impl Types<'_> {
    fn intern(&mut self, words: Vec<i64>) -> i64 {
        let number = self.known.len() as i64;
        *self.known.entry(words).or_insert_with_key(|words| {
            self.words.extend(words);
            number
        })
    }

    /// Returns the number of a type, and adds the type if it is new. The types that it contains
    /// have smaller numbers.
    fn add(&mut self, ty: &Type, about: About<'_>, operands: Operands<'_>) -> i64 {
        if let Some(number) = self.closed.get(ty) {
            return *number;
        }
        let words = match ty {
            Type::Base(base) => self.base(*base),
            Type::Enum(id) if self.model.enums[id.0].v1 => vec![0, 4],
            Type::Enum(_) => vec![2],
            Type::Fixed(element, count) if let Some(varying) = about.varying => {
                let length = match varying {
                    Varying::Text => None,
                    Varying::Length(length) => Some(expression(&expr(length, operands))),
                };
                let element = self.add(element, About::default(), NOWHERE);
                [vec![8, i64::from(*count), element], optional(length)].concat()
            }
            Type::Fixed(element, count) => vec![4, i64::from(*count), self.add(element, About::default(), NOWHERE)],
            Type::Struct(_) => self.structure(ty),
            Type::Union(id) => self.union(*id, ty, about, operands),
            Type::Pointer(pointer) => [vec![7, class(pointer.class) as i64], self.target(pointer, operands)].concat(),
            Type::Interface(_) => vec![7, Class::Unique as i64, 4],
            // No parameter has this type.
            Type::Void => vec![0, 1],
        };
        let number = self.intern(words);
        let is_closed = match ty {
            Type::Struct(_) => true,
            Type::Union(id) => self.model.unions[id.0].encapsulated.is_some(),
            _ => false,
        };
        if is_closed {
            self.closed.insert(ty.clone(), number);
        }
        number
    }

    fn base(&mut self, base: Base) -> Vec<i64> {
        match base {
            Base::Boolean => vec![1],
            Base::Guid => vec![3],
            // The attributes and the UUID of an `ndr_context_handle`: C706 14.2.10.
            Base::Context => {
                let (attributes, uuid) = (self.intern(vec![0, 4]), self.intern(vec![3]));
                vec![5, 20, 2, 0, attributes, 4, uuid, 0]
            }
            base => vec![0, i64::from(base.size())],
        }
    }

    fn structure(&mut self, ty: &Type) -> Vec<i64> {
        let model = self.model;
        let Type::Struct(id) = ty else { return Vec::new() };
        let found = &model.structs[id.0];
        let (offsets, size, _) = model.offsets(found);
        let operands: Operands<'_> = &|operand| Expr::Member(offsets[operand.index], operand.base);
        // The conformant array at the end has a field for its name, but no member.
        let fields = found.fields.iter().zip(&offsets).filter(|(field, _)| field.ty != Type::Void);
        let members: Vec<Vec<i64>> =
            fields.map(|(field, at)| vec![i64::from(*at), self.add(&field.ty, About::of(field), operands)]).collect();
        let tail = found.conformant.as_ref().map(|(element, size, length)| {
            let at = offsets.last().copied().unwrap_or(0);
            let place = vec![i64::from(at), self.add(element, About::default(), NOWHERE)];
            let length = length.as_ref().map(|length| expression(&expr(length, operands)));
            [place, expression(&expr(size, operands)), optional(length)].concat()
        });
        [vec![5, i64::from(size)], list(members.into_iter()), optional(tail)].concat()
    }

    fn union(&mut self, id: UnionId, ty: &Type, about: About<'_>, operands: Operands<'_>) -> Vec<i64> {
        let model = self.model;
        let union = &model.unions[id.0];
        let (size, _) = model.layout(ty);
        let tag = self.add(&union.tag, About::default(), NOWHERE);
        let integer = if let Type::Base(base) = union.tag { int(base) } else { int(Base::I32) };
        let (switch, body) = if union.encapsulated.is_some() {
            let (_, align) = model.union_body(union);
            (None, model.layout(&union.tag).0.next_multiple_of(align))
        } else {
            (Some(about.switch.map_or(Expr::Const(0), |switch| expr(switch, operands))), 0)
        };
        let mut arm =
            |field: Option<&Field>| optional(field.map(|field| vec![self.add(&field.ty, About::of(field), NOWHERE)]));
        let arms: Vec<Vec<i64>> = union
            .arms
            .iter()
            .map(|found| [list(found.cases.iter().map(|case| vec![*case])), arm(found.field.as_ref())].concat())
            .collect();
        let default = optional(union.default.as_ref().map(|field| arm(field.as_ref())));
        let begin = vec![6, i64::from(size), tag, integer as i64];
        let switch = optional(switch.as_ref().map(expression));
        [begin, switch, vec![i64::from(body)], list(arms.into_iter()), default].concat()
    }

    /// Returns the type number of objects with these elements.
    fn kind(&self, element: &Type) -> i64 {
        i64::from(KIND_FIRST) + self.kinds.at(element) as i64
    }

    fn target(&self, pointer: &Pointer, operands: Operands<'_>) -> Vec<i64> {
        let kind = self.kind(&pointer.to);
        match &pointer.extent {
            Extent::One => vec![0, kind],
            Extent::Counted { size, length } => {
                let length = length.as_ref().map(|length| expression(&expr(length, operands)));
                [vec![1, kind], expression(&expr(size, operands)), optional(length)].concat()
            }
            Extent::Text => vec![if matches!(&pointer.to, Type::Base(base) if base.size() == 2) { 3 } else { 2 }],
        }
    }

    fn method(&mut self, plan: &MethodPlan<'_>, fails_with_results: bool) -> Vec<i64> {
        let outer = RefCell::new(Vec::new());
        let [request, reply] = [true, false].map(|request| self.message(plan, request, &outer));
        let outer = outer.into_inner();
        let place = |index: &usize| {
            let param = &plan.params[*index];
            let base = match plan::in_place(self.model, param.param) {
                Type::Base(base) => *base,
                _ => Base::I32,
            };
            vec![i64::from(param.request.unwrap_or(0)), int(base) as i64]
        };
        let has_status = i64::from(plan.method.returns == Returns::Hresult);
        let flags = has_status | i64::from(plan.method.idempotent) << 1 | i64::from(fails_with_results) << 2;
        [vec![i64::from(plan.opnum), flags], request, reply, list(outer.iter().map(place))].concat()
    }

    fn message(&mut self, plan: &MethodPlan<'_>, request: bool, outer: &RefCell<Vec<usize>>) -> Vec<i64> {
        let operands: Operands<'_> = &|operand| plan.operand(request, outer, operand);
        let block = if request { plan.request_block } else { plan.reply_block };
        let params = plan.params.iter().filter_map(|param| self.param(plan, param, request, operands));
        let params: Vec<Vec<i64>> = params.collect();
        [vec![i64::from(block)], list(params.into_iter())].concat()
    }

    /// Returns the words of a parameter. `None` if the message does not contain the parameter.
    fn param(
        &mut self,
        plan: &MethodPlan<'_>,
        param: &ParamPlan<'_>,
        request: bool,
        operands: Operands<'_>,
    ) -> Option<Vec<i64>> {
        if let (Passing::Lent { element, size, .. }, false) = (&param.passing, request) {
            let kind = self.kind(element);
            return Some([vec![0, 2, kind], expression(&expr(size, operands))].concat());
        }
        let at = i64::from(if request { param.request } else { param.reply }?);
        // The target of a reference pointer parameter may be a reference pointer too. NDR has a
        // pointer only for the inner one.
        let is_outermost =
            param.param.boxed || std::ptr::eq(plan::in_place(self.model, param.param), &raw const param.param.ty);
        Some(match &*plan.in_block(self.model, param, request) {
            Type::Pointer(pointer) if pointer.class == PointerClass::Ref && is_outermost => {
                let target = match (&pointer.extent, &param.param.varying) {
                    (Extent::Counted { size, .. }, Some(Varying::Text)) => {
                        [vec![5, self.kind(&pointer.to)], expression(&expr(size, operands))].concat()
                    }
                    _ => self.target(pointer, operands),
                };
                [vec![at, 1], target].concat()
            }
            ty => vec![at, 0, self.add(ty, About::of_param(param.param), operands)],
        })
    }
}

const fn class(class: PointerClass) -> Class {
    match class {
        PointerClass::Ref => Class::Ref,
        PointerClass::Unique => Class::Unique,
        PointerClass::Full => Class::Full,
    }
}
