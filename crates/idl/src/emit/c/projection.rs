//! `NAME_values.hpp`: a file's interfaces for C++, with methods that take and return values and
//! throw exceptions on errors.
//!
//! Each interface gets three classes. The first has the calls, which an `obvia::object` inherits.
//! The second has the methods, which objects implement. The third is an adapter, which implements
//! the interface and calls an object of the second class. All declarations come first, because a
//! body may need types that are declared later.

mod sample;
mod view;

use super::Imports;
use super::library::{HOLDER, name_of_method};
use super::names::{binding, declared, local, method as method_name, named_signature, type_ident};
use super::suffix::{self, ADAPTER, CALLS, METHODS};
use super::types::once;
use crate::compile::Compilation;
use crate::emit::component;
use crate::model::{Interface, InterfaceId, Model, Object};
use crate::plan::{MethodPlan, ParamPlan, Passing, plan};
use crate::text::writer::Writer;
use view::{RESULT, View, Viewer};

/// Returns the text of the header. `own` are the file's own interfaces.
pub(super) fn header(compilation: &Compilation, stem: &str, own: &[InterfaceId], imports: &Imports<'_>) -> String {
    let model = &compilation.model;
    let mut out = Writer::default();
    super::made_from(&mut out, compilation);
    out.line("/*");
    out.line(" * Callers use obvia::object<INTERFACE>, which has the methods of INTERFACE_calls.");
    out.line(" * Objects derive from obvia::implementation<INTERFACE>, and have the methods of INTERFACE_methods.");
    out.line(" */");
    super::header::guard(&mut out, stem, "VALUES_HPP");
    out.line("#include \"obvia_values.hpp\"");
    out.line(format!("#include \"{stem}.h\""));
    for stem in imports.included() {
        out.line(format!("#include \"{stem}_values.hpp\""));
    }
    let remote = own.iter().filter(|id| imports.proxies.are_made(model, **id) && !is_local(model, **id));
    let projections: Vec<Projection<'_>> = remote.map(|id| Projection::of(model, *id)).collect();
    let calculates = |text: &String| text.contains("obvia_count(");
    let lines =
        |method: &Method<'_>| method.views.iter().flatten().flat_map(|view| view.before.clone()).collect::<Vec<_>>();
    if projections.iter().flat_map(|one| &one.methods).any(|method| lines(method).iter().any(calculates)) {
        out.line("#include \"obvia_stub.h\"");
    }
    out.line("");
    // The built-in interfaces come first, since they refer to no types of the file.
    let (built_in, own): (Vec<_>, Vec<_>) = projections.into_iter().partition(|one| one.found.imported);
    for one in built_in {
        let name = format!("{}{CALLS}", one.name);
        once(&mut out, model, &name, one.found.span, |out| write(out, std::slice::from_ref(&one)));
    }
    write(&mut out, &own);
    out.line("#endif");
    out.finish()
}

/// Writes the classes of interfaces. First declares all classes, because a class may refer to any
/// other. Writes the adapters and the functions' bodies last, because they need the other classes'
/// definitions.
fn write(out: &mut Writer, projections: &[Projection<'_>]) {
    for one in projections {
        one.forward(out);
    }
    out.line("");
    for one in projections {
        one.calls(out);
        one.methods(out);
        one.values_of(out);
    }
    for method in projections.iter().flat_map(|one| &one.methods) {
        method.results(out);
    }
    for one in projections {
        one.methods.iter().for_each(|method| method.call(out));
        one.adapter(out);
    }
}

/// Returns an interface's own methods: their declarations for implementers, and calls of them.
pub(super) fn component(model: &Model, id: InterfaceId) -> component::Interface {
    let projection = Projection::of(model, id);
    component::Interface { name: projection.name, methods: projection.methods.iter().map(Method::component).collect() }
}

/// Returns the names that the header declares for an interface, besides the interface's own name.
pub(super) fn made(model: &Model, id: InterfaceId) -> Vec<String> {
    if is_local(model, id) {
        return Vec::new();
    }
    let projection = Projection::of(model, id);
    let templates = [CALLS, METHODS, ADAPTER].map(|ending| format!("{}{ending}", projection.name));
    let results = projection.methods.iter().filter(|method| method.result_count() > 1).map(Method::result);
    templates.into_iter().chain(results).collect()
}

/// Whether an interface or one of its base interfaces is used within one process only.
fn is_local(model: &Model, id: InterfaceId) -> bool {
    model.lineage(id).iter().any(|id| model.interfaces[id.0].local)
}

/// An interface with its methods in terms of values.
struct Projection<'a> {
    model: &'a Model,
    found: &'a Interface,
    name: String,
    methods: Vec<Method<'a>>,
}

/// A method in terms of values.
struct Method<'a> {
    model: &'a Model,
    interface: String,
    /// The interface's type, with the keyword `struct` if another name would hide the type.
    object: String,
    /// The method's name in the interface.
    raw: String,
    name: String,
    plan: MethodPlan<'a>,
    /// The parameters' views, or the reason why the method keeps its C form.
    views: Result<Vec<View>, String>,
}

impl<'a> Projection<'a> {
    fn of(model: &'a Model, id: InterfaceId) -> Self {
        let found = &model.interfaces[id.0];
        let name = type_ident(&found.name);
        let object = super::names::object(model, &Object::Known(id));
        let methods = found.methods.iter().map(|method| {
            let plan = plan(model, method);
            let viewer = Viewer { model, plan: &plan };
            let view =
                |param: &ParamPlan<'a>| viewer.view(param).map_err(|why| format!("`{}` {why}", param.param.name));
            let views =
                if method.local { Err("it is [local]".to_owned()) } else { plan.params.iter().map(view).collect() };
            let raw = method_name(&method.code);
            let name_here = name_of_method(&raw);
            Method { model, interface: name.clone(), object: object.clone(), raw, name: name_here, views, plan }
        });
        let methods = methods.collect();
        Projection { model, found, name, methods }
    }

    /// Returns the name of a class that belongs to the base interface. For an interface that
    /// extends IUnknown directly, the class is a substitute in libobvia's headers.
    fn base(&self, what: &str, arguments: &str) -> String {
        match self.found.base.filter(|base| !self.model.is_built_in(*base)) {
            Some(base) => format!("{}{what}{arguments}", super::names::interface(self.model, base)),
            None => format!("obvia::no{what}{arguments}"),
        }
    }

    fn forward(&self, out: &mut Writer) {
        let name = &self.name;
        out.line(format!("template <class {HOLDER}> struct {name}{CALLS};"));
        out.line(format!("struct {name}{METHODS};"));
        out.line(format!("template <class obvia_made, class obvia_raw> struct {name}{ADAPTER};"));
        for method in self.methods.iter().filter(|method| method.result_count() > 1) {
            out.line(format!("struct {};", method.result()));
        }
    }

    fn calls(&self, out: &mut Writer) {
        out.block_comment(&self.found.doc);
        out.line(format!("template <class {HOLDER}>"));
        out.line(format!("struct {}{CALLS} : {} {{", self.name, self.base(CALLS, &format!("<{HOLDER}>"))));
        for method in &self.methods {
            out.block_comment(&method.plan.method.doc);
            match &method.views {
                Ok(_) => out.line(format!("{} {}({}) const;", method.result(), method.name, method.parameters())),
                Err(why) => {
                    let text = format!("{}: call it by ->, as {} has it; {why}.", method.raw, self.name);
                    out.line(format!("/* {text} */"));
                }
            }
        }
        out.line("};");
        out.line("");
    }

    fn methods(&self, out: &mut Writer) {
        out.block_comment(&self.found.doc);
        out.line(format!("struct {}{METHODS} : {} {{", self.name, self.base(METHODS, "")));
        for method in &self.methods {
            out.block_comment(&method.plan.method.doc);
            out.line(format!("virtual {} = 0;", method.declaration()));
        }
        out.unindented("protected:");
        out.line(format!("~{}{METHODS}() = default;", self.name));
        out.line("};");
        out.line("");
    }

    /// Writes the template specialization by which C++ code finds the interface's classes.
    fn values_of(&self, out: &mut Writer) {
        let name = &self.name;
        out.line(format!("template <> struct obvia_values_of<{name}> {{"));
        out.line(format!("template <class {HOLDER}> using calls = {name}{CALLS}<{HOLDER}>;"));
        out.line(format!("using methods = {name}{METHODS};"));
        out.line(format!(
            "template <class obvia_made, class obvia_raw> using adapter = {name}{ADAPTER}<obvia_made, obvia_raw>;"
        ));
        out.line("};");
        out.line("");
    }

    fn adapter(&self, out: &mut Writer) {
        out.line("template <class obvia_made, class obvia_raw>");
        out.line(format!("struct {}{ADAPTER} : {} {{", self.name, self.base(ADAPTER, "<obvia_made, obvia_raw>")));
        for method in &self.methods {
            method.adapter(out);
        }
        out.line("};");
        out.line("");
    }
}

impl Method<'_> {
    fn views(&self) -> &[View] {
        self.views.as_deref().unwrap_or_default()
    }

    fn is_raw_for_objects(&self) -> bool {
        self.views.is_err() || self.views().iter().any(|view| view.is_raw_for_objects)
    }

    /// Returns the declaration of the method that objects implement.
    fn declaration(&self) -> String {
        if self.is_raw_for_objects() {
            return self.raw_signature(&self.name);
        }
        format!("{} {}({})", self.result(), self.name, self.parameters())
    }

    fn result_count(&self) -> usize {
        self.views().iter().filter(|view| view.result.is_some()).count()
    }

    /// Returns the type of the result: the only result's type, or a structure of all results.
    fn result(&self) -> String {
        let mut results = self.views().iter().filter_map(|view| view.result.clone());
        match (results.next(), results.next()) {
            (None, _) => "void".to_owned(),
            (Some(one), None) => one,
            _ => format!("{}_{}{}", self.interface, self.raw, suffix::RESULTS),
        }
    }

    fn parameters(&self) -> String {
        self.views().iter().filter_map(|view| view.declared.clone()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the declaration of the method in its form in C, with this name.
    fn raw_signature(&self, name: &str) -> String {
        named_signature(self.model, &self.plan, name, "", binding)
    }

    /// Returns the views of the results, with their names.
    fn named_results(&self) -> impl Iterator<Item = (String, &View)> {
        let named = self.plan.params.iter().map(|param| declared(&param.param.code)).zip(self.views());
        named.filter(|(_, view)| view.result.is_some())
    }

    /// Writes the structure of the results, if there are several.
    fn results(&self, out: &mut Writer) {
        if self.result_count() > 1 {
            out.line(format!("/* The results of {}::{}. */", self.interface, self.raw));
            out.line(format!("struct {} {{", self.result()));
            for (name, view) in self.named_results() {
                out.line(format!("{} {name};", view.result.as_deref().unwrap_or_default()));
            }
            out.line("};");
            out.line("");
        }
    }

    /// Writes the function by which callers call the method.
    fn call(&self, out: &mut Writer) {
        let Ok(views) = &self.views else { return };
        let interface = &self.interface;
        out.line(format!("template <class {HOLDER}>"));
        let name = format!("{interface}{CALLS}<{HOLDER}>::{}", self.name);
        out.line(format!("{} {name}({}) const", self.result(), self.parameters()));
        out.line("{");
        out.line(format!("{} *const self = static_cast<const {HOLDER} *>(this)->get();", self.object));
        views.iter().flat_map(|view| &view.before).for_each(|line| out.line(line));
        let arguments = self.arguments(out, views);
        out.line(format!("obvia::check(self->{}({}));", self.raw, arguments.join(", ")));
        views.iter().flat_map(|view| &view.after).for_each(|line| out.line(line));
        let results: Vec<&View> = views.iter().filter(|view| view.result.is_some()).collect();
        match results.as_slice() {
            [] => {}
            [one] => out.line(format!("return {};", one.returned)),
            several => {
                let moved = |view: &&View| {
                    if view.is_owner { format!("std::move({})", view.returned) } else { view.returned.clone() }
                };
                out.line(format!("return {{{}}};", several.iter().map(moved).collect::<Vec<_>>().join(", ")));
            }
        }
        out.line("}");
        out.line("");
    }

    /// Returns the arguments of the interface's method. Also writes the code that moves the former
    /// elements out of arrays that the method fills. Objects among the arguments may be such
    /// elements, so the written code reads the objects' pointers before.
    fn arguments(&self, out: &mut Writer, views: &[View]) -> Vec<String> {
        let takes = views.iter().any(|view| !view.taken.is_empty());
        let mut arguments = Vec::new();
        for (param, view) in self.plan.params.iter().zip(views) {
            if takes && matches!(param.passing, Passing::Object(_)) {
                let given = local(&self.plan, param, "given");
                out.line(format!("auto *const {given} = {};", view.argument));
                arguments.push(given);
            } else {
                arguments.push(view.argument.clone());
            }
        }
        views.iter().flat_map(|view| &view.taken).for_each(|line| out.line(line));
        arguments
    }

    /// Writes the adapter's function in the interface's vtable, which calls the object's method.
    fn adapter(&self, out: &mut Writer) {
        out.line(format!("{} override", self.raw_signature(&self.raw)));
        out.line("{");
        let object = format!("{}{METHODS} &object = this->obvia_object();", self.interface);
        if self.is_raw_for_objects() {
            let names: Vec<String> = self.plan.in_vtable().iter().map(|param| binding(&param.param.code)).collect();
            out.line(object);
            out.line(format!("return object.{}({});", self.name, names.join(", ")));
        } else {
            self.views().iter().flat_map(|view| &view.cleared).for_each(|line| out.line(line));
            out.line("return obvia::guard([&] {");
            out.line(object);
            self.adapter_body(out);
            out.line("});");
        }
        out.line("}");
    }

    fn adapter_body(&self, out: &mut Writer) {
        let views = self.views();
        let given = views.iter().filter(|view| view.declared.is_some()).map(|view| view.given.as_str());
        let call = format!("object.{}({})", self.name, given.collect::<Vec<_>>().join(", "));
        views.iter().flat_map(|view| &view.prepared).for_each(|line| out.line(line));
        let several = self.result_count() > 1;
        let results: Vec<(String, &View)> = self.named_results().collect();
        match results.as_slice() {
            [] => out.line(format!("{call};")),
            // A single result that is only stored needs no variable.
            [(_, one)] if one.made.is_empty() && one.stored.concat().matches(RESULT).count() == 1 => {
                one.stored.iter().for_each(|line| out.line(line.replace(RESULT, &call)));
                let others = views.iter().filter(|view| view.result.is_none());
                return others.flat_map(|view| &view.stored).for_each(|line| out.line(line));
            }
            _ => out.line(format!("auto {} = {call};", if several { "results" } else { "result" })),
        }
        let named = |name: &str| if several { format!("results.{name}") } else { "result".to_owned() };
        for (name, view) in &results {
            view.made.iter().for_each(|line| out.line(line.replace(RESULT, &named(name))));
        }
        for (param, view) in self.plan.params.iter().zip(views) {
            let result = named(&declared(&param.param.code));
            view.stored.iter().for_each(|line| out.line(line.replace(RESULT, &result)));
        }
    }
}
