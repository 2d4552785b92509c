//! Suffixes that generated code appends to the names of declarations.

/// Appended to the name of an interface.
pub(super) const VTABLE: &str = "Vtbl";
pub(super) const INFORMATION: &str = "_INFO";
pub(super) const PROXIES: &str = "_proxies";
pub(super) const STUBS: &str = "_stubs";
pub(super) const NDR: &str = "_ndr";
pub(super) const ENDPOINTS: &str = "_endpoints";
pub(super) const TYPES: &str = "_types";

/// Appended to the name of an interface, in C++ only.
pub(super) const CALLS: &str = "_calls";
pub(super) const METHODS: &str = "_methods";
pub(super) const ADAPTER: &str = "_adapter";

/// Appended to the names of an interface and of its method, `INTERFACE_METHOD`.
pub(super) const PROXY: &str = "_proxy";
pub(super) const PREPARE: &str = "_prepare";
pub(super) const OTHER_REGIONS: &str = "_other_regions";
pub(super) const STUB: &str = "_stub";
pub(super) const SELECT_REGIONS: &str = "_select_regions";
pub(super) const REFILL: &str = "_refill";
pub(super) const INVOKE: &str = "_invoke";
pub(super) const REQUEST: &str = "_request";
pub(super) const REPLY: &str = "_reply";
pub(super) const TABLE: &str = "_table";
/// Appended to the names of an interface and of its method, if arrays are passed by reference.
/// Another suffix follows.
pub(super) const BY_REFERENCE: &str = "_by_reference";
/// Appended to the names of an interface and of its method, in C++ only.
pub(super) const RESULTS: &str = "_results";

/// Appended to the name of a table.
pub(super) const WORDS: &str = "_words";

/// Appended to the name of a structure or of an enumeration.
pub(super) const IS_VALID: &str = "_is_valid";
pub(super) const STORE: &str = "_store";
pub(super) const FREE: &str = "_free";
pub(super) const CLEAR: &str = "_clear";
pub(super) const COPY: &str = "_copy";
