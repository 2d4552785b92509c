//! Names of projects and classes: checks and proposals.

use super::Language;
use obvia_idl::emit;
use obvia_idl::model::{InterfaceId, Model};

/// Names that a project cannot have: names of crates of Rust and of obvia, and words with a meaning
/// for cargo or CMake.
const TAKEN: [&str; 11] =
    ["alloc", "build", "client", "core", "obvia", "obvia_idl", "proc_macro", "server", "std", "test", "tests"];
/// Headers of C, POSIX and Linux that programs and other headers include by these names. A
/// generated header of the same name would hide them.
const SYSTEM_HEADERS: &str = "\
    aio aliases alloca ar argp argz assert byteswap complex cpio crypt ctype dirent dlfcn elf endian envz err errno \
    error execinfo fcntl features fenv float fmtmsg fnmatch fstab fts ftw gconv getopt glob gnu-versions grp gshadow \
    iconv ifaddrs inttypes iso646 langinfo lastlog libgen libintl limits link locale malloc math mcheck memory mntent \
    monetary mqueue netdb nl_types nss obstack paths poll printf proc_service pthread pty pwd re_comp regex regexp \
    resolv sched search semaphore setjmp sgtty shadow signal spawn stab stdalign stdarg stdatomic stdbit stdbool \
    stdc-predef stdckdint stddef stdint stdio stdio_ext stdlib stdnoreturn string strings stropts syscall sysexits \
    syslog tar termio termios tgmath thread_db threads time ttyent uchar ucontext ulimit unistd utime utmp utmpx \
    wait wchar wctype wordexp";
/// Headers of obvia whose names do not begin with `obvia`, and headers of Windows that programs
/// expect.
const OWN_HEADERS: &str =
    "guiddef oaidl objbase objidl ocidl ole2 oleauto rpc rpcndr unknwn windows winerror wtypes wtypesbase";

/// Names of Rust's prelude, which generated declarations use.
const PRELUDE: [&str; 12] =
    ["Box", "Clone", "Default", "Err", "None", "Ok", "Option", "Result", "Some", "String", "Vec", "ToString"];

/// Checks a project's name, with which the names of its programs begin.
pub(super) fn check_project(name: &str) -> Result<(), String> {
    let as_crate = name.replace('-', "_");
    if !name.starts_with(|letter: char| letter.is_ascii_lowercase())
        || !name.chars().all(|letter| matches!(letter, 'a'..='z' | '0'..='9' | '-' | '_'))
    {
        Err(format!(
            "`{name}` is not a valid name of a project: use lower-case letters, digits, - and _, with a letter \
            first"
        ))
    } else if TAKEN.contains(&as_crate.as_str()) || !emit::rust::is_name(&as_crate) || !emit::c::is_name(&as_crate) {
        Err(format!("a project cannot be called `{name}`, because the name is reserved"))
    } else {
        Ok(())
    }
}

/// Checks the name of an IDL file for C and C++. The generated header has the same name.
pub(super) fn check_header(stem: &str) -> Result<(), String> {
    let is_in = |list: &str| list.split_whitespace().any(|name| name == stem);
    let owner = if is_in(SYSTEM_HEADERS) {
        "the system"
    } else if is_in(OWN_HEADERS) || stem.starts_with("obvia") {
        "obvia"
    } else {
        return Ok(());
    };
    Err(format!("`{stem}` cannot be the name of an IDL file for C and C++: its header would hide {stem}.h of {owner}"))
}

/// Proposes a project's name from an IDL file's name.
pub(super) fn project(stem: &str) -> String {
    let letters =
        stem.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' });
    let name: String = letters.collect();
    let name = name.trim_matches('-');
    let name = if name.starts_with(|first: char| first.is_ascii_lowercase()) {
        name.to_owned()
    } else {
        format!("idl-{name}")
    };
    if check_project(&name).is_ok() { name } else { format!("my-{}", name.trim_end_matches('-')) }
}

/// Checks the name of a class that implements an interface.
pub(super) fn check_class(name: &str, language: Language, model: &Model, id: InterfaceId) -> Result<(), String> {
    let is_name = match language {
        Language::Rust => emit::rust::is_name(name) && !PRELUDE.contains(&name),
        Language::Cpp => emit::c::is_name(name) && !name.starts_with('_') && !name.contains("__") && name != "obvia",
    };
    if !is_name {
        return Err(format!("`{name}` is not a valid name of a class in this language, or is reserved"));
    }
    let made = format!("{name}_Impl");
    if declared(model).any(|other| other == name || other == made) {
        return Err(format!("`{name}` is declared in the IDL: the class needs another name"));
    }
    if language == Language::Cpp && model.all_methods(id).iter().any(|method| method.name == name) {
        return Err(format!("`{name}` is a method of the interface: in C++ the class needs another name"));
    }
    Ok(())
}

/// Returns the names of all declarations.
fn declared(model: &Model) -> impl Iterator<Item = &str> {
    let enums = model
        .enums
        .iter()
        .flat_map(|found| std::iter::once(&found.name).chain(found.values.iter().map(|(name, _)| name)));
    let structs = model.structs.iter().map(|found| &found.name);
    let unions = model.unions.iter().map(|found| &found.name);
    let interfaces = model.interfaces.iter().map(|found| &found.name);
    let consts = model.consts.iter().map(|found| &found.name);
    let typedefs = model.typedefs.iter().map(|found| &found.name);
    enums.chain(structs).chain(unions).chain(interfaces).chain(consts).chain(typedefs).map(String::as_str)
}

/// Proposes the name of a class from its interface's name.
pub(super) fn class(language: Language, model: &Model, id: InterfaceId) -> String {
    let interface = &model.interfaces[id.0].name;
    let without = interface.strip_prefix('I').filter(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()));
    let name = without.map_or_else(|| format!("{}Component", capital(interface)), str::to_owned);
    let others = ["", "Component", "Object", "Implementation"].iter().map(|ending| format!("{name}{ending}"));
    others.into_iter().find(|name| check_class(name, language, model, id).is_ok()).unwrap_or(name)
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

/// Returns the interface's name in a new file: `IFileServer` for `file-server`.
pub(super) fn interface(name: &str) -> String {
    format!("I{}", name.split(['-', '_']).map(capital).collect::<String>())
}
