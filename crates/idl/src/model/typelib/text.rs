//! Converts a type library to IDL.

use super::layout::vt;
use super::values::quoted;
use super::{
    ForeignId, Function, Help, Kind, Parameter, Place, TypeDesc, TypeInfo, TypeLibrary, TypeRef, Variable, flags,
    values,
};
use crate::model::automation::usual_id;
use crate::text::writer::Writer;
use obvia_ndr::vartype;

/// Returns a library as IDL source. A library does not record the sizes of arrays and the
/// discriminants of unions.
pub fn idl(library: &TypeLibrary) -> String {
    let mut text = Text { library, out: Writer::default() };
    text.library();
    text.out.finish()
}

struct Text<'a> {
    library: &'a TypeLibrary,
    out: Writer,
}

/// Returns a UUID in the notation of IDL.
fn uuid(value: u128) -> String {
    let digits = format!("{value:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// Returns attributes in brackets. Empty if there are none.
fn brackets(attributes: &[String]) -> String {
    if attributes.is_empty() { String::new() } else { format!("[{}] ", attributes.join(", ")) }
}

fn add_flags(to: &mut Vec<String>, bits: u32, names: &[(&str, u32)]) {
    to.extend(names.iter().filter(|(_, bit)| bits & bit != 0).map(|(name, _)| (*name).to_owned()));
}

fn add_help(to: &mut Vec<String>, help: &Help) {
    if let Some(text) = &help.text {
        to.push(format!("helpstring({})", quoted(text)));
    }
    if help.context != 0 {
        to.push(format!("helpcontext({})", help.context));
    }
}

fn add_version(to: &mut Vec<String>, (major, minor): (u16, u16)) {
    if (major, minor) != (0, 0) {
        to.push(format!("version({major}.{minor})"));
    }
}

fn id(number: i32) -> String {
    if number < 0x10000 { format!("id({number})") } else { format!("id({number:#x})") }
}

impl Text<'_> {
    fn library(&mut self) {
        let library = self.library;
        let mut attributes = vec![format!("uuid({})", uuid(library.uuid))];
        add_version(&mut attributes, library.version);
        if library.lcid != 0 {
            attributes.push(format!("lcid({:#x})", library.lcid));
        }
        add_help(&mut attributes, &library.help);
        attributes.extend(library.help_file.iter().map(|file| format!("helpfile({})", quoted(file))));
        add_flags(&mut attributes, library.flags, &flags::ON_LIBRARIES);
        self.out.line(brackets(&attributes).trim_end());
        self.out.line(format!("library {} {{", library.name));
        for import in &library.imports {
            self.out.line(format!("importlib({});", quoted(&import.file)));
        }
        for ty in &library.types {
            let keyword = keyword(ty);
            if matches!(keyword, "interface" | "dispinterface") {
                self.out.line(format!("{keyword} {};", ty.name));
            }
        }
        for ty in &library.types {
            self.out.line("");
            self.type_info(ty);
        }
        self.out.line("};");
    }

    fn type_info(&mut self, ty: &TypeInfo) {
        let attributes = attributes(ty);
        match ty.kind {
            Kind::Enum | Kind::Record | Kind::Union => {
                self.out.line(format!("typedef {}{} {} {{", brackets(&attributes), keyword(ty), ty.name));
                for variable in &ty.variables {
                    let line = match &variable.place {
                        Place::Const(value) => format!("{}{} = {value},", said_of(variable), variable.name),
                        _ => format!("{}{};", said_of(variable), self.declaration(&variable.ty, &variable.name)),
                    };
                    self.out.line(line);
                }
                self.out.line(format!("}} {};", ty.name));
            }
            Kind::Alias => {
                let target = ty.alias.as_ref().map_or_else(String::new, |alias| self.declaration(alias, &ty.name));
                self.out.line(format!("typedef {}{target};", brackets(&attributes)));
            }
            Kind::Coclass => {
                self.head(&attributes, &format!("coclass {} {{", ty.name));
                for (interface, bits) in &ty.interfaces {
                    let mut words = Vec::new();
                    add_flags(&mut words, *bits, &flags::ON_INTERFACES);
                    let (keyword, name) = self.named(*interface);
                    self.out.line(format!("{}{keyword} {name};", brackets(&words)));
                }
                self.out.line("};");
            }
            Kind::Module => self.module(ty, &attributes),
            Kind::Interface | Kind::Dispatch if keyword(ty) == "interface" => {
                let base = ty.interfaces.first().map(|(base, _)| format!(" : {}", self.named(*base).1));
                self.head(&attributes, &format!("interface {}{} {{", ty.name, base.unwrap_or_default()));
                self.functions(ty);
                self.out.line("};");
            }
            Kind::Interface | Kind::Dispatch => self.dispinterface(ty, &attributes),
        }
    }

    fn head(&mut self, attributes: &[String], line: &str) {
        if !attributes.is_empty() {
            self.out.line(brackets(attributes).trim_end());
        }
        self.out.line(line);
    }

    fn module(&mut self, ty: &TypeInfo, attributes: &[String]) {
        self.head(attributes, &format!("module {} {{", ty.name));
        for variable in &ty.variables {
            let declared = self.declaration(&variable.ty, &variable.name);
            let value = if let Place::Const(value) = &variable.place { format!(" = {value}") } else { String::new() };
            self.out.line(format!("{}const {declared}{value};", said_of(variable)));
        }
        self.functions(ty);
        self.out.line("};");
    }

    fn dispinterface(&mut self, ty: &TypeInfo, attributes: &[String]) {
        self.head(attributes, &format!("dispinterface {} {{", ty.name));
        let base = ty.interfaces.first().map(|(base, _)| self.named(*base).1).filter(|base| base != "IDispatch");
        if let (Some(base), true, true) = (base, ty.functions.is_empty(), ty.variables.is_empty()) {
            self.out.line(format!("interface {base};"));
            return self.out.line("};");
        }
        self.out.line("properties:");
        for variable in &ty.variables {
            let declared = self.declaration(&variable.ty, &variable.name);
            self.out.line(format!("{}{declared};", said_of(variable)));
        }
        self.out.line("methods:");
        self.functions(ty);
        self.out.line("};");
    }

    fn functions(&mut self, ty: &TypeInfo) {
        for (at, function) in ty.functions.iter().enumerate() {
            let is_usual = function.id == usual_id(ty.inherited.1.into(), at);
            self.function(function, is_usual);
        }
    }

    fn function(&mut self, function: &Function, is_usual: bool) {
        let mut attributes = if is_usual { Vec::new() } else { vec![id(function.id)] };
        let invoke = [("propget", flags::GET), ("propput", flags::PUT), ("propputref", flags::PUT_REF)];
        attributes.extend(invoke.iter().filter(|(_, bit)| function.invoke & bit != 0).map(|(name, _)| (*name).into()));
        add_flags(&mut attributes, function.flags, &flags::ON_FUNCTIONS);
        if function.optional < 0 {
            attributes.push("vararg".to_owned());
        }
        add_help(&mut attributes, &function.help);
        let params: Vec<String> = function.params.iter().map(|param| self.parameter(param)).collect();
        let head = self.declaration(&function.returns, &function.name);
        self.out.line(format!("{}{head}({});", brackets(&attributes), params.join(", ")));
    }

    fn parameter(&self, param: &Parameter) -> String {
        let names = [
            ("in", flags::IN),
            ("out", flags::OUT),
            ("lcid", flags::LCID),
            ("retval", flags::RETVAL),
            ("optional", flags::OPTIONAL),
        ];
        // A parameter with a default is optional even without [optional].
        let bits = if param.default.is_some() { param.flags & !flags::OPTIONAL } else { param.flags };
        let mut words: Vec<String> =
            names.iter().filter(|(_, bit)| bits & bit != 0).map(|(name, _)| (*name).to_owned()).collect();
        words.extend(param.default.as_ref().map(|value| format!("defaultvalue({value})")));
        let name = param.name.as_deref().unwrap_or("value");
        format!("{}{}", brackets(&words), self.declaration(&param.ty, name))
    }

    /// Returns a declaration of a name with its type.
    fn declaration(&self, ty: &TypeDesc, name: &str) -> String {
        match ty {
            TypeDesc::Pointer(inner) => self.declaration(inner, &format!("*{name}")),
            TypeDesc::Array(element, bounds) => {
                // A pointer to an array has its star in parentheses, as in C. Classic IDL does not
                // have this form.
                let name = if name.starts_with('*') { format!("({name})") } else { name.to_owned() };
                let sizes: String = bounds.iter().map(|(count, _)| format!("[{count}]")).collect();
                self.declaration(element, &format!("{name}{sizes}"))
            }
            TypeDesc::Simple(vartype::UNKNOWN) => format!("IUnknown *{name}"),
            TypeDesc::Simple(vartype::DISPATCH) => format!("IDispatch *{name}"),
            TypeDesc::Simple(kind) => format!("{} {name}", simple(*kind)),
            TypeDesc::SafeArray(element) => {
                format!("SAFEARRAY({}) {name}", self.declaration(element, "").trim_end())
            }
            TypeDesc::Named(to) => match self.named(*to) {
                (keyword @ ("struct" | "union" | "enum"), of) => format!("{keyword} {of} {name}"),
                (_, of) => format!("{of} {name}"),
            },
        }
    }

    /// Returns the keyword and the name of a type.
    fn named(&self, to: TypeRef) -> (&'static str, String) {
        match to {
            TypeRef::Own(at) => (keyword(&self.library.types[at]), self.library.types[at].name.clone()),
            TypeRef::Foreign(at) => {
                let foreign = &self.library.foreign[at];
                let file = &self.library.imports[foreign.library].file;
                let name = match foreign.what {
                    ForeignId::Uuid(0x0000_0000_0000_0000_c000_0000_0000_0046) => "IUnknown".to_owned(),
                    ForeignId::Uuid(0x0002_0400_0000_0000_c000_0000_0000_0046) => "IDispatch".to_owned(),
                    // The type's name is recorded only in the other library.
                    ForeignId::Uuid(value) => format!("/* {} of {} */", uuid(value), quoted(file).replace("*/", "* /")),
                    ForeignId::At(at) => format!("/* type {at} of {} */", quoted(file).replace("*/", "* /")),
                };
                ("interface", name)
            }
        }
    }
}

/// Returns the keyword of a type's declaration.
fn keyword(ty: &TypeInfo) -> &'static str {
    match ty.kind {
        Kind::Enum => "enum",
        Kind::Record => "struct",
        Kind::Union => "union",
        Kind::Module => "module",
        Kind::Coclass => "coclass",
        Kind::Alias => "typedef",
        Kind::Interface => "interface",
        Kind::Dispatch if ty.flags & flags::DUAL != 0 => "interface",
        Kind::Dispatch => "dispinterface",
    }
}

fn attributes(ty: &TypeInfo) -> Vec<String> {
    let mut words = Vec::new();
    if keyword(ty) == "interface" {
        words.push("object".to_owned());
    }
    words.extend(ty.uuid.map(|value| format!("uuid({})", uuid(value))));
    add_version(&mut words, ty.version);
    add_help(&mut words, &ty.help);
    let bits = if ty.flags & flags::DUAL != 0 { ty.flags & !flags::OLEAUTOMATION } else { ty.flags };
    add_flags(&mut words, bits, &flags::ON_TYPES);
    match ty.kind {
        Kind::Coclass if ty.flags & flags::CAN_CREATE == 0 => words.push("noncreatable".to_owned()),
        Kind::Alias => words.push("public".to_owned()),
        _ => {}
    }
    words
}

/// Returns the attributes of a member, a value or a property.
fn said_of(variable: &Variable) -> String {
    let mut words = Vec::new();
    if variable.place == Place::Property {
        words.push(id(variable.id));
    }
    add_flags(&mut words, variable.flags, &flags::ON_VARIABLES);
    add_help(&mut words, &variable.help);
    brackets(&words)
}

/// Returns the IDL name of a type without parts.
fn simple(kind: u16) -> String {
    let name = match kind {
        vartype::I1 => "small",
        vartype::UI1 => "unsigned char",
        vartype::I2 => "short",
        vartype::UI2 => "unsigned short",
        vartype::I4 => "long",
        vartype::UI4 => "unsigned long",
        vartype::I8 => "hyper",
        vartype::UI8 => "unsigned hyper",
        vartype::INT => "int",
        vartype::UINT => "unsigned int",
        vartype::R4 => "float",
        vartype::R8 => "double",
        vartype::CY => "CURRENCY",
        vartype::DATE => "DATE",
        vartype::BSTR => "BSTR",
        vartype::ERROR => "SCODE",
        vartype::BOOL => "VARIANT_BOOL",
        vartype::VARIANT => "VARIANT",
        vartype::DECIMAL => "DECIMAL",
        values::HRESULT => "HRESULT",
        vt::VOID => "void",
        vt::LPSTR => "LPSTR",
        vt::LPWSTR => "LPWSTR",
        kind => return format!("/* VARTYPE {kind} */"),
    };
    name.to_owned()
}
