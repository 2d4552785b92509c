//! Tables of findings: for each kind its code, its consequence and its remedy.

/// Declares an enumeration from rows of a name, a code, a consequence and a remedy.
macro_rules! kinds {
    ($(#[$about:meta])* $name:ident; $($kind:ident, $code:literal, $why:literal, $remedy:literal;)*) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(rustdoc::broken_intra_doc_links, reason = "`[in]` is an attribute of IDL, and no link")]
        pub enum $name {
            $(#[doc = $why] $kind,)*
        }

        impl $name {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            /// Returns the kind's stable name, by which it is allowed and explained.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$kind => $code,)* }
            }

            /// Returns the consequence of the finding.
            pub const fn why(self) -> &'static str {
                match self { $(Self::$kind => $why,)* }
            }

            /// Returns the remedy of the finding.
            pub const fn remedy(self) -> &'static str {
                match self { $(Self::$kind => $remedy,)* }
            }
        }
    };
}

pub(crate) use kinds;
