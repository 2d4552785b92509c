//! Type libraries: translates the model of a file's library into a type library.
//!
//! The type library contains the declarations in the IDL's `library`, and the types that these
//! declarations use. IUnknown and IDispatch are imported from `stdole2.tlb`, which exists wherever
//! there are type libraries.

mod types;

use crate::compile::Compilation;
use crate::model::automation::{Kind as Use, usual_id};
use crate::model::typelib::{
    self, Foreign, ForeignId, Function, Import, Kind, Parameter, Place, TypeDesc, TypeInfo, TypeLibrary, TypeRef,
    Value, Variable, flags,
};
use crate::model::{
    About, Coclass, Declared, DispMembers, Extent, InterfaceId, Library, Member, Model, Offered, Param, Pointer, Type,
    Value as Constant,
};
use crate::text::diagnostic::Diagnostic;
use crate::text::source::Span;
use obvia_ndr::vartype as vt;
use std::collections::{HashMap, VecDeque};

/// The size of a pointer in bytes.
const POINTER: u16 = 8;
/// The number of IUnknown's methods.
const UNKNOWN_METHODS: u16 = 3;
/// VARTYPEs that only type libraries use.
const VOID: u16 = 24;
const HRESULT: u16 = 25;

/// Returns a file's library, with warnings.
///
/// # Errors
///
/// The file has no library, or a declaration that a type library cannot represent.
pub fn library(compilation: &Compilation) -> Result<(TypeLibrary, Vec<Diagnostic>), Vec<Diagnostic>> {
    let own = compilation.model.libraries.iter().find(|library| !library.imported);
    let Some(library) = own else {
        let error = Diagnostic::without_place("no-library", format!("{} has no library", compilation.name));
        return Err(vec![error.help("put the file's declarations into `[uuid(...)] library NAME { ... };`")]);
    };
    let mut emitter = Emitter {
        model: &compilation.model,
        made: TypeLibrary { name: library.name.clone(), ..TypeLibrary::default() },
        known: HashMap::new(),
        unfilled: VecDeque::new(),
        diagnostics: Vec::new(),
        guid: None,
    };
    emitter.library(library);
    let is_wrong = |found: &Diagnostic| found.severity == crate::text::diagnostic::Severity::Error;
    if emitter.diagnostics.iter().any(is_wrong) {
        emitter.diagnostics.retain(is_wrong);
        return Err(emitter.diagnostics);
    }
    Ok((emitter.made, emitter.diagnostics))
}

/// Returns a type library's bytes, with warnings.
///
/// # Errors
///
/// The errors of [`library`], and libraries that do not fit the format.
pub fn emit(compilation: &Compilation) -> Result<(Vec<u8>, Vec<Diagnostic>), Vec<Diagnostic>> {
    let (library, warnings) = library(compilation)?;
    match typelib::write(&library) {
        Ok(bytes) => Ok((bytes, warnings)),
        Err(error) => Err(vec![Diagnostic::without_place("unwritable", error.to_string())]),
    }
}

struct Emitter<'a> {
    model: &'a Model,
    made: TypeLibrary,
    known: HashMap<Declared, usize>,
    /// Types that have an index but no members yet. The members are added later, because they may
    /// refer to any type.
    unfilled: VecDeque<(usize, Declared)>,
    diagnostics: Vec<Diagnostic>,
    /// The index of the GUID structure, if one is used.
    guid: Option<usize>,
}

impl Emitter<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn library(&mut self, library: &Library) {
        let made = &mut self.made;
        made.version = library.about.version;
        made.lcid = library.lcid;
        made.flags = library.about.flags;
        made.help = library.about.help.clone();
        made.help_file.clone_from(&library.help_file);
        match library.about.uuid {
            Some(uuid) => made.uuid = uuid,
            None => {
                let error = Diagnostic::error("no-uuid", library.span, "this type library has no uuid");
                self.report(error.help("put [uuid(...)] before `library`, with a uuid of its own from `uuidgen`"));
            }
        }
        for import in &library.imports {
            let file = import.file.to_ascii_lowercase();
            if !matches!(file.as_str(), "stdole2.tlb" | "stdole32.tlb") {
                let text = format!("nothing of `{}` is known", import.file);
                let warning = Diagnostic::warning("ignored-importlib", import.span, text);
                self.report(
                    warning
                        .help("import types from IDL files by `import`; IUnknown and IDispatch come from stdole2.tlb"),
                );
            }
        }
        for one in &library.declared {
            self.declared(*one);
        }
        while let Some((at, one)) = self.unfilled.pop_front() {
            match one {
                Declared::Interface(id) => self.fill_interface(at, id),
                Declared::Struct(id) => self.fill_structure(at, id),
                Declared::Union(id) => self.fill_union(at, id),
                Declared::Alias(alias) => self.fill_alias(at, alias),
                Declared::Dispinterface(interface) => self.fill_dispinterface(at, interface),
                Declared::Coclass(class) => self.fill_coclass(at, class),
                Declared::Enum(_) => {}
            }
        }
        share_names(&mut self.made);
    }

    /// Returns the reference to a type of the library, and adds the type if it is new.
    fn declared(&mut self, one: Declared) -> TypeRef {
        if let Some(known) = self.known.get(&one) {
            return TypeRef::Own(*known);
        }
        match one {
            Declared::Interface(id) if self.model.is_built_in(id) => self.of_stdole(IDISPATCH),
            Declared::Interface(id) => self.interface(id),
            Declared::Dispinterface(at) => self.dispinterface(at),
            Declared::Coclass(at) => self.coclass(at),
            Declared::Enum(id) => self.enumeration(id),
            Declared::Struct(id) => self.structure(id),
            Declared::Union(id) => self.union(id),
            Declared::Alias(at) => self.alias(at),
        }
    }

    /// Adds a type without members, so that other types and its own members can refer to it.
    fn reserve(&mut self, one: Declared, info: TypeInfo) -> TypeRef {
        let at = self.made.types.len();
        self.made.types.push(info);
        self.known.insert(one, at);
        self.unfilled.push_back((at, one));
        TypeRef::Own(at)
    }

    /// Returns the reference to an interface of `stdole2.tlb`.
    fn of_stdole(&mut self, uuid: u128) -> TypeRef {
        if self.made.imports.is_empty() {
            let file = "stdole2.tlb".to_owned();
            self.made.imports.push(Import { file, uuid: STDOLE, version: (2, 0), lcid: 0 });
        }
        let foreign = Foreign { library: 0, kind: Kind::Interface, what: ForeignId::Uuid(uuid) };
        let known = self.made.foreign.iter().position(|one| *one == foreign);
        TypeRef::Foreign(known.unwrap_or_else(|| {
            self.made.foreign.push(foreign);
            self.made.foreign.len() - 1
        }))
    }

    fn interface(&mut self, id: InterfaceId) -> TypeRef {
        let interface = &self.model.interfaces[id.0];
        if interface.plain {
            let text = format!(
                "`{}` has functions and no objects, and type libraries have no such interfaces",
                interface.name
            );
            let error = Diagnostic::error("not-in-library", interface.span, text);
            self.report(error.help("declare it outside the library"));
        }
        // The base interface comes first.
        let base = match interface.base {
            Some(base) => self.declared(Declared::Interface(base)),
            None => self.of_stdole(IUNKNOWN),
        };
        let inherited = interface.base.map_or(0, |base| self.model.all_methods(base).len()) as u16 + UNKNOWN_METHODS;
        let depth = self.model.lineage(id).len();
        let is_dual = interface.about.flags & flags::DUAL != 0;
        let mut bits = interface.about.flags;
        if self.model.is_dispatch(id) {
            bits |= flags::DISPATCHABLE;
        }
        if is_dual {
            bits |= flags::OLEAUTOMATION;
        }
        let info = TypeInfo {
            uuid: Some(interface.uuid),
            version: interface.version,
            flags: bits,
            help: interface.about.help.clone(),
            size: POINTER.into(),
            align: POINTER as u8,
            inherited: (inherited, depth as u16),
            interfaces: vec![(base, 0)],
            ..empty(&interface.name, if is_dual { Kind::Dispatch } else { Kind::Interface })
        };
        self.reserve(Declared::Interface(id), info)
    }

    fn fill_interface(&mut self, at: usize, id: InterfaceId) {
        let interface = &self.model.interfaces[id.0];
        let (inherited, depth) = self.made.types[at].inherited;
        for (index, method) in interface.methods.iter().enumerate() {
            let id = method.member.id.unwrap_or_else(|| usual_id(depth.into(), index));
            let results = usize::from(method.direct_result().is_some());
            let params = &method.params[..method.params.len() - results];
            let mut function = self.function(&method.member, params, id, inherited + index as u16);
            if method.returns_directly() {
                function.returns = self.described(method.direct_result().unwrap_or(&Type::Void), None, method.span);
            }
            self.made.types[at].functions.push(function);
        }
    }

    fn function(&mut self, member: &Member, params: &[Param], id: i32, slot: u16) -> Function {
        let invoke = match member.kind {
            Use::Method => flags::CALL,
            Use::Get => flags::GET,
            Use::Put => flags::PUT,
            Use::PutRef => flags::PUT_REF,
        };
        let mut params: Vec<Parameter> = params.iter().map(|param| self.parameter(param)).collect();
        // The new value of a property needs no name.
        if let (Use::Put | Use::PutRef, Some(last)) = (member.kind, params.last_mut()) {
            last.name = None;
        }
        let is_left_out = |param: &&Parameter| param.flags & flags::OPTIONAL != 0 && param.default.is_none();
        Function {
            name: member.name.clone(),
            id,
            kind: flags::VIRTUAL,
            invoke,
            convention: flags::STDCALL,
            flags: member.flags,
            slot: slot * POINTER,
            returns: TypeDesc::Simple(HRESULT),
            optional: params.iter().filter(is_left_out).count() as i16,
            params,
            help: member.help.clone(),
        }
    }

    /// Adds a dispinterface. A dispinterface with members of its own has the vtable of IDispatch.
    /// The entry in the type library does not describe this vtable.
    fn dispinterface(&mut self, at: usize) -> TypeRef {
        let found = &self.model.dispinterfaces[at];
        let (interfaces, inherited) = match &found.members {
            Some(DispMembers::Of(id)) => {
                let methods = self.model.all_methods(*id).len() as u16;
                let depth = self.model.lineage(*id).len() as u16;
                (vec![(self.declared(Declared::Interface(*id)), 0)], (UNKNOWN_METHODS + methods, depth + 1))
            }
            _ => {
                self.of_stdole(IDISPATCH);
                (Vec::new(), (0, 0))
            }
        };
        let info = TypeInfo {
            flags: found.about.flags | flags::DISPATCHABLE,
            size: POINTER.into(),
            align: POINTER as u8,
            inherited,
            interfaces,
            ..with_about(&found.about, &found.name, Kind::Dispatch)
        };
        if found.members.is_none() {
            let text = format!("interface `{}` has only a forward declaration", found.name);
            let error = Diagnostic::error("undeclared-interface", found.span, text);
            self.report(error.help("declare it, or import the file that does"));
        }
        self.reserve(Declared::Dispinterface(at), info)
    }

    fn fill_dispinterface(&mut self, at: usize, interface: usize) {
        let Some(DispMembers::Own(properties, methods)) = &self.model.dispinterfaces[interface].members else { return };
        let first = self.made.types[at].inherited.0;
        for (index, method) in methods.iter().enumerate() {
            let id = method.member.id.unwrap_or_default();
            let function = self.function(&method.member, &method.params, id, first + index as u16);
            let nothing = TypeDesc::Simple(VOID);
            let returns = method.returns.as_ref().map_or(nothing, |returns| self.parameter_type(returns));
            self.made.types[at].functions.push(Function { kind: flags::BY_NAME, returns, ..function });
        }
        for property in properties {
            let Some(value) = &property.returns else { continue };
            let member = &property.member;
            let variable = Variable {
                name: member.name.clone(),
                id: member.id.unwrap_or_default(),
                flags: member.flags,
                ty: self.parameter_type(value),
                place: Place::Property,
                help: member.help.clone(),
            };
            self.made.types[at].variables.push(variable);
        }
    }

    fn parameter(&mut self, param: &Param) -> Parameter {
        let ty = self.parameter_type(param);
        let by_name = param.variant.as_ref();
        let default = by_name.and_then(|by_name| Some((by_name.vt, by_name.default.as_ref()?)));
        let default = default.and_then(|(kind, value)| self.default(kind, value, param.span));
        let words = [
            (param.direction.is_in(), flags::IN),
            (param.direction.is_out(), flags::OUT),
            (param.retval, flags::RETVAL),
            (by_name.is_some_and(|by_name| by_name.optional), flags::OPTIONAL),
            (default.is_some(), flags::HAS_DEFAULT),
        ];
        let flags = words.iter().filter(|(is_so, _)| *is_so).fold(0, |all, (_, bit)| all | bit);
        Parameter { name: Some(param.name.clone()), ty, flags, default }
    }

    /// Returns the default value of a parameter with this VARTYPE. `None`, with a warning, if a
    /// type library cannot have this value.
    fn default(&mut self, kind: u16, value: &Constant, span: Span) -> Option<Value> {
        // A VARIANT takes the type of its value.
        let kind = match (kind, value) {
            (vt::VARIANT, Constant::Int(value)) if i32::try_from(*value).is_ok() => vt::I4,
            (vt::VARIANT, Constant::Int(_)) => vt::I8,
            (vt::VARIANT, Constant::Float(_)) => vt::R8,
            (kind, _) => kind,
        };
        let made = match (kind, value) {
            (vt::BSTR | vt::VARIANT, Constant::Text(text)) => Some(Value::Text(text.clone())),
            (vt::R4, Constant::Float(value)) => Value::number(kind, (*value as f32).to_bits().into()),
            (vt::R4, Constant::Int(value)) => Value::number(kind, (*value as f32).to_bits().into()),
            (vt::R8 | vt::DATE, Constant::Float(value)) => Value::number(kind, value.to_bits()),
            (vt::R8 | vt::DATE, Constant::Int(value)) => Value::number(kind, (*value as f64).to_bits()),
            // Currency counts ten-thousandths.
            (vt::CY, Constant::Int(value)) => {
                value.checked_mul(10_000).and_then(|of| Value::number(kind, of.cast_unsigned()))
            }
            (vt::BSTR | vt::VARIANT | vt::R4 | vt::R8 | vt::DATE, _) => None,
            (_, Constant::Int(value)) => Value::number(kind, value.cast_unsigned()),
            _ => None,
        };
        if made.is_none() {
            let warning =
                Diagnostic::warning("no-default", span, "a type library has no default of this kind for this type");
            self.report(warning.help("callers that use its description must pass the argument"));
        }
        made
    }

    fn coclass(&mut self, at: usize) -> TypeRef {
        let Coclass { name, about, span, .. } = &self.model.coclasses[at];
        let info = TypeInfo { size: POINTER.into(), align: POINTER as u8, ..with_about(about, name, Kind::Coclass) };
        if about.uuid.is_none() {
            let error = Diagnostic::error("no-uuid", *span, format!("class `{name}` has no uuid"));
            self.report(error.help("put [uuid(...)] before it, with a uuid of its own from `uuidgen`"));
        }
        self.reserve(Declared::Coclass(at), info)
    }

    fn fill_coclass(&mut self, at: usize, class: usize) {
        let mut has: Vec<(TypeRef, u32)> = Vec::new();
        for (interface, bits) in &self.model.coclasses[class].interfaces {
            let interface = match interface {
                Offered::Interface(id) => self.declared(Declared::Interface(*id)),
                Offered::Dispinterface(at) => self.declared(Declared::Dispinterface(*at)),
                Offered::Unknown => self.of_stdole(IUNKNOWN),
            };
            has.push((interface, *bits));
        }
        // Without a marked default, the first interface is the default one. This holds for
        // implemented interfaces and for sources.
        for source in [0, flags::SOURCE] {
            let is_one = |bits: u32| bits & flags::SOURCE == source;
            let has_default = has.iter().any(|(_, bits)| is_one(*bits) && bits & flags::DEFAULT != 0);
            let may_be = |bits: u32| is_one(bits) && bits & flags::INTERFACE_RESTRICTED == 0;
            if let (false, Some((_, first))) = (has_default, has.iter_mut().find(|(_, bits)| may_be(*bits))) {
                *first |= flags::DEFAULT;
            }
        }
        self.made.types[at].interfaces = has;
    }

    /// Returns the description of a parameter's type.
    fn parameter_type(&mut self, param: &Param) -> TypeDesc {
        if let Some(memory) = param.memory {
            let simple = match memory.vt() {
                kind if kind & vt::ARRAY != 0 => TypeDesc::SafeArray(Box::new(TypeDesc::Simple(kind & !vt::ARRAY))),
                kind => TypeDesc::Simple(kind),
            };
            return if memory.is_by_value(param) { simple } else { TypeDesc::Pointer(Box::new(simple)) };
        }
        let ty = match param.declared() {
            // A string that the method writes to the caller's array is a string.
            Type::Pointer(pointer) if param.is_filled_text() => {
                &Type::Pointer(Box::new(Pointer { extent: Extent::Text, ..(**pointer).clone() }))
            }
            ty => ty,
        };
        self.described(ty, param.named, param.span)
    }
}

/// Gives names that differ only in case the same spelling, since a type library stores them once.
/// The names get the first spelling. The library's name comes first, then the names of types,
/// methods, members and parameters.
fn share_names(library: &mut TypeLibrary) {
    let mut known: HashMap<String, String> = HashMap::new();
    let mut share = |name: &mut String| {
        let first = known.entry(name.to_ascii_lowercase()).or_insert_with(|| name.clone());
        name.clone_from(first);
    };
    share(&mut library.name);
    library.types.iter_mut().for_each(|ty| share(&mut ty.name));
    let functions = library.types.iter_mut().flat_map(|ty| &mut ty.functions);
    functions.for_each(|function| share(&mut function.name));
    let variables = library.types.iter_mut().flat_map(|ty| &mut ty.variables);
    variables.for_each(|variable| share(&mut variable.name));
    let functions = library.types.iter_mut().flat_map(|ty| &mut ty.functions);
    functions.flat_map(|function| &mut function.params).filter_map(|param| param.name.as_mut()).for_each(share);
}

/// Returns a type with the properties from its declaration's attributes, and no contents.
fn with_about(about: &About, name: &str, kind: Kind) -> TypeInfo {
    let About { uuid, version, flags, .. } = *about;
    TypeInfo { uuid, version, flags, help: about.help.clone(), ..empty(name, kind) }
}

/// Returns an empty type.
fn empty(name: &str, kind: Kind) -> TypeInfo {
    TypeInfo {
        name: name.to_owned(),
        kind,
        uuid: None,
        version: (0, 0),
        flags: 0,
        help: typelib::Help::default(),
        size: 0,
        align: 4,
        inherited: (0, 0),
        functions: Vec::new(),
        variables: Vec::new(),
        interfaces: Vec::new(),
        alias: None,
    }
}

const STDOLE: u128 = 0x0002_0430_0000_0000_c000_0000_0000_0046;
const IUNKNOWN: u128 = 0x0000_0000_0000_0000_c000_0000_0000_0046;
const IDISPATCH: u128 = 0x0002_0400_0000_0000_c000_0000_0000_0046;
