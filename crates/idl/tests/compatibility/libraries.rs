//! Breaking changes of libraries, classes and dispinterfaces.

use super::Rows;

/// Members of a library: `[@1#, version(1.1)] library L { ... };`.
pub(super) const LIBRARY: Rows = &[
    (&["coclass-removed"], "[@2#] coclass C { interface IUnknown; };", "[@2#] coclass D { interface IUnknown; };"),
    (&["coclass-uuid"], "[@2#] coclass C { interface IUnknown; };", "[@3#] coclass C { interface IUnknown; };"),
    (
        &["coclass-interface-removed"],
        "[@2#] coclass C { interface IUnknown; interface IDispatch; };",
        "[@2#] coclass C { interface IUnknown; };",
    ),
    (
        &["coclass-default"],
        "[@2#] coclass C { [default] interface IUnknown; interface IDispatch; };",
        "[@2#] coclass C { interface IUnknown; [default] interface IDispatch; };",
    ),
    (
        &["dispinterface-removed"],
        "[@2#] dispinterface D { properties: methods: };",
        "[@2#] coclass C { interface IUnknown; };",
    ),
    (
        &["dispinterface-uuid"],
        "[@2#] dispinterface D { properties: methods: };",
        "[@3#] dispinterface D { properties: methods: };",
    ),
    (
        &["dispinterface-member-removed"],
        "[@2#] dispinterface D { properties: [id(1)] long A; methods: };",
        "[@2#] dispinterface D { properties: methods: [id(1)] void A(); };",
    ),
    (
        &["dispid"],
        "[@2#] dispinterface D { properties: [id(1)] long A; methods: };",
        "[@2#] dispinterface D { properties: [id(2)] long A; methods: };",
    ),
    (
        &["coclass-noncreatable"],
        "[@2#] coclass C { interface IUnknown; };",
        "[@2#, noncreatable] coclass C { interface IUnknown; };",
    ),
    (
        &["coclass-default"],
        "[@2#] coclass C { interface IDispatch; };",
        "[@2#] coclass C { [default] interface IUnknown; interface IDispatch; };",
    ),
    (
        &["coclass-default"],
        "[@2#] coclass C { interface IDispatch; interface IUnknown; };",
        "[@2#] coclass C { interface IUnknown; interface IDispatch; };",
    ),
    (
        &["coclass-interface-removed"],
        "[@2#] coclass C { interface IUnknown; [source] interface IDispatch; };",
        "[@2#] coclass C { interface IUnknown; interface IDispatch; };",
    ),
    (
        &["library-member-removed"],
        "struct S { long a; }; };\n[object, @2#] interface I : IUnknown {",
        "}; struct S { long a; };\n[object, @2#] interface I : IUnknown {",
    ),
    (
        &["interface-automation"],
        "[object, dual, @2#] interface I : IDispatch { [id(1)] HRESULT A(); }",
        "[object, oleautomation, @2#] interface I : IDispatch { [id(1)] HRESULT A(); }",
    ),
    (
        &["dispinterface-member-type"],
        "[@2#] dispinterface D { properties: [id(1)] long A; methods: };",
        "[@2#] dispinterface D { properties: [id(1)] VARIANT_BOOL A; methods: };",
    ),
    (
        &["dispinterface-member-readonly"],
        "[@2#] dispinterface D { properties: [id(1)] long A; methods: };",
        "[@2#] dispinterface D { properties: [id(1), readonly] long A; methods: };",
    ),
    (
        &["dispinterface-member-removed"],
        "[object, dual, @2#] interface I : IDispatch { [id(1)] HRESULT A(); }\n\
         [object, dual, @3#] interface J : IDispatch { [id(1)] HRESULT B(); }\n\
         [@4#] dispinterface D { interface I; };",
        "[object, dual, @2#] interface I : IDispatch { [id(1)] HRESULT A(); }\n\
         [object, dual, @3#] interface J : IDispatch { [id(1)] HRESULT B(); }\n\
         [@4#] dispinterface D { interface J; };",
    ),
    (
        &["dispid", "dispinterface-member-type"],
        "[object, dual, @2#] interface I : IDispatch { [id(1)] HRESULT A([in] long n, [out, retval] long *m);\n\
         [id(2)] HRESULT B([out, retval] long *m); }\n\
         [@4#] dispinterface D { interface I; };",
        "[object, dual, @2#] interface I : IDispatch { [id(1)] HRESULT A([in] long n, [out, retval] long *m);\n\
         [id(2)] HRESULT B([out, retval] long *m); }\n\
         [@4#] dispinterface D { properties: methods: [id(7)] long A([in] long n); [id(2)] BSTR B(); };",
    ),
    (
        &["dispid"],
        "[object, oleautomation, @2#] interface I : IUnknown { [id(1)] HRESULT A(); }",
        "[object, oleautomation, @2#] interface I : IUnknown { [id(2)] HRESULT A(); }",
    ),
];

/// Methods of a dispinterface: `[@2#] dispinterface D { properties: methods: ... };`.
pub(super) const MEMBERS: Rows = &[
    (&["param-automation"], "[id(1)] void A([in] long n);", "[id(1)] void A([in] BSTR n);"),
    (&["dispinterface-member-type", "param-added"], "[id(1)] long A();", "[id(1)] void A([in] long n);"),
    (&["param-direction"], "[id(1)] void A([in] long *n);", "[id(1)] void A([out] long *n);"),
    (&["param-vartype"], "[id(1)] void A([in] short n);", "[id(1)] void A([in] VARIANT_BOOL n);"),
    (&["param-optional"], "[id(1)] void A([in, optional] VARIANT n);", "[id(1)] void A([in] VARIANT n);"),
    (
        &["param-optional"],
        "[id(1)] void A([in, defaultvalue(1)] long n);",
        "[id(1)] void A([in, defaultvalue(2)] long n);",
    ),
    (&["param-renamed"], "[id(1)] void A([in] long n);", "[id(1)] void A([in] long m);"),
    (&["restricted"], "[id(1)] void A();", "[id(1), restricted] void A();"),
    (
        &["dispinterface-member-removed"],
        "[id(1), propget] long A(); [id(1), propput] void A([in] long n);",
        "[id(1), propget] long A();",
    ),
];
