//! Suffixes of the names that generated code makes of declared names.

/// Behind an interface's name.
pub(super) const VTABLE: &str = "Vtbl";
pub(super) const INFORMATION: &str = "_INFO";
pub(super) const PROXIES: &str = "_proxies";
pub(super) const STUBS: &str = "_stubs";
pub(super) const NDR: &str = "_ndr";
pub(super) const ENDPOINTS: &str = "_endpoints";
pub(super) const TYPES: &str = "_types";

/// Behind an interface's name, in C++ alone.
pub(super) const CALLS: &str = "_calls";
pub(super) const METHODS: &str = "_methods";
pub(super) const ADAPTER: &str = "_adapter";

/// Behind the names of an interface and of a method.
pub(super) const PROXY: &str = "_proxy";
pub(super) const PREPARE: &str = "_prepare";
pub(super) const ELSEWHERE: &str = "_elsewhere";
pub(super) const STUB: &str = "_stub";
pub(super) const TURN: &str = "_turn";
pub(super) const REFILL: &str = "_refill";
pub(super) const INVOKE: &str = "_invoke";
pub(super) const REQUEST: &str = "_request";
pub(super) const REPLY: &str = "_reply";
pub(super) const TABLE: &str = "_table";
/// Behind the names of an interface and of a method whose arrays are passed by reference, before
/// another suffix.
pub(super) const BY_REFERENCE: &str = "_by_reference";
/// Behind the names of an interface and of a method, in C++ alone.
pub(super) const RESULTS: &str = "_results";

/// Behind the name of a table.
pub(super) const WORDS: &str = "_words";

/// Behind the name of a structure or of an enumeration.
pub(super) const IS_VALID: &str = "_is_valid";
pub(super) const STORE: &str = "_store";
pub(super) const FREE: &str = "_free";
pub(super) const CLEAR: &str = "_clear";
pub(super) const COPY: &str = "_copy";
