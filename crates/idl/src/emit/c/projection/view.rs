//! Views: parameters in terms of values, as callers and implementers see them. A view also has the
//! code that converts the values to and from the parameters of the interface's method.

mod graphs;

use super::super::expression::{self, Side};
use super::super::is_beyond_values;
use super::super::names::{self, binding, declare, flat, local, pointer_to, type_name};
use crate::model::{Arith, Base, Direction, Extent, Model, Object, PointerClass, Type};
use crate::plan::{MethodPlan, ParamPlan, Passing, element_counts};
use crate::text::writer::Writer;

/// The placeholder for the result in a line of code.
pub(super) const RESULT: &str = "{result}";

/// The forms of a parameter in all places where it appears. Callers and implementers see the same
/// types.
#[derive(Default)]
pub(super) struct View {
    /// The declaration. `None` if the parameter is not passed.
    pub(super) declared: Option<String>,
    /// The type. `None` if the parameter is not a result.
    pub(super) result: Option<String>,
    /// The caller's code before the call.
    pub(super) before: Vec<String>,
    /// The caller's code that moves the former elements out of an array that the method fills. This
    /// code runs after the `before` code of all parameters.
    pub(super) taken: Vec<String>,
    /// The argument that the caller's code passes to the interface's method.
    pub(super) argument: String,
    /// The caller's code after a successful call.
    pub(super) after: Vec<String>,
    /// The expression for the result that the caller gets.
    pub(super) returned: String,
    /// Whether the result owns a resource, so that it is moved.
    pub(super) is_owner: bool,
    /// The adapter's code before any step that can fail.
    pub(super) cleared: Vec<String>,
    /// The adapter's code before the call of the object.
    pub(super) prepared: Vec<String>,
    /// The argument that the adapter passes to the object's method.
    pub(super) given: String,
    /// The adapter's code that converts the object's result, and that may fail.
    pub(super) made: Vec<String>,
    /// The adapter's code that gives the result to the caller.
    pub(super) stored: Vec<String>,
    /// Whether objects implement the interface's original signature.
    pub(super) is_raw_for_objects: bool,
}

/// The context in which the views of a method's parameters are made.
pub(super) struct Viewer<'a> {
    pub(super) model: &'a Model,
    pub(super) plan: &'a MethodPlan<'a>,
}

/// The reason why a parameter keeps its C form.
pub(super) type Reason = &'static str;

const POINTERS: Reason = "leads to pointers";
const CALCULATED_COUNT: Reason = "is an array whose count is an expression";
const CALLERS_COUNT: Reason = "is an array whose count comes from the caller";
const SHARED_COUNT: Reason = "is an array whose count may have another use, too";
const UNION: Reason = "is a union whose discriminant is elsewhere";
const TEXT: Reason = "is a string of numbers";
const FIXED: Reason = "is an array of elements with pointers";
const ARRAYS: Reason = "is an array of arrays that the method allocates";
const IID: Reason = "is an object whose IID the method may change";
const REPLACED_OBJECT: Reason = "is an object with [iid_is] that the method may replace";
const LARGE: Reason = "is a result beyond the 64 KiB that a method returns by value";
const OBJECTS: Reason = "is an array of objects with [iid_is]";

impl Viewer<'_> {
    /// Returns the view of a parameter.
    ///
    /// # Errors
    ///
    /// The reason why the parameter keeps its C form.
    pub(super) fn view(&self, param: &ParamPlan<'_>) -> Result<View, Reason> {
        let name = binding(&param.param.code);
        let is_result = !param.param.direction.is_in();
        Ok(match &param.passing {
            Passing::Value(ty) | Passing::RefPointer(ty) if param.counts => self.count(param, ty),
            Passing::Value(ty) => self.value(ty, &name, &name, &name),
            Passing::RefPointer(_) | Passing::Graph if self.exceeds_results(param) => return Err(LARGE),
            Passing::RefPointer(ty @ Type::Fixed(element, _)) => self.fixed(param, ty, element),
            Passing::RefPointer(Type::Base(Base::Boolean)) => self.boolean(param),
            Passing::RefPointer(ty) if is_result => self.place(ty, &name),
            Passing::RefPointer(ty) if param.param.direction.is_out() => self.changed(type_name(self.model, ty), &name),
            Passing::RefPointer(ty) => self.value(ty, &name, &format!("&{name}"), &format!("*{name}")),
            Passing::Array { element, .. } | Passing::Reference { element, .. } => {
                self.elements(param, type_name(self.model, element), element, false)
            }
            Passing::Optional(ty) => pointer(format!("const {}", pointer_to(self.model, ty, &name)), &name),
            Passing::Text { base, optional } => self.text(param, *base, *optional)?,
            Passing::OutText(base) => self.out_text(param, *base)?,
            Passing::OutArray { element, size } => self.allocated(param, element, size)?,
            Passing::Lent { element, size, .. } => self.lent(param, element, size)?,
            Passing::Object(object) => self.object(param, object)?,
            Passing::OutObject(object) => self.out_object(object, &name)?,
            Passing::Raw(_) => pointer(names::parameter(self.model, param, &name), &name),
            // A parameter of an Automation type is refused earlier.
            Passing::Graph | Passing::Automation(_) => self.graph(param)?,
        })
    }

    /// Whether a parameter is a result that consists of one value, and exceeds
    /// [`VALUE_MAX`](super::super::VALUE_MAX) together with the results before it. Callers get
    /// results on their stack.
    fn exceeds_results(&self, param: &ParamPlan<'_>) -> bool {
        is_beyond_values(self.plan, param, |param| {
            let value = match &param.param.ty {
                Type::Pointer(pointer) if pointer.extent == Extent::One => &pointer.to,
                value => value,
            };
            let has_members = matches!(value, Type::Struct(_) | Type::Union(_) | Type::Fixed(..));
            if has_members && !param.param.direction.is_in() { self.model.layout(value).0.into() } else { 0 }
        })
    }

    /// Returns the type that holds an object.
    fn holder(&self, object: &Object) -> String {
        let pointer = declare(self.model, &Type::Interface(object.clone()), "");
        format!("obvia::object<{}>", pointer.trim_end_matches([' ', '*']))
    }

    /// Returns the view of a count that arrays imply. All these arrays must have the same length.
    fn count(&self, param: &ParamPlan<'_>, ty: &Type) -> View {
        let (name, ty) = (binding(&param.param.code), type_name(self.model, ty));
        if param.param.direction.is_out() {
            let (before, argument) = (vec![format!("{ty} {name}{{}};")], format!("&{name}"));
            return View { before, argument, ..View::default() };
        }
        let (mut arrays, missing): (Vec<_>, Vec<_>) = self.counted_by(param).partition(|array| !may_be_missing(array));
        arrays.extend(missing);
        let named = |array: &&ParamPlan<'_>| binding(&array.param.code);
        let first = arrays.first().map(named).unwrap_or_default();
        let mut before = vec![format!("const {ty} {name} = obvia::count_of<{ty}>({first}.size());")];
        for other in arrays.iter().skip(1) {
            let or_none = if may_be_missing(other) { "_or_none" } else { "" };
            before.push(format!("obvia::check_length{or_none}({}.size(), {first}.size());", named(other)));
        }
        View { before, argument: name, ..View::default() }
    }

    /// Returns the arrays that a parameter counts.
    fn counted_by<'s>(&'s self, count: &'s ParamPlan<'_>) -> impl Iterator<Item = &'s ParamPlan<'s>> {
        self.plan.params.iter().filter(move |array| {
            let size = element_counts(array.param).and_then(|(size, _)| size.plain());
            size.is_some_and(|operand| self.plan.params[operand.index].param.name == count.param.name)
        })
    }

    fn value(&self, ty: &Type, name: &str, argument: &str, given: &str) -> View {
        let text = type_name(self.model, ty);
        let (declared, given) = match ty {
            Type::Base(Base::Boolean) => (format!("bool {name}"), format!("{given} != 0")),
            Type::Struct(_) | Type::Union(_) | Type::Base(Base::Guid) => {
                (format!("const {text} &{name}"), given.to_owned())
            }
            _ => (format!("{text} {name}"), given.to_owned()),
        };
        View { declared: Some(declared), argument: argument.to_owned(), given, ..View::default() }
    }

    /// Returns the view of a value that the method changes in place.
    fn changed(&self, ty: String, name: &str) -> View {
        let (argument, given) = (format!("&{name}"), format!("*{name}"));
        View { declared: Some(format!("{ty} &{name}")), argument, given, ..View::default() }
    }

    /// Returns the view of a single value that the method returns.
    fn place(&self, ty: &Type, name: &str) -> View {
        let text = type_name(self.model, ty);
        View {
            before: vec![format!("{text} {name}{{}};")],
            argument: format!("&{name}"),
            returned: name.to_owned(),
            stored: vec![format!("*{name} = {RESULT};")],
            result: Some(text),
            ..View::default()
        }
    }

    fn boolean(&self, param: &ParamPlan<'_>) -> View {
        let name = binding(&param.param.code);
        let raw = local(self.plan, param, "raw");
        match param.param.direction {
            Direction::In => View {
                before: vec![format!("const uint8_t {raw} = {name};")],
                argument: format!("&{raw}"),
                declared: Some(format!("bool {name}")),
                given: format!("*{name} != 0"),
                ..View::default()
            },
            Direction::InOut => View {
                before: vec![format!("uint8_t {raw} = {name};")],
                argument: format!("&{raw}"),
                after: vec![format!("{name} = {raw} != 0;")],
                declared: Some(format!("bool &{name}")),
                prepared: vec![format!("bool {raw} = *{name} != 0;")],
                given: raw.clone(),
                stored: vec![format!("*{name} = {raw};")],
                ..View::default()
            },
            Direction::Out => View {
                result: Some("bool".to_owned()),
                returned: format!("{name} != 0"),
                ..self.place(&Type::Base(Base::Boolean), &name)
            },
        }
    }

    /// Returns the view of an array of fixed size: a reference, or a returned array.
    fn fixed(&self, param: &ParamPlan<'_>, ty: &Type, element: &Type) -> View {
        let name = binding(&param.param.code);
        let is_deep = matches!(element, Type::Fixed(..));
        let first = pointer_to(self.model, element, "");
        if param.param.direction == Direction::Out {
            let result = self.standard_array(ty);
            let data = format!("{name}.data()");
            return View {
                before: vec![format!("{result} {name}{{}};")],
                argument: if is_deep { format!("reinterpret_cast<{first}>({data})") } else { data },
                returned: name.clone(),
                stored: vec![format!("std::memcpy({name}, {RESULT}.data(), sizeof {RESULT});")],
                result: Some(result),
                ..View::default()
            };
        }
        let is_constant = param.param.direction == Direction::In;
        let constant = if is_constant { "const " } else { "" };
        let argument = if is_deep && is_constant { format!("const_cast<{first}>({name})") } else { name.clone() };
        let whole = declare(self.model, ty, "(*)");
        View {
            declared: Some(format!("{constant}{}", declare(self.model, ty, &format!("(&{name})")))),
            argument,
            given: format!("*reinterpret_cast<{constant}{whole}>({name})"),
            ..View::default()
        }
    }

    fn standard_array(&self, ty: &Type) -> String {
        match ty {
            Type::Fixed(element, count) => format!("std::array<{}, {count}>", self.standard_array(element)),
            _ => type_name(self.model, flat(ty).0),
        }
    }

    /// Returns the view of an array in the caller's memory. `seen` is the type of its elements in
    /// the view.
    fn elements(&self, param: &ParamPlan<'_>, seen: String, element: &Type, is_owner: bool) -> View {
        let name = binding(&param.param.code);
        let raw = type_name(self.model, element);
        let is_constant = param.param.direction == Direction::In;
        let is_same = seen == raw && !(is_constant && matches!(element, Type::Fixed(..)));
        let seen = if is_constant { format!("const {seen}") } else { seen };
        let mut argument = if is_same { format!("{name}.data()") } else { format!("obvia::raw<{raw}>({name})") };
        if may_be_missing(param) {
            // An empty array is passed as null, even if its own address is not null.
            argument = format!("{name}.empty() ? nullptr : {argument}");
        }
        let mut view = View { argument, declared: Some(format!("obvia::span<{seen}> {name}")), ..View::default() };
        let Some((size, _)) = element_counts(param.param) else { return view };
        let is_counted = size.plain().is_some_and(|operand| self.plan.params[operand.index].counts);
        if !is_counted {
            let or_none = if may_be_missing(param) { "_or_none" } else { "" };
            let count = self.room(param, size, Side::Stub, &mut view.before);
            view.before.push(format!("obvia::check_length{or_none}({name}.size(), {count});"));
        }
        let is_room = is_owner && !param.param.direction.is_in();
        if is_room {
            view.taken.push(format!("const obvia::former<{seen}> {}({name});", local(self.plan, param, "former")));
        }
        let function = if is_room { "room" } else { "elements" };
        let count = self.room(param, size, Side::BeforeCall, &mut view.prepared);
        view.given = format!("obvia::{function}<{seen}>({name}, {count})");
        view
    }

    /// Returns the number of elements that an array has room for. If the number must be calculated,
    /// the lines that calculate it are added to `before`.
    fn room(&self, param: &ParamPlan<'_>, size: &Arith, side: Side, before: &mut Vec<String>) -> String {
        match size {
            Arith::Operand(operand) => expression::value(self.plan, operand, side),
            Arith::Const(number) => names::integer(*number),
            size => {
                let count = local(self.plan, param, "count");
                let mut out = Writer::default();
                expression::count(&mut out, self.plan, &count, size, side);
                before.extend(out.finish().lines().map(str::to_owned));
                count
            }
        }
    }

    fn text(&self, param: &ParamPlan<'_>, base: Base, is_optional: bool) -> Result<View, Reason> {
        let name = binding(&param.param.code);
        let (unit, view) = (names::base(base), format!("{}_view", string(base)?));
        let ended = local(self.plan, param, "ended");
        let declared = if is_optional { format!("std::optional<{view}> {name}") } else { format!("{view} {name}") };
        Ok(View {
            declared: Some(declared),
            before: vec![format!("const obvia::ended_text<{unit}> {ended}({name});")],
            argument: format!("{ended}.get()"),
            given: if is_optional { format!("obvia::optional_view({name})") } else { name },
            ..View::default()
        })
    }

    fn out_text(&self, param: &ParamPlan<'_>, base: Base) -> Result<View, Reason> {
        let name = binding(&param.param.code);
        let memory = format!("obvia::memory<{}>", names::base(base));
        let made = local(self.plan, param, "made");
        Ok(View {
            result: Some(string(base)?.to_owned()),
            before: vec![format!("{memory} {name};")],
            argument: format!("{name}.put()"),
            cleared: vec![format!("*{name} = nullptr;")],
            returned: format!("obvia::text_of({name})"),
            made: vec![format!("{memory} {made} = obvia::memory_of({RESULT});")],
            stored: vec![format!("*{name} = {made}.detach();")],
            ..View::default()
        })
    }

    /// Returns the view of an array that the method allocates.
    fn allocated(&self, param: &ParamPlan<'_>, element: &Type, size: &Arith) -> Result<View, Reason> {
        let name = binding(&param.param.code);
        let counter = self.counter(size)?;
        let count = binding(&counter.param.code);
        let array = format!("obvia::array<{}>", type_name(self.model, element));
        let is_first = self.counted_by(counter).next().is_some_and(|first| first.param.name == param.param.name);
        let Type::Pointer(counted) = &counter.param.ty else { return Err(CALLERS_COUNT) };
        let taken = local(self.plan, param, "taken");
        Ok(View {
            before: vec![self.returned_pointer(element, &name)?],
            argument: format!("&{name}"),
            after: vec![format!("auto {taken} = {array}::attach({name}, {count});")],
            returned: taken,
            is_owner: true,
            cleared: vec![format!("*{name} = nullptr;")],
            result: Some(array),
            made: vec![if is_first {
                let ty = type_name(self.model, &counted.to);
                format!("*{count} = obvia::count_of<{ty}>({RESULT}.size());")
            } else {
                format!("obvia::check_length({RESULT}.size(), *{count});")
            }],
            stored: vec![format!("*{name} = {RESULT}.detach();")],
            ..View::default()
        })
    }

    /// Returns the declaration of a pointer to elements that the method provides.
    fn returned_pointer(&self, element: &Type, name: &str) -> Result<String, Reason> {
        if matches!(element, Type::Fixed(..)) {
            return Err(ARRAYS);
        }
        Ok(format!("{};", pointer_to(self.model, element, &format!("{name}{{}}"))))
    }

    /// Returns the parameter that gives an array's length and has no other use.
    fn counter(&self, size: &Arith) -> Result<&ParamPlan<'_>, Reason> {
        let count = &self.plan.params[size.plain().ok_or(CALCULATED_COUNT)?.index];
        match count.counts {
            true => Ok(count),
            false if count.param.direction.is_in() => Err(CALLERS_COUNT),
            false => Err(SHARED_COUNT),
        }
    }

    /// Returns the view of an array that callers read in place.
    fn lent(&self, param: &ParamPlan<'_>, element: &Type, size: &Arith) -> Result<View, Reason> {
        let name = binding(&param.param.code);
        let count = binding(&self.counter(size)?.param.code);
        let span = format!("obvia::span<const {}>", type_name(self.model, element));
        Ok(View {
            before: vec![self.returned_pointer(element, &name)?],
            argument: format!("&{name}"),
            returned: format!("{span}({name}, {count})"),
            result: Some(span),
            is_raw_for_objects: true,
            ..View::default()
        })
    }

    fn object(&self, param: &ParamPlan<'_>, object: &Object) -> Result<View, Reason> {
        let (name, holder) = (binding(&param.param.code), self.holder(object));
        let mut view = View {
            declared: Some(format!("const {holder} &{name}")),
            argument: format!("{name}.get()"),
            given: format!("{holder}({name})"),
            ..View::default()
        };
        if let Some((iid, _)) = self.iid(object)? {
            let asked = local(self.plan, param, "asked");
            view.before = vec![format!("const obvia::com_ptr<IUnknown> {asked} = obvia::asked({name}, {iid});")];
            view.argument = format!("{asked}.get()");
        }
        Ok(view)
    }

    fn out_object(&self, object: &Object, name: &str) -> Result<View, Reason> {
        let mut view = owner_result(self.holder(object), name);
        if let Some((_, iid)) = self.iid(object)? {
            view.made = vec![format!("{RESULT} = obvia::asked({RESULT}, {iid});")];
        }
        Ok(view)
    }

    /// Returns the IID by which an object with the static type IUnknown is passed. The result
    /// consists of an expression in callers' code, and an expression in adapters' code. The pointer
    /// must point to the interface with this IID, because the receiver calls that interface.
    fn iid(&self, object: &Object) -> Result<Option<(String, String)>, Reason> {
        let Object::IidIs(operand) = object else { return Ok(None) };
        let param = &self.plan.params[operand.index];
        if param.param.direction != Direction::In {
            return Err(IID);
        }
        let name = binding(&param.param.code);
        let given = if operand.deref { format!("*{name}") } else { name.clone() };
        Ok(Some((name, given)))
    }
}

/// Whether an array may be omitted.
fn may_be_missing(array: &ParamPlan<'_>) -> bool {
    array.param.direction.is_in()
        && matches!(&array.param.ty, Type::Pointer(pointer) if pointer.class != PointerClass::Ref)
}

/// Returns the view of a parameter that is a pointer for callers and for implementers.
fn pointer(declared: String, name: &str) -> View {
    View { declared: Some(declared), argument: name.to_owned(), given: name.to_owned(), ..View::default() }
}

/// Returns the view of a result that is held by an owner type.
fn owner_result(owner: String, name: &str) -> View {
    View {
        cleared: vec![format!("*{name} = {{}};")],
        before: vec![format!("{owner} {name};")],
        argument: format!("{name}.put()"),
        returned: name.to_owned(),
        is_owner: true,
        stored: vec![format!("*{name} = {RESULT}.detach();")],
        result: Some(owner),
        ..View::default()
    }
}

/// Returns the view of a value in an owner type that the method may replace.
fn owner_changed(owner: &str, name: &str) -> View {
    View {
        declared: Some(format!("{owner} &{name}")),
        argument: format!("{name}.in_out()"),
        given: format!("obvia::in_place<{owner}>({name})"),
        ..View::default()
    }
}

/// Returns the standard string type for these characters.
fn string(base: Base) -> Result<&'static str, Reason> {
    match base {
        Base::Char => Ok("std::string"),
        Base::WChar => Ok("std::u16string"),
        _ => Err(TEXT),
    }
}
