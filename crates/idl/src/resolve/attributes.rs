//! The attributes, and the declarations that may have them.

/// A kind of declaration with the attributes that it may have.
pub(super) struct Place {
    /// The declaration, as messages call it.
    pub(super) name: &'static str,
    attributes: &'static [&'static [&'static str]],
}

impl Place {
    /// Whether the declaration may have the attribute.
    pub(super) fn permits(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|some| some.contains(&attribute))
    }
}

/// Attributes of types that only type libraries record.
pub(super) const ON_TYPES: [&str; 6] = ["uuid", "version", "helpstring", "helpcontext", "hidden", "restricted"];

/// Attributes that select how C programs get their binding handles. An interface pointer is the
/// binding, so these attributes have no effect.
pub(super) const ON_HANDLES: [&str; 4] = ["auto_handle", "explicit_handle", "implicit_handle", "handle"];

/// Attributes without a meaning here: hints for type libraries, for Windows' registry, for MIDL's
/// stubs, and for static analysis.
pub(super) const IGNORED: [&str; 26] = [
    "annotation",
    "comm_status",
    "custom",
    "disable_consistency_check",
    "entry",
    "enable_allocate",
    "fault_status",
    "force_allocate",
    "helpstringcontext",
    "helpstringdll",
    "in_line",
    "input_sync",
    "ms_union",
    "notify",
    "odl",
    "optimize",
    "partial_ignore",
    "predeclid",
    "progid",
    "strict_context_handle",
    "system_handle",
    "threading",
    "usesgetlasterror",
    "user_marshal",
    "vararg",
    "vi_progid",
];

/// Attributes of pointers and arrays, and of the values that they lead to.
const ON_POINTERS: [&str; 9] = ["size_is", "length_is", "max_is", "string", "ref", "unique", "ptr", "iid_is", "range"];

pub(super) const INTERFACE: Place = Place {
    name: "an interface",
    attributes: &[&[
        "uuid",
        "version",
        "object",
        "local",
        "pointer_default",
        "helpstring",
        "helpcontext",
        "proxy",
        "endpoint",
        "dual",
        "oleautomation",
        "nonextensible",
        "hidden",
        "restricted",
        "async_uuid",
    ]],
};

pub(super) const PARAMETER: Place = Place {
    name: "a parameter",
    attributes: &[
        &["in", "out", "retval"],
        &ON_POINTERS,
        &[
            "max_value",
            "switch_is",
            "switch_type",
            "optional",
            "defaultvalue",
            "utf8",
            "zero_copy",
            "map",
            "lend",
            "prealloc",
            "context_handle",
            "lcid",
        ],
    ],
};

pub(super) const MEMBER: Place =
    Place { name: "a member", attributes: &[&ON_POINTERS, &["switch_is", "switch_type", "helpstring", "hidden"]] };

pub(super) const METHOD: Place = Place {
    name: "a method",
    attributes: &[&[
        "oneway",
        "helpstring",
        "helpcontext",
        "id",
        "propget",
        "propput",
        "propputref",
        "local",
        "call_as",
        "hidden",
        "restricted",
        "idempotent",
        "maybe",
        "source",
        "bindable",
        "requestedit",
        "displaybind",
        "defaultbind",
        "defaultcollelem",
        "uidefault",
        "nonbrowsable",
        "replaceable",
        "immediatebind",
    ]],
};

pub(super) const PROPERTY: Place = Place {
    name: "a property",
    attributes: &[&[
        "id",
        "helpstring",
        "helpcontext",
        "readonly",
        "hidden",
        "restricted",
        "source",
        "bindable",
        "requestedit",
        "displaybind",
        "defaultbind",
        "defaultcollelem",
        "uidefault",
        "nonbrowsable",
        "immediatebind",
    ]],
};

pub(super) const STRUCTURE: Place = Place { name: "a structure", attributes: &[&ON_TYPES] };

pub(super) const UNION: Place = Place {
    name: "a union",
    attributes: &[&ON_TYPES, &["switch_type", "switch_is", "in", "out", "ref", "unique", "ptr"]],
};

pub(super) const ARM: Place =
    Place { name: "an arm", attributes: &[&["case", "default", "string", "ref", "unique", "ptr", "helpstring"]] };

pub(super) const ENUMERATION: Place = Place { name: "an enum", attributes: &[&ON_TYPES, &["v1_enum", "open"]] };

pub(super) const TYPEDEF: Place = Place {
    name: "a typedef",
    attributes: &[
        &ON_TYPES,
        &[
            "string",
            "unique",
            "ref",
            "ptr",
            "v1_enum",
            "open",
            "switch_type",
            "public",
            "range",
            "context_handle",
            "wire_marshal",
            "transmit_as",
            "represent_as",
        ],
    ],
};

pub(super) const LIBRARY: Place =
    Place { name: "a library", attributes: &[&ON_TYPES, &["lcid", "helpfile", "control", "id"]] };

pub(super) const CLASS: Place = Place {
    name: "a class",
    attributes: &[&ON_TYPES, &["noncreatable", "appobject", "control", "aggregatable", "licensed"]],
};

pub(super) const CLASS_INTERFACE: Place =
    Place { name: "an interface of a class", attributes: &[&["default", "source", "restricted", "defaultvtable"]] };

pub(super) const DISPINTERFACE: Place =
    Place { name: "an interface that is called by name", attributes: &[&ON_TYPES, &["nonextensible"]] };

/// All kinds of declarations.
const PLACES: [&Place; 14] = [
    &INTERFACE,
    &PARAMETER,
    &MEMBER,
    &METHOD,
    &PROPERTY,
    &STRUCTURE,
    &UNION,
    &ARM,
    &ENUMERATION,
    &TYPEDEF,
    &LIBRARY,
    &CLASS,
    &CLASS_INTERFACE,
    &DISPINTERFACE,
];

/// Returns the attributes that the compiler understands, or accepts without a meaning.
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    let of_places = PLACES.iter().flat_map(|place| place.attributes.iter().copied().flatten());
    of_places.chain(&ON_HANDLES).chain(&IGNORED).copied()
}

/// Whether the compiler understands the attribute, or accepts it without a meaning.
pub(super) fn is_known(attribute: &str) -> bool {
    known().any(|known| known == attribute)
}
