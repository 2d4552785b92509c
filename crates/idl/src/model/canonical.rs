//! Canonical text: the one normal form of an interface and the types that it uses, and the
//! fingerprint of that text.
//!
//! The texts of two compilations are equal if and only if the interface means the same in both.
//! Names and values are part of the text. Comments, the order of declarations, the spelling of
//! types and the names of typedefs are not. The text is valid IDL.

use crate::model::automation::{FILE, Kind, Member, element_name};
use crate::model::{
    Arith, Base, BitField, Direction, EnumId, Extent, Field, Interface, InterfaceId, Memory, Method, Model, Object,
    Operand, Param, Pointer, PointerClass, Returns, StructId, Transfer, Type, UnionId, Value, Varying,
};
use obvia_ndr::vartype as vt;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

/// The types and interfaces that an interface's text has to declare.
#[derive(Default)]
struct Closure {
    structs: BTreeSet<StructId>,
    unions: BTreeSet<UnionId>,
    enums: BTreeSet<EnumId>,
    interfaces: BTreeSet<InterfaceId>,
    contexts: bool,
    /// Whether the closure contains a declaration of Automation's built-in file.
    built_in: bool,
}

/// Returns the canonical text of an interface.
pub fn text(model: &Model, id: InterfaceId) -> String {
    print(model, id, false)
}

/// Returns the canonical text. With `for_one_process`, the text also has the parameters of
/// `[local]` methods and the room for lent arrays. Other processes need neither: they see only that
/// a `[local]` method takes a place in the vtable.
fn print(model: &Model, id: InterfaceId, for_one_process: bool) -> String {
    let mut closure = Closure::default();
    let own = model.declared_lineage(id);
    let printer = Printer { model, for_one_process, aliases: RefCell::default() };
    let interfaces = own.iter().map(|id| &model.interfaces[id.0]);
    let methods = interfaces.flat_map(|found| found.methods.iter().filter(|method| printer.is_whole(found, method)));
    let params = methods.flat_map(|method| &method.params);
    let (known, own_types): (Vec<&Param>, Vec<&Param>) = params.partition(|param| param.memory.is_some());
    closure.built_in = !known.is_empty();
    closure.add(model, own_types.into_iter().map(|param| &param.ty));
    let (mut out, mut body) = (String::new(), String::new());
    if closure.take_built_in(model) || own.len() < model.lineage(id).len() {
        let _ = writeln!(out, "import \"{FILE}\";");
    }
    if closure.contexts {
        let _ = writeln!(out, "typedef [context_handle] void *{};", Base::Context.idl());
    }
    for other in sorted(&closure.interfaces, |id| &model.interfaces[id.0].name) {
        if !model.lineage(id).contains(&other) {
            let _ = writeln!(out, "interface {};", model.interfaces[other.0].name);
        }
    }
    for id in sorted(&closure.enums, |id| &model.enums[id.0].name) {
        printer.enumeration(&mut out, id);
    }
    // A structure follows the structures that it contains by value.
    let mut done = HashSet::new();
    for id in sorted(&closure.structs, |id| &model.structs[id.0].name) {
        let _ = writeln!(out, "struct {};", model.structs[id.0].name);
    }
    for id in sorted(&closure.structs, |id| &model.structs[id.0].name) {
        printer.declare(&mut body, &Type::Struct(id), &mut done);
    }
    for id in sorted(&closure.unions, |id| &model.unions[id.0].name) {
        printer.declare(&mut body, &Type::Union(id), &mut done);
    }
    for id in own {
        printer.interface(&mut body, id);
    }
    for declaration in printer.aliases.take() {
        let _ = writeln!(out, "{declaration}");
    }
    out + &body
}

/// Returns the fingerprint of an interface: the first 16 bytes of SHA-256 over the canonical text.
pub fn fingerprint(model: &Model, id: InterfaceId) -> u128 {
    hash(&text(model, id))
}

/// Returns the fingerprint on which two modules of one program must agree. Unlike [`fingerprint`],
/// it also depends on the parameters of `[local]` methods and on the room for lent arrays.
pub(crate) fn vtable_fingerprint(model: &Model, id: InterfaceId) -> u128 {
    hash(&print(model, id, true))
}

fn hash(text: &str) -> u128 {
    let digest = Sha256::digest(text.as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    u128::from_be_bytes(bytes)
}

fn sorted<'a, T: Copy + Ord>(set: &BTreeSet<T>, name: impl Fn(T) -> &'a String) -> Vec<T> {
    let mut list: Vec<T> = set.iter().copied().collect();
    list.sort_by(|&a, &b| name(a).cmp(name(b)));
    list
}

impl Closure {
    /// Removes the built-in declarations, and returns whether the closure contains any.
    fn take_built_in(&mut self, model: &Model) -> bool {
        let known = model.built_in;
        let before = (self.structs.len(), self.unions.len(), self.interfaces.len());
        self.structs.retain(|id| id.0 >= known.structs);
        self.unions.retain(|id| id.0 >= known.unions);
        self.interfaces.retain(|id| id.0 >= known.interfaces);
        self.built_in || before != (self.structs.len(), self.unions.len(), self.interfaces.len())
    }

    fn add<'m>(&mut self, model: &'m Model, types: impl Iterator<Item = &'m Type>) {
        for ty in model.reachable_from(types) {
            match ty {
                Type::Base(base) => self.contexts |= *base == Base::Context,
                Type::Enum(id) => _ = self.enums.insert(*id),
                Type::Interface(Object::Known(id)) => _ = self.interfaces.insert(*id),
                Type::Struct(id) => _ = self.structs.insert(*id),
                Type::Union(id) => _ = self.unions.insert(*id),
                Type::Interface(_) | Type::Fixed(..) | Type::Pointer(_) | Type::Void => {}
            }
        }
    }
}

/// Writes the model's parts as IDL.
struct Printer<'a> {
    model: &'a Model,
    /// Whether the text is for the modules of one process: see [`print`].
    for_one_process: bool,
    /// Typedefs of inner pointers that are not [unique], since only a typedef can state the class
    /// of an inner pointer. A typedef comes before the typedefs that use it.
    aliases: RefCell<Vec<String>>,
}

/// Returns a GUID in its usual form.
pub(crate) fn uuid_text(value: u128) -> String {
    let hex = format!("{value:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Returns the name of a type without its pointers and dimensions.
pub(crate) fn type_name(model: &Model, ty: &Type) -> String {
    Printer { model, for_one_process: false, aliases: RefCell::default() }.name(ty)
}

/// Returns the declaration of a bit field in IDL.
pub(crate) fn bit_field(model: &Model, part: &BitField) -> String {
    let space = if part.name.is_empty() { "" } else { " " };
    format!("{}{space}{} : {}", type_name(model, &part.ty), part.name, part.width)
}

impl Printer<'_> {
    fn enumeration(&self, out: &mut String, id: EnumId) {
        let found = &self.model.enums[id.0];
        let values: Vec<String> = found.values.iter().map(|(name, value)| format!("    {name} = {value}")).collect();
        let said = match (found.v1, found.open) {
            (false, false) => "",
            (true, false) => "[v1_enum] ",
            (false, true) => "[open] ",
            (true, true) => "[v1_enum, open] ",
        };
        let _ = writeln!(out, "typedef {said}enum {{\n{}\n}} {};", values.join(",\n"), found.name);
    }

    /// Declares a structure or a union. Before it, declares the types that it contains, and the
    /// unions to which it has pointers.
    fn declare(&self, out: &mut String, ty: &Type, done: &mut HashSet<Type>) {
        // A stack on the heap, because a chain of unions that point to one another may be as long
        // as a file.
        let mut next = vec![(ty, false)];
        while let Some((ty, is_ready)) = next.pop() {
            match ty {
                Type::Struct(id) if is_ready => self.structure(out, *id),
                Type::Union(id) if is_ready => self.union(out, *id),
                Type::Struct(_) | Type::Union(_) if done.insert(ty.clone()) => {
                    next.push((ty, true));
                    next.extend(self.model.inner(ty).into_iter().rev().map(|ty| (ty, false)));
                }
                Type::Fixed(element, _) => next.push((element, false)),
                Type::Pointer(pointer) if matches!(pointer.to, Type::Union(_)) => next.push((&pointer.to, false)),
                _ => {}
            }
        }
    }

    fn structure(&self, out: &mut String, id: StructId) {
        let found = &self.model.structs[id.0];
        let names: Vec<&str> = found.fields.iter().map(|field| field.name.as_str()).collect();
        let _ = writeln!(out, "struct {} {{", found.name);
        for (at, field) in found.fields.iter().enumerate() {
            if !field.bits.is_empty() {
                self.bit_fields(out, field, at > 0 && !found.fields[at - 1].bits.is_empty());
                continue;
            }
            if let (Type::Void, Some((element, size, length))) = (&field.ty, &found.conformant) {
                let extent = self.sizes(size, length.as_ref(), &names);
                let _ = writeln!(out, "    [{extent}] {} {}[];", self.name(element), field.name);
                continue;
            }
            let _ = writeln!(out, "    {};", self.field(field, &names));
        }
        out.push_str("};\n");
    }

    /// Declares the bit fields of an integer. A bit field without width separates them from the bit
    /// fields of the preceding integer.
    fn bit_fields(&self, out: &mut String, field: &Field, follows_others: bool) {
        if follows_others {
            let _ = writeln!(out, "    {} : 0;", self.name(&field.ty));
        }
        for part in &field.bits {
            let _ = writeln!(out, "    {};", bit_field(self.model, part));
        }
    }

    fn union(&self, out: &mut String, id: UnionId) {
        let found = &self.model.unions[id.0];
        let tag = self.name(&found.tag);
        match &found.encapsulated {
            Some((name, inner)) => {
                let _ = writeln!(out, "union {} switch ({tag} {name}) {inner} {{", found.name);
            }
            None => {
                let _ = writeln!(out, "[switch_type({tag})] union {} {{", found.name);
            }
        }
        for arm in &found.arms {
            let cases: Vec<String> = arm.cases.iter().map(|case| format!("case {case}:")).collect();
            let _ = writeln!(out, "    {} {};", cases.join(" "), self.arm(arm.field.as_ref()));
        }
        if let Some(field) = &found.default {
            let _ = writeln!(out, "    default: {};", self.arm(field.as_ref()));
        }
        out.push_str("};\n");
    }

    fn arm(&self, field: Option<&Field>) -> String {
        field.map_or_else(String::new, |field| self.field(field, &[]))
    }

    /// Whether a method's parameters are part of the text.
    fn is_whole(&self, interface: &Interface, method: &Method) -> bool {
        self.for_one_process || interface.local || method.is_seen_elsewhere()
    }

    fn interface(&self, out: &mut String, id: InterfaceId) {
        let found = &self.model.interfaces[id.0];
        let base = found.base.map_or("IUnknown", |base| self.model.interfaces[base.0].name.as_str());
        let (object, base) = if found.plain { ("", String::new()) } else { ("object, ", format!(": {base} ")) };
        let (major, minor) = found.version;
        let version = if (major, minor) == (0, 0) { String::new() } else { format!(", version({major}.{minor})") };
        let local = if found.local { ", local" } else { "" };
        let dual = if found.dual { ", dual" } else { "" };
        let _ = writeln!(
            out,
            "[{object}uuid({}){version}{local}{dual}, pointer_default(unique)]\ninterface {} {base}{{",
            uuid_text(found.uuid),
            found.name
        );
        for method in &found.methods {
            if self.is_whole(found, method) {
                self.method(out, method, found.dual);
            } else {
                let _ = writeln!(out, "    [local] HRESULT {}();", method.name);
            }
        }
        out.push_str("}\n");
    }

    fn method(&self, out: &mut String, method: &Method, dual: bool) {
        let names: Vec<&str> = method.params.iter().map(|param| param.name.as_str()).collect();
        let oneway = if method.oneway { "[oneway] " } else { "" };
        let (mut given, mut returns) = (method.params.as_slice(), "HRESULT".to_owned());
        match (method.returns, given.split_last()) {
            (Returns::Value, Some((last, rest))) => (given, returns) = (rest, self.name(&last.ty) + &stars(&last.ty)),
            (Returns::Nothing, _) => "void".clone_into(&mut returns),
            _ => {}
        }
        let params: Vec<String> = given
            .iter()
            .map(|param| {
                let mut attributes = vec![
                    match param.direction {
                        Direction::In => "in",
                        Direction::Out => "out",
                        Direction::InOut => "in, out",
                    }
                    .to_owned(),
                ];
                if param.retval {
                    attributes.push("retval".to_owned());
                }
                if let Some(switch) = &param.switch {
                    attributes.push(format!("switch_is({})", arith(switch, &names)));
                }
                attributes.extend(param.varying.as_ref().map(|varying| varying_text(varying, &names)));
                attributes.extend(param.utf8.then(|| "utf8".to_owned()));
                attributes.extend(match param.transfer {
                    Transfer::Frame => None,
                    Transfer::ZeroCopy => Some("zero_copy".to_owned()),
                    Transfer::Map => Some("map".to_owned()),
                    // Between processes, only the server needs to know the room. Within one
                    // process, the caller allocates the room.
                    Transfer::Lend(room) if self.for_one_process => Some(format!("lend, prealloc({room})")),
                    Transfer::Lend(_) => Some("lend".to_owned()),
                });
                if dual {
                    attributes.extend(optional(param));
                }
                if let Some(memory) = param.memory {
                    return automation(param, memory, &attributes);
                }
                let text = self.declaration(param.declared(), &param.name, param.range, attributes, &names, true);
                // The parameter's VARTYPE has no other effect on the text than the name of the
                // parameter's type.
                match param.variant.as_ref().filter(|_| dual).map(|variant| variant.vt) {
                    Some(vt::BOOL) => text.replacen("short ", "VARIANT_BOOL ", 1),
                    Some(vt::DATE) => text.replacen("double ", "DATE ", 1),
                    _ => text,
                }
            })
            .collect();
        let (member, name) =
            if dual { (member(&method.member), &method.member.name) } else { (String::new(), &method.name) };
        let _ = writeln!(out, "    {oneway}{member}{returns} {name}({});", params.join(", "));
    }

    fn field(&self, field: &Field, names: &[&str]) -> String {
        let mut attributes = Vec::new();
        if let Some(switch) = &field.switch {
            attributes.push(format!("switch_is({})", arith(switch, names)));
        }
        attributes.extend(field.varying.as_ref().map(|varying| varying_text(varying, names)));
        self.declaration(&field.ty, &field.name, field.range, attributes, names, false)
    }

    fn declaration(
        &self,
        ty: &Type,
        name: &str,
        range: Option<(i64, i64)>,
        mut attributes: Vec<String>,
        names: &[&str],
        param: bool,
    ) -> String {
        if let Some((least, most)) = range {
            attributes.push(format!("range({least}, {most})"));
        }
        let (mut dimensions, mut inner) = (String::new(), ty);
        while let Type::Fixed(element, count) = inner {
            let _ = write!(dimensions, "[{count}]");
            inner = element;
        }
        let mut levels = Vec::new();
        let mut alias = None;
        while let Type::Pointer(pointer) = inner {
            if !levels.is_empty() && pointer.class != PointerClass::Unique {
                alias = Some(self.alias(pointer));
                break;
            }
            levels.push(&**pointer);
            inner = &pointer.to;
        }
        let usual = if param { PointerClass::Ref } else { PointerClass::Unique };
        attributes.extend(pointer_attributes(&levels, usual, names));
        let (mut stars, mut base) = ("*".repeat(levels.len()), self.name(inner));
        if let Some(alias) = alias {
            base = alias;
        } else if let Type::Interface(object) = inner {
            stars.push('*');
            if let Object::IidIs(operand) = object {
                attributes.push(format!("iid_is({})", operand_text(operand, names)));
                base = "IUnknown".to_owned();
            }
        }
        let attributes = if attributes.is_empty() { String::new() } else { format!("[{}] ", attributes.join(", ")) };
        format!("{attributes}{base} {stars}{name}{dimensions}")
    }

    /// Returns the name of the typedef for a pointer, and adds the typedef if it is new.
    fn alias(&self, pointer: &Pointer) -> String {
        let (target, star) = match &pointer.to {
            Type::Pointer(inner) => (self.alias(inner), ""),
            Type::Interface(_) => (self.name(&pointer.to), "*"),
            _ => (self.name(&pointer.to), ""),
        };
        let text = if pointer.extent == Extent::Text { "string_" } else { "" };
        let name = format!("{}_{text}{}", class(pointer.class), target.replace(' ', "_"));
        let string = if pointer.extent == Extent::Text { ", string" } else { "" };
        let declaration = format!("typedef [{}{string}] {target} {star}*{name};", class(pointer.class));
        let mut aliases = self.aliases.borrow_mut();
        if !aliases.contains(&declaration) {
            aliases.push(declaration);
        }
        name
    }

    fn sizes(&self, size: &Arith, length: Option<&Arith>, names: &[&str]) -> String {
        let size = format!("size_is({})", arith(size, names));
        length.map_or_else(|| size.clone(), |length| format!("{size}, length_is({})", arith(length, names)))
    }

    fn name(&self, ty: &Type) -> String {
        match ty {
            Type::Base(base) => base.idl().to_owned(),
            Type::Enum(id) => self.model.enums[id.0].name.clone(),
            Type::Struct(id) => format!("struct {}", self.model.structs[id.0].name),
            Type::Union(id) => format!("union {}", self.model.unions[id.0].name),
            Type::Interface(Object::Known(id)) => self.model.interfaces[id.0].name.clone(),
            Type::Interface(_) => "IUnknown".to_owned(),
            Type::Void => "void".to_owned(),
            Type::Fixed(element, _) => self.name(element),
            Type::Pointer(pointer) => self.name(&pointer.to),
        }
    }
}

/// Returns the stars of a method's result. Only `[local]` methods return pointers.
fn stars(place: &Type) -> String {
    let (mut ty, mut stars) = (place, String::new());
    while let Type::Pointer(pointer) = ty {
        ty = &pointer.to;
        stars.push_str(if matches!(ty, Type::Pointer(_) | Type::Interface(_)) { "*" } else { "" });
    }
    stars
}

/// Returns the attributes of a type's pointers. `levels` lists the pointers from the outermost on.
/// `usual` is the default class of the outermost pointer.
pub(crate) fn pointer_attributes(levels: &[&Pointer], usual: PointerClass, names: &[&str]) -> Vec<String> {
    let outer = levels.first().filter(|outer| outer.class != usual);
    let mut attributes: Vec<String> = outer.iter().map(|outer| class(outer.class).to_owned()).collect();
    let (mut sizes, mut lengths, mut is_text) = (Vec::new(), Vec::new(), false);
    for level in levels {
        match &level.extent {
            Extent::One => {
                sizes.push(String::new());
                lengths.push(String::new());
            }
            Extent::Text => is_text = true,
            Extent::Counted { size, length } => {
                sizes.push(arith(size, names));
                lengths.push(length.as_ref().map_or_else(String::new, |length| arith(length, names)));
            }
        }
    }
    for (name, list) in [("size_is", sizes), ("length_is", lengths)] {
        if list.iter().any(|one| !one.is_empty()) {
            attributes.push(format!("{name}({})", list.join(", ").trim_end_matches(", ")));
        }
    }
    attributes.extend(is_text.then(|| "string".to_owned()));
    attributes
}

pub(crate) fn class(class: PointerClass) -> &'static str {
    match class {
        PointerClass::Ref => "ref",
        PointerClass::Unique => "unique",
        PointerClass::Full => "ptr",
    }
}

pub(crate) fn operand_text(operand: &Operand, names: &[&str]) -> String {
    let name = names.get(operand.index).copied().unwrap_or("?");
    // A parameter of the type REFIID is a pointer itself. Attributes name such a parameter without
    // a star.
    if operand.deref && operand.base != Base::Guid { format!("*{name}") } else { name.to_owned() }
}

/// Returns the attributes of a member for calls by name.
fn member(member: &Member) -> String {
    let kind = match member.kind {
        Kind::Method => "",
        Kind::Get => ", propget",
        Kind::Put => ", propput",
        Kind::PutRef => ", propputref",
    };
    let restricted = if member.restricted { ", restricted" } else { "" };
    format!("[id({}){kind}{restricted}] ", member.id.unwrap_or_default())
}

/// Returns the attribute of a parameter that callers by name may omit. `None` for other parameters.
pub(crate) fn optional(param: &Param) -> Option<String> {
    let variant = param.variant.as_ref().filter(|variant| variant.optional)?;
    Some(match &variant.default {
        None => "optional".to_owned(),
        Some(Value::Int(value)) => format!("defaultvalue({value})"),
        Some(Value::Float(value)) => format!("defaultvalue({value:?})"),
        Some(Value::Text(text)) => format!("defaultvalue({text:?})"),
    })
}

/// Returns the declaration of a parameter of an Automation type.
fn automation(param: &Param, memory: Memory, attributes: &[String]) -> String {
    let name = match memory {
        Memory::Bstr => "BSTR".to_owned(),
        Memory::Variant => "VARIANT".to_owned(),
        Memory::SafeArray(element) => format!("SAFEARRAY({})", element_name(element)),
    };
    let star = if memory.is_by_value(param) { "" } else { "*" };
    format!("[{}] {name} {star}{}", attributes.join(", "), param.name)
}

pub(crate) fn varying_text(varying: &Varying, names: &[&str]) -> String {
    match varying {
        Varying::Text => "string".to_owned(),
        Varying::Length(length) => format!("length_is({})", arith(length, names)),
    }
}

/// Returns an expression as text, with all parentheses.
pub(crate) fn arith(value: &Arith, names: &[&str]) -> String {
    match value {
        Arith::Const(value) => value.to_string(),
        Arith::Operand(operand) => operand_text(operand, names),
        Arith::Unary(operator, inner) => format!("{operator}({})", arith(inner, names)),
        Arith::Binary(operator, left, right) => format!("({} {operator} {})", arith(left, names), arith(right, names)),
        Arith::Ternary(condition, yes, no) => {
            format!("({} ? {} : {})", arith(condition, names), arith(yes, names), arith(no, names))
        }
    }
}
