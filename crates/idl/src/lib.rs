//! The IDL compiler: MIDL's language in, proxies and stubs out.
