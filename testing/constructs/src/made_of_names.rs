//! Declarations whose names generated code for C may declare, too.

use crate::names::{KINDS, declaration};
use std::fmt::Write;

/// The suffixes that generated C code may append to the name of an interface, of a method and of a
/// type.
const OF_INTERFACES: &str = "Vtbl _INFO _proxies _stubs _ndr _endpoints _types _types_words _calls _methods _adapter";
const OF_METHODS: &str = "\
    _proxy _prepare _other_regions _stub _select_regions _refill _invoke _request _reply _table _table_words _results _by_reference \
    _by_reference_proxy _by_reference_prepare _by_reference_other_regions _by_reference_stub \
    _by_reference_select_regions _by_reference_request";
const OF_TYPES: &str = "_is_valid _store _free _clear _copy";

/// A kind of method. `$` is the number of the case.
struct KindOfMethod {
    name: &'static str,
    params: &'static str,
    /// The suffixes of the functions that C code has for the method.
    functions: &'static str,
    /// The suffixes of the types and objects that C or C++ code has for the method.
    objects: &'static str,
}

static KINDS_OF_METHODS: [KindOfMethod; 4] = [
    KindOfMethod {
        name: "Own",
        params: "[in] long a, [in] enum Kind$ k, [in] struct Gap$ *g, [out] long *b, [out] long *c",
        functions: "_proxy _prepare _stub",
        objects: "_request _reply _results",
    },
    KindOfMethod {
        name: "Tabled",
        params: "[in] struct Chain$ *a, [in, string] char *t",
        functions: "_proxy _stub _invoke",
        objects: "_table _table_words",
    },
    KindOfMethod {
        name: "Shared",
        params: "[in] long n, [in, size_is(n), zero_copy] hyper *a",
        functions: "_proxy _prepare _stub _by_reference_proxy _by_reference_prepare _by_reference_other_regions \
            _by_reference_stub _by_reference_select_regions",
        objects: "_request _by_reference_request",
    },
    KindOfMethod {
        name: "Lent",
        params: "[out] long *n, [out, lend, size_is(, *n)] long **p",
        functions: "_proxy _prepare _stub _refill",
        objects: "_reply",
    },
];

/// The index in [`KINDS_OF_METHODS`] of the kind that the tests of the suffixes [`OF_INTERFACES`]
/// use. In such a test, an interface has a single method of this kind, and another declaration has
/// the interface's name with a suffix.
const TABLED: usize = 1;
/// The suffixes that C code appends to the name of an interface with this kind of method.
const OBJECTS_OF_INTERFACES: &str = "Vtbl _INFO _proxies _stubs _ndr _types _types_words _calls _methods _adapter";

/// The types that the [`KINDS_OF_METHODS`] pass. Beside each type stand the suffixes of the
/// functions that C code has for the type. In the tests of these suffixes, the interface has a
/// method of the first kind.
const TYPES: [(&str, &str); 3] = [("Kind$", "_is_valid"), ("Gap$", "_store"), ("Chain$", "_free _clear _copy")];

/// Declarations, one of which has a name that generated code may also declare.
pub struct MadeOfNames {
    pub text: String,
    /// Whether generated code for C has the name, so that the back end must refuse the
    /// declarations.
    pub is_refused: bool,
}

/// Returns all declarations to test.
pub fn made_of_names() -> Vec<MadeOfNames> {
    let mut combined = Vec::new();
    let mut add = |base: String, endings: &'static str, kind: &'static KindOfMethod, functions, objects| {
        let is_in = |list: &str, ending| list.split(' ').any(|one| one == ending);
        let named = |ending| (format!("{base}{ending}"), kind, is_in(functions, ending), is_in(objects, ending));
        combined.extend(endings.split(' ').map(named));
    };
    add("Is$".to_owned(), OF_INTERFACES, &KINDS_OF_METHODS[TABLED], "", OBJECTS_OF_INTERFACES);
    for kind in &KINDS_OF_METHODS {
        add(format!("Is$_{}", kind.name), OF_METHODS, kind, kind.functions, kind.objects);
    }
    for (ty, functions) in TYPES {
        add(ty.to_owned(), OF_TYPES, &KINDS_OF_METHODS[0], functions, "");
    }
    let mut parts = Vec::new();
    for (name, passing, is_function, is_object) in combined {
        for kind in 0..KINDS {
            let at = 3000 + parts.len();
            let (mut text, name) = (String::new(), name.replace('$', &at.to_string()));
            let method = name.strip_prefix(&format!("Is{at}_")).filter(|_| kind % 4 == 0);
            if method.is_none() {
                declaration(&mut text, at, kind, &name);
            }
            let _ = writeln!(
                text,
                "enum Kind$ {{ First$, Second$ }}; struct Gap$ {{ char a; hyper b; }};\n\
                 struct Chain$ {{ long a; [unique] struct Chain$ *next; }};\n\
                 [object, uuid(c0135700-0000-4000-8005-{at:012x})] interface Is$ : IUnknown {{ HRESULT {}({}); {} }}",
                passing.name,
                passing.params,
                method.map_or_else(String::new, |method| format!("HRESULT {method}([in] long a);"))
            );
            // Macros of methods do not clash with objects of the same name. A method that is called
            // `Shared_by_reference` clashes with the method `Shared`, because the functions for the
            // arrays by reference of `Shared` have this name.
            let is_refused = match method {
                Some(method) => is_function || method == "Shared_by_reference",
                None => is_function || is_object,
            };
            parts.push(MadeOfNames { text: text.replace('$', &at.to_string()), is_refused });
        }
    }
    parts
}
