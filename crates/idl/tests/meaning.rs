//! The meaning of files: constants, layouts, opnums, fingerprints, and the canonical text on which
//! the fingerprints are based.

use obvia_idl::model::{Base, Direction, InterfaceId, Model, Returns, Type, Value};
use obvia_idl::{Compilation, Compiler, canonical, emit};
use std::path::Path;

fn check(text: &str) -> Compilation {
    match Compiler::new().check_text(Path::new("x.idl"), text) {
        Ok(compilation) => compilation,
        Err(failure) => panic!("{failure}"),
    }
}

fn constant(model: &Model, name: &str) -> Value {
    model.consts.iter().find(|one| one.name == name).map(|one| one.value.clone()).expect("declared")
}

#[test]
fn local_interface_methods_keep_their_declared_results() {
    let text = "import \"unknwn.idl\";\n\
        [object, local, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a77)] interface IHere : IUnknown {\n\
        void *Alloc([in] unsigned long size); void Free([in] byte *p); boolean Is([in] IUnknown *one); HRESULT M();\n\
        const char *Name(); wchar_t const **Names(); const long One(); const LPSTR Text(); void Move([in] const void *from, [out] void *to);\n\
        HRESULT Place([out] void **place, [in] long n, [in, size_is(n)] void *bytes); }";
    let found = Compiler::new().check_text(Path::new("x.idl"), text).unwrap_or_else(|failure| panic!("{failure}"));
    let header = obvia_idl::emit::c::emit(&found, "x").unwrap_or_else(|errors| panic!("{errors:?}")).header;
    for line in [
        "virtual void *Alloc(uint32_t size) = 0;",
        "virtual void Free(const uint8_t *p) = 0;",
        "void *(*Alloc)(IHere *self, uint32_t size);",
        "uint8_t (*Is)(IHere *self, IUnknown *one);",
        "HRESULT (*M)(IHere *self);",
        "virtual const char *Name() = 0;",
        "const obvia_wchar **(*Names)(IHere *self);",
        "virtual int32_t One() = 0;",
        "virtual char *Text() = 0;",
        "virtual void Move(const void *from, void *to) = 0;",
        "virtual HRESULT Place(void **place, int32_t n, const void *bytes) = 0;",
        "#define IHere_Alloc(self, size) ((self)->lpVtbl->Alloc)((self), (size))",
    ] {
        assert!(header.contains(line), "{line}\n{header}");
    }
    let rust = obvia_idl::emit::rust::emit(&found).unwrap_or_else(|errors| panic!("{errors:?}"));
    for line in [
        "unsafe fn Alloc(&self, size: u32) -> *mut obvia::rt::c_void;",
        "unsafe fn Free(&self, p: *const u8) -> ();",
        "unsafe fn Is(&self, one: *mut obvia::rt::c_void) -> bool;",
        "fn M(&self) -> obvia::Result<()>;",
        "unsafe fn Name(&self) -> *const u8;",
        "unsafe fn Names(&self) -> *mut *const u16;",
        "unsafe fn Move(&self, from: *const obvia::rt::c_void, to: *mut obvia::rt::c_void) -> ();",
        "place: *mut *mut obvia::rt::c_void, n: i32, bytes: *const obvia::rt::c_void) -> obvia::Result<()>;",
    ] {
        assert!(rust.contains(line), "{line}\n{rust}");
    }
    assert!(!rust.contains("returned"), "{rust}");
    let canonical = canonical::text(&found.model, InterfaceId(found.model.interfaces.len() - 1));
    assert!(canonical.contains("void* Alloc(") && canonical.contains("void Free("), "{canonical}");
}

#[test]
fn constants_are_evaluated_as_c_does() {
    let text = "
        #define FIVE 5
        const long A = 2 + 3 * 4 << 1;
        const long B = (A > 20) ? 0x1F & ~1 : 'x';
        const long C = 010 - FIVE % 3;
        const unsigned long D = 0xFFFFFFFF;
        const long E = !0 + (A == 28 && B != 3 || 0);
        const double F = 1.5 * 2;
        const wchar_t *G = L\"text \\\"quoted\\\"\";
        enum Color { RED = 3, GREEN, BLUE = RED * 4 };
        const long H = BLUE;
        #ifdef FIVE
        const long I = 1;
        #else
        const long I = 2;
        #endif
        #if defined(FIVE) && FIVE > 4
        const long J = 7;
        #endif";
    let model = check(text).model;
    let expected = [("A", 28), ("B", 30), ("C", 6), ("D", 0xffff_ffff), ("E", 2), ("H", 12), ("I", 1), ("J", 7)];
    for (name, value) in expected {
        assert_eq!(constant(&model, name), Value::Int(value), "{name}");
    }
    assert_eq!(constant(&model, "F"), Value::Float(3.0));
    assert_eq!(constant(&model, "G"), Value::Text("text \"quoted\"".to_owned()));
}

#[test]
fn anonymous_types_are_named_after_their_use() {
    let text = "
        typedef struct { long a; } *P;
        typedef union switch (enum { P_A } t) u { case P_A: long a; } Q[2];
        enum { RED, GREEN };
        [object, uuid(c0135700-0000-4000-8000-00000000a001)] interface IA : IUnknown {
            HRESULT M([in] struct { long q; } x, [in] enum { M_A } y);
            HRESULT N([in] struct { hyper q; } x, [in] P p);
        }";
    let names = |text: &str| {
        let model = check(text).model;
        let aggregates = model.structs.into_iter().map(|found| found.name);
        let aggregates = aggregates.chain(model.unions.into_iter().map(|found| found.name));
        aggregates.chain(model.enums.into_iter().map(|found| found.name)).collect::<Vec<_>>()
    };
    let all = ["P_struct", "IA_M_x", "IA_N_x", "Q_union", "Q_union_t", "RED_enum", "IA_M_y"];
    let found = names(&format!("import \"unknwn.idl\";{text}"));
    assert!(all.iter().all(|name| found.iter().any(|found| found == name)) && found.len() == all.len(), "{found:?}");
    // Earlier declarations do not change the names.
    let found = names(&format!("import \"unknwn.idl\"; typedef struct {{ long a; }} *B; enum {{ BLUE }}; {text}"));
    assert!(all.iter().all(|name| found.iter().any(|found| found == name)), "{found:?}");
}

#[test]
fn generated_method_names_do_not_collide_with_bases() {
    let interface = |at: usize, name: &str, base: &str, method: &str| {
        format!(
            "[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a1{at})] interface {name} : {base} {{ HRESULT {method}(); }}"
        )
    };
    for [(base, inherited), (name, method)] in
        [[("B", "X_method"), ("X", "X")], [("B", "B"), ("D", "B_method")], [("B", "M"), ("D", "N")]]
    {
        let text = format!(
            "import \"unknwn.idl\";\n{}\n{}",
            interface(0, base, "IUnknown", inherited),
            interface(1, name, base, method)
        );
        let model = check(&text).model;
        let id = model.interfaces.iter().position(|found| found.name == name).unwrap();
        let codes: Vec<_> = model.all_methods(InterfaceId(id)).into_iter().map(|method| &method.code).collect();
        let different: std::collections::HashSet<_> = codes.iter().collect();
        assert_eq!(different.len(), codes.len(), "{codes:?}");
        assert!(!codes.iter().any(|code| *code == name || *code == base), "{codes:?}");
    }
}

#[test]
fn structures_are_laid_out_as_c_does() {
    let text = "
        typedef struct Inner { byte a; hyper b; short c; } Inner;
        typedef struct Outer { boolean x; Inner y[2]; GUID z; wchar_t w; [unique] Inner *p; } Outer;
        typedef struct Node { long value; [unique] struct Node *next; } Node;";
    let model = check(text).model;
    let sizes: Vec<_> = model.structs.iter().map(|one| (one.name.as_str(), model.offsets(one))).collect();
    assert_eq!(sizes[0], ("Inner", (vec![0, 8, 16], 24, 8)));
    assert_eq!(sizes[1], ("Outer", (vec![0, 8, 56, 72, 80], 88, 8)));
    assert_eq!(sizes[2], ("Node", (vec![0, 8], 16, 8)));
}

#[test]
fn types_may_be_declared_where_they_are_used() {
    let text = "
        struct Outer { struct Inner { long x; } a, b[2]; };
        typedef union switch (long which) Choice { case 1: long number; default: ; } Choice;
        struct Holder { Choice choice; };";
    let model = check(text).model;
    let sizes: Vec<_> = model.structs.iter().map(|one| (one.name.as_str(), model.offsets(one))).collect();
    assert!(sizes.contains(&("Inner", (vec![0], 4, 4))), "{sizes:?}");
    assert!(sizes.contains(&("Outer", (vec![0, 4], 12, 4))), "{sizes:?}");
    assert!(sizes.contains(&("Holder", (vec![0], 8, 4))), "{sizes:?}");
}

#[test]
fn long_expressions_are_evaluated() {
    let text = format!("const long A = 1{};", " + 1".repeat(500));
    assert_eq!(constant(&check(&text).model, "A"), Value::Int(501));
}

const FAMILY: &str = "
    interface ILater;
    typedef [v1_enum] enum Kind { LOW = 1, HIGH = 2 } Kind;
    typedef struct Item { Kind kind; long count; [size_is(count)] double *values; [string] wchar_t *name; } Item;
    typedef union Choice switch (long which) u { case 1: long number; case 2: double real; default: ; } Choice;
    [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10), version(1.2)]
    interface IBase : IUnknown { HRESULT One(); HRESULT Two([in] Item *item, [in, unique] Choice *choice); }
    [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a11)]
    interface ILater : IBase {
        HRESULT Three([in] long n, [in, size_is(n * 2 + 1), length_is(n)] short *a, [out, retval] ILater **self);
        [oneway] HRESULT Four([in, range(0, 9)] long digit);
    }";

#[test]
fn opnums_continue_behind_those_of_the_base() {
    let model = check(FAMILY).model;
    let later = model.interfaces.iter().position(|one| one.name == "ILater").map(InterfaceId).expect("declared");
    let numbers: Vec<_> = model.all_methods(later).iter().map(|one| (one.name.as_str(), one.opnum)).collect();
    assert_eq!(numbers, [("One", 3), ("Two", 4), ("Three", 5), ("Four", 6)]);
    assert!(matches!(model.all_methods(later)[2].params[2].ty, Type::Pointer(_)));
}

const PLAIN: &str = "
    [uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a12), version(2.1), endpoint(\"ncacn_ip_tcp:[135]\", \"ncacn_np:[\\\\pipe\\\\x]\")]
    interface Plain {
        typedef [context_handle] void *STATE;
        typedef enum { FEW, MANY } Amount;
        error_status_t Open([in] handle_t binding, [in] long n, [in, size_is(n)] char *data, [out] STATE *state);
        void Use([in] STATE state, handle_t binding, [in] Amount returned);
        HRESULT Close([in, out] STATE *state, [in, context_handle] void *other);
        [maybe] void Hint();
        Amount How([in] long returned);
        struct Tail { long n; [size_is(n)] short all[]; };
        void Grow([in] struct Tail *kept, [in, out] struct Tail *tail, [out] struct Tail *other);
    }";

#[test]
fn functions_have_an_hresult_besides_their_result() {
    let model = check(PLAIN).model;
    let plain = &model.interfaces[0];
    assert!(plain.plain && plain.base.is_none());
    assert_eq!(plain.endpoints, ["ncacn_ip_tcp:[135]", "ncacn_np:[\\pipe\\x]"]);
    let methods = plain.methods.iter().map(|one| {
        let params: Vec<&str> = one.params.iter().map(|param| param.name.as_str()).collect();
        (one.opnum, one.returns, one.oneway, params.join(" "))
    });
    let expected = [
        (3, Returns::Value, false, "n data state returned"),
        (4, Returns::Nothing, false, "state returned"),
        (5, Returns::Hresult, false, "state other"),
        (6, Returns::Nothing, true, ""),
        (7, Returns::Value, false, "returned returned_"),
        (8, Returns::Nothing, false, "kept tail other"),
    ];
    for (found, expected) in methods.zip(expected) {
        assert_eq!(found, (expected.0, expected.1, expected.2, expected.3.to_owned()));
    }
    let returned = plain.methods[0].params.last().expect("it has four");
    assert!(returned.retval && returned.direction == Direction::Out);
    assert_eq!(plain.methods[5].params.iter().map(|param| param.boxed).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(model.layout(&plain.methods[1].params[0].ty), (20, 4), "a context handle");
}

#[test]
fn typedef_pointers_take_the_class_of_their_declaration() {
    let text = "
        typedef long *PLONG;
        typedef [ptr] long *FULL;
        typedef wchar_t *NAME;
        typedef [string] wchar_t *TEXT;
        [uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a13), pointer_default(ptr)]
        interface X {
            struct S { PLONG number; [unique] FULL other; NAME name; [string, unique] NAME text; };
            void M([in] PLONG one, [in, unique] PLONG maybe, [in] FULL shared, [in, size_is(*one)] PLONG many,
                   [in, string, unique] NAME name, [in] TEXT text, [out] PLONG *made, [in] struct S *s);
        }";
    let spelled_out = "
        [uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a13), pointer_default(ptr)]
        interface X {
            struct S { long *number; [unique] long *other; wchar_t *name; [string, unique] wchar_t *text; };
            void M([in] long *one, [in, unique] long *maybe, [in, ptr] long *shared, [in, size_is(*one)] long *many,
                   [in, string, unique] wchar_t *name, [in, string] wchar_t *text, [out] long **made, [in] struct S *s);
        }";
    let text_of = |text: &str| canonical::text(&check(text).model, InterfaceId(0));
    assert_eq!(text_of(text), text_of(spelled_out));
}

#[test]
fn the_canonical_text_of_functions_has_the_same_meaning() {
    let first = check(PLAIN);
    let text = canonical::text(&first.model, InterfaceId(0));
    let again = check(&text);
    assert_eq!(canonical::text(&again.model, InterfaceId(0)), text);
    assert_eq!(again.model.interfaces[0].methods.len(), 6);
    let before = fingerprints(&first);
    for (from, to) in
        [("typedef enum", "typedef [v1_enum] enum"), ("error_status_t", "void"), ("HRESULT", "long"), ("2.1", "2.2")]
    {
        assert_ne!(fingerprints(&check(&PLAIN.replacen(from, to, 1))), before, "{from} -> {to}");
    }
    for (from, to) in [("[in] handle_t binding, ", ""), ("ncacn_ip_tcp:[135]", "ncacn_ip_tcp:[136]")] {
        assert_eq!(fingerprints(&check(&PLAIN.replacen(from, to, 1))), before, "{from} -> {to}");
    }
}

fn fingerprints(compilation: &Compilation) -> Vec<(String, u128)> {
    let model = &compilation.model;
    let ids = (0..model.interfaces.len()).map(InterfaceId);
    let mut all: Vec<_> =
        ids.map(|id| (model.interfaces[id.0].name.clone(), canonical::fingerprint(model, id))).collect();
    all.sort();
    all
}

#[test]
fn the_canonical_text_has_the_same_meaning() {
    let first = check(FAMILY);
    let model = &first.model;
    for id in (0..model.interfaces.len()).map(InterfaceId) {
        let text = canonical::text(model, id);
        let again = check(&text);
        let name = &model.interfaces[id.0].name;
        let same = again.model.interfaces.iter().position(|one| one.name == *name).map(InterfaceId).expect("declared");
        assert_eq!(canonical::text(&again.model, same), text);
    }
}

#[test]
fn fingerprints_depend_only_on_meaning() {
    let first = fingerprints(&check(FAMILY));
    let spaced = FAMILY.replace("long", "  long ").replace("HRESULT One();", "/* a comment */ HRESULT One( void );");
    assert_eq!(fingerprints(&check(&spaced)), first);
    for (from, to) in [
        ("LOW = 1", "LOW = 0"),
        ("long count", "hyper count"),
        ("n * 2 + 1", "n * 2"),
        ("[oneway] ", ""),
        ("range(0, 9)", "range(0, 8)"),
        ("[in, unique] Choice", "[in, ref] Choice"),
        ("One()", "Uno()"),
    ] {
        let changed = fingerprints(&check(&FAMILY.replacen(from, to, 1)));
        assert_ne!(changed, first, "{from} -> {to}");
    }
}

#[test]
fn bit_fields_are_part_of_fingerprints() {
    let text = |members: &str| {
        format!(
            "import \"unknwn.idl\"; typedef enum K {{ A, B }} K; struct S {{ {members} }};\n\
             [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a77)]\n\
             interface I : IUnknown {{ HRESULT M([in] const struct S *s); }}"
        )
    };
    let rows = [
        "unsigned long bits;",
        "unsigned long a : 3; unsigned long b : 5;",
        "unsigned long a : 4; unsigned long b : 4;",
        "unsigned long b : 5; unsigned long a : 3;",
        "long a : 3; unsigned long b : 5;",
        "unsigned long a : 3; unsigned long : 0; unsigned long b : 5;",
        "unsigned long a : 3; unsigned long : 2; unsigned long b : 5;",
        "K a : 3; short : 0; short c : 2; K b : 5;",
    ];
    let mut known = Vec::new();
    for members in rows {
        let found = check(&text(members));
        let of = |model: &Model| canonical::text(model, InterfaceId(model.interfaces.len() - 1));
        let canonical = of(&found.model);
        assert_eq!(of(&check(&canonical).model), canonical);
        assert!(!known.contains(&canonical), "{canonical}");
        known.push(canonical);
    }
}

/// The canonical text of every interface of the project is IDL with the same meaning, so that
/// `describe` shows the true interface.
#[test]
fn the_canonical_text_of_every_project_interface_has_its_meaning() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = [
        "testing/matrix/idl/shapes.idl",
        "testing/matrix/idl/values.idl",
        "testing/interop/idl/rpcecho.idl",
        "examples/calc/calc.idl",
        "examples/pfs/pfs.idl",
    ];
    for file in files {
        let model = Compiler::new().check(&root.join(file)).unwrap_or_else(|failure| panic!("{failure}")).model;
        for id in (0..model.interfaces.len()).map(InterfaceId) {
            let name = &model.interfaces[id.0].name;
            let text = canonical::text(&model, id);
            let uuid = |name: &str| model.interfaces.iter().find(|one| one.name == name).map(|one| one.uuid);
            let described = obvia_idl::description::interface(name, &text, uuid);
            let (again, found) = described.unwrap_or_else(|failure| panic!("{failure}")).expect("it is canonical");
            assert_eq!(canonical::text(&again, found), text, "{file}: {name}");
            let kinds = |model: &Model, id| {
                let kinds = obvia_idl::plan::kinds(model, &model.all_methods(id));
                obvia_idl::shapes::Shapes { model, kinds: &kinds }.element_types()
            };
            assert_eq!(kinds(&again, found), kinds(&model, id), "{file}: {name}: other frames");
        }
    }
}

#[test]
fn libraries_declare_their_contents() {
    let text = "import \"oaidl.idl\";
        [uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a12), version(1.0)]
        library Calc {
            importlib(\"stdole2.tlb\");
            [object, dual, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)]
            interface ICalc : IDispatch {
                [id(7), propget] HRESULT Sum([out, retval] long *sum);
                [propput] HRESULT Sum([in] long sum);
                HRESULT Add([in] VARIANT_BOOL twice, [in, defaultvalue(5)] long by);
            }
            [uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a13)]
            coclass Calculator { [default] interface ICalc; };
        };";
    let made = Compiler::new().check_text(Path::new("calc.idl"), text).unwrap();
    assert!(made.warnings.is_empty());
    let calc = made.model.interfaces.iter().find(|found| found.name == "ICalc").unwrap();
    assert!(calc.dual && made.model.is_built_in(calc.base.unwrap()));
    let members: Vec<_> =
        calc.methods.iter().map(|method| (method.name.as_str(), method.opnum, method.member.id)).collect();
    // The methods of a property share a DISPID. A method without a DISPID gets a DISPID from its
    // index.
    assert_eq!(members, [("get_Sum", 7, Some(7)), ("put_Sum", 8, Some(7)), ("Add", 9, Some(0x6002_0002))]);
    let params: Vec<_> = calc.methods[2].params.iter().map(|param| param.variant.clone().unwrap()).collect();
    assert_eq!((params[0].vt, params[0].optional), (11, false));
    assert_eq!((params[1].vt, params[1].default.clone()), (3, Some(obvia_idl::model::Value::Int(5))));
    // A description is IDL with the same meaning.
    let id = obvia_idl::model::InterfaceId(made.model.interfaces.len() - 1);
    let described = canonical::text(&made.model, id);
    let again = Compiler::new().check_text(Path::new("again.idl"), &described).unwrap();
    let id = obvia_idl::model::InterfaceId(again.model.interfaces.len() - 1);
    assert_eq!(canonical::text(&again.model, id), described);
    assert!(described.contains("[id(1610743810)] HRESULT Add([in] VARIANT_BOOL twice, "), "{described}");
}

#[test]
fn imported_connection_points_are_those_of_the_runtime() {
    let text = "import \"ocidl.idl\";
        [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a14)]
        interface ISource : IUnknown { HRESULT Point([out] IConnectionPoint **point, [out] CONNECTDATA *one); };";
    let made = Compiler::new().check_text(Path::new("source.idl"), text).unwrap();
    let iids: Vec<_> = made.model.interfaces.iter().map(|found| (found.name.as_str(), found.uuid >> 96)).collect();
    let wanted = [
        ("IDispatch", 0x0002_0400),
        ("IConnectionPointContainer", 0xb196_b284),
        ("IConnectionPoint", 0xb196_b286),
        ("IEnumConnections", 0xb196_b287),
        ("IEnumConnectionPoints", 0xb196_b285),
        ("ISource", 0x0d4f_4c52),
    ];
    assert_eq!(iids, wanted);
    // The file's interfaces do not extend IDispatch, although IDispatch is declared.
    assert!(made.model.interfaces[1..].iter().all(|found| !found.dual));
    let rust = obvia_idl::emit::rust::emit(&made).unwrap();
    assert!(rust.contains("pub use obvia::events::idl::*;"), "{rust}");
    assert!(rust.contains("pub struct ISource(") && !rust.contains("struct IConnectionPoint"), "{rust}");
    let c = obvia_idl::emit::c::emit(&made, "source").unwrap();
    assert!(c.header.contains("#include \"ocidl.h\"") && !c.header.contains("struct CONNECTDATA {"), "{}", c.header);
    assert!(c.projection.contains("#include \"ocidl_values.hpp\""), "{}", c.projection);
}

/// A proxy takes the number of received elements from the results, even if the number is also an
/// argument, because a server may lower the number.
#[test]
fn result_arrays_are_counted_by_the_received_count() {
    let compilation = check(
        "import \"unknwn.idl\";
        [object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a10)]
        interface IPart : IUnknown {
            HRESULT Part([in] long room, [in, out] long *used, [out, size_is(room), length_is(*used)] long *values);
            HRESULT Made([in, out] long *count, [out, size_is(, *count)] long **values);
        }",
    );
    let code = emit::rust::emit(&compilation).expect("it is all done");
    assert!(code.contains("at_most(obvia::rt::elements(used_value), values_count)?"), "{code}");
    assert!(code.contains("take_array::<i32>(&mut arrays, 8, 16, obvia::rt::elements(count_value))?"), "{code}");
    // The caller's argument determines the room.
    assert!(code.contains("let values_count = obvia::rt::elements(room)"), "{code}");
}

#[test]
fn anonymous_member_types_are_named_after_their_owner() {
    let text = "typedef struct { long t; [switch_is(t)] union { [case(1)] struct { long x; } s; } u; } A;
        typedef struct B { long t; [switch_is(t)] union { [case(1)] short x; } u; struct C { long y; } c; } D;";
    let model = check(text).model;
    assert_eq!(model.unions.iter().map(|found| found.name.as_str()).collect::<Vec<_>>(), ["A_u", "D_u"]);
    assert_eq!(model.structs.iter().map(|found| found.name.as_str()).collect::<Vec<_>>(), ["A", "A_u_s", "D", "C"]);
}

#[test]
fn guid_can_be_redeclared() {
    let text = "typedef struct _GUID { unsigned long a; unsigned short b; unsigned short c; byte d[8]; } GUID;
        typedef GUID UUID, *PGUID;
        struct S { GUID a; PGUID b; struct _GUID c; };";
    let model = check(text).model;
    let types: Vec<&Type> = model.structs[0].fields.iter().map(|field| &field.ty).collect();
    assert_eq!(model.structs.len(), 1);
    assert!(matches!(types[..], [Type::Base(Base::Guid), Type::Pointer(_), Type::Base(Base::Guid)]), "{types:?}");
}

#[test]
fn rust_omits_unsupported_imported_interfaces() {
    let folder = ground::Folder::new("idl-left-out");
    let head =
        |name: &str, last: u8| format!("[object, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a{last:02x})] interface {name}");
    let other = format!(
        "import \"unknwn.idl\"; {} : IUnknown {{ HRESULT M([in, out, string] wchar_t **a); }}\n\
         {} : IUnknown {{ [local] HRESULT Next([in] unsigned long n, [out] IA **a, [out] unsigned long *got); }}\n\
         {} : IUnknown {{ [local] void F(); }}
         struct Holder {{ long n; IA *a; }};
         union Either switch (long tag) at {{ case 0: struct Holder *held; case 1: long n; }};
         struct Plain {{ long n; }};
         {} : IUnknown {{ HRESULT Put([in] const struct Holder *held); }}",
        head("IA", 1),
        head("IUser", 3),
        head("ILocal", 4),
        head("IFar", 5)
    );
    std::fs::write(folder.join("other.idl"), other).expect("the folder can be written to");
    let rust = |text: String| {
        let file = folder.join("x.idl");
        std::fs::write(&file, format!("import \"other.idl\"; {text}")).expect("the folder can be written to");
        let compilation = Compiler::new().check(&file).unwrap_or_else(|failure| panic!("{failure}"));
        emit::rust::emit(&compilation)
    };
    let text = rust(format!("{} : IUnknown {{ HRESULT N(); }}", head("IB", 2))).expect("IB can be done");
    assert!(text.contains("// `IA` is left out: parameter `a` is passed as"), "{text}");
    for (user, used) in [("IUser", "IA"), ("Holder", "IA"), ("Either", "Holder"), ("IFar", "Holder")] {
        assert!(text.contains(&format!("// `{user}` is left out: it uses `{used}`, which is left out.")), "{text}");
        assert!(!text.contains(&format!("pub struct {user}")), "{text}");
    }
    assert!(!text.contains("IA_INFO") && text.contains("&IB_INFO") && text.contains("pub struct Plain"), "{text}");
    let unused = |name: &str| format!("this uses `{name}`, which is left out: ");
    for (uses, error) in [
        (format!("{} : IUnknown {{ HRESULT N([in] IA *a); }}", head("IB", 2)), unused("IA")),
        (format!("struct S {{ IA *a; }}; {} : IUnknown {{ HRESULT N(); }}", head("IB", 2)), unused("IA")),
        (
            format!("{} : IA {{ HRESULT N(); }}", head("IB", 2)),
            "parameter `a` is passed as an [in, out] string".to_owned(),
        ),
        (
            format!("{} : ILocal {{ HRESULT N(); }}", head("IB", 2).replace("[object,", "[object, local,")),
            unused("ILocal"),
        ),
        (format!("{} : IUser {{ HRESULT N(); }}", head("IB", 2)), unused("IUser")),
        (format!("{} : IUnknown {{ [local] HRESULT N([in] struct Holder *a); }}", head("IB", 2)), unused("Holder")),
        (
            format!(
                "union U switch (long n) u {{ case 0: struct Holder *h; }}; {} : IUnknown {{ HRESULT N(); }}",
                head("IB", 2)
            ),
            unused("Holder"),
        ),
    ] {
        let refused = rust(uses.clone()).expect_err(&uses);
        let [only] = refused.as_slice() else { panic!("{uses}: {refused:?}") };
        assert!(only.code == "not-yet" && only.message.starts_with(&error) && only.span.is_some(), "{uses}: {only:?}");
    }
}

#[test]
fn guid_redeclarations_do_not_change_other_types() {
    let text = "typedef struct _GUID *PGUID;
        typedef struct _GUID { unsigned long a; unsigned short b, c; unsigned char d[8]; } GUID;
        typedef struct First { long x; PGUID a; } First;
        typedef struct { unsigned long a; unsigned short b; unsigned short c; byte d, e; byte f[6]; } UUID;
        typedef struct Second { UUID a; First b; } Second;";
    let model = check(text).model;
    let sizes: Vec<_> = model.structs.iter().map(|one| (one.name.as_str(), model.offsets(one))).collect();
    assert_eq!(sizes, [("First", (vec![0, 8], 16, 8)), ("Second", (vec![0, 16], 32, 8))]);
    let Type::Pointer(pointer) = &model.structs[0].fields[1].ty else { panic!("PGUID is a pointer") };
    assert_eq!(pointer.to, Type::Base(Base::Guid));
}

#[test]
fn local_interfaces_can_have_any_pointer() {
    let text = "import \"unknwn.idl\"; struct X; struct POINT { long x, y; }; typedef struct POINT POINT;
        typedef struct POINTS { POINT at; struct X *more; } POINTS;
        [object, local, uuid(0d4f4c52-0a34-4ac4-8d6c-2c9f3a1f7a12)] interface IE : IUnknown {
        HRESULT Next([in] unsigned long n, [out] long *items);
        HRESULT Hidden([in] struct X *x);
        HRESULT Behind([in] POINTS *x);
        HRESULT Made([out, retval] struct X *x);
        HRESULT Listed([in] struct X **x);
        HRESULT Many([in] short n, [in] POINT *items);
        HRESULT Ids([in] hyper n, [in] GUID *items);
        HRESULT Objects([in, out] short *n, [out] IE **items);
        HRESULT At([in] POINT *at, [in] boolean deep);
        HRESULT Object([out] IE **item);
        HRESULT Other([in] long n, [in] REFIID iid, [out, iid_is(iid)] void **item);
        HRESULT Sized([in] unsigned long n, [out, size_is(n)] long *items);
        HRESULT One([out, retval] long *item); }";
    let compilation =
        Compiler::new().check_text(Path::new("x.idl"), text).unwrap_or_else(|failure| panic!("{failure}"));
    let rust = emit::rust::emit(&compilation).expect("it can be done");
    for line in [
        "pub unsafe fn Next(&self, n: u32, items: *mut i32) -> obvia::Result<()> {",
        "unsafe fn Next(&self, n: u32, items: *mut i32) -> obvia::Result<()>;",
        "pub unsafe fn Hidden(&self, x: *const obvia::rt::c_void) -> obvia::Result<()> {",
        "unsafe fn Hidden(&self, x: *const obvia::rt::c_void) -> obvia::Result<()>;",
        "pub unsafe fn Behind(&self, x: *const obvia::rt::c_void) -> obvia::Result<()> {",
        "pub unsafe fn Made(&self, x: *mut obvia::rt::c_void) -> obvia::Result<()> {",
        "pub unsafe fn Listed(&self, x: *const *mut obvia::rt::c_void) -> obvia::Result<()> {",
        "pub unsafe fn Many(&self, n: i16, items: *const POINT) -> obvia::Result<()> {",
        "pub unsafe fn Ids(&self, n: i64, items: *const obvia::GUID) -> obvia::Result<()> {",
        "pub unsafe fn Objects(&self, n: *mut i16, items: *mut *mut obvia::rt::c_void) -> obvia::Result<()> {",
        "pub fn At(&self, at: &POINT, deep: bool) -> obvia::Result<()> {",
        "pub fn Object(&self) -> obvia::Result<IE> {",
        "pub fn Other(&self, n: i32, iid: &obvia::GUID) -> obvia::Result<obvia::IUnknown> {",
        "pub fn Sized(&self, items: &mut [i32]) -> obvia::Result<()> {",
        "pub fn One(&self) -> obvia::Result<i32> {",
    ] {
        assert!(rust.contains(line), "{line}:\n{rust}");
    }
    assert!(!rust.contains("struct X"), "nobody knows its size:\n{rust}");
}
