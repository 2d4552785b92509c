//! Interfaces with every construct of the IDL, and objects that implement them.

/// Structures with pointers.
mod shapes_idl {
    obvia::include_idl!("shapes");
}
/// Values, arrays, strings and objects.
mod values_idl {
    obvia::include_idl!("values");
}
/// Functions.
mod functions_idl {
    obvia::include_idl!("functions");
}
/// Endpoints.
mod clock_idl {
    obvia::include_idl!("clock");
}
/// Samba's functions.
mod rpcecho_idl {
    obvia::include_idl!("rpcecho");
}
pub use clock_idl::{Clock, Clock_Impl, Clock_Vtbl};
pub use functions_idl::{Account, Counters, Counters_Impl, Counters_Vtbl, Way};
pub use rpcecho_idl::{
    Enum1, Enum1_32, Enum2, Enum3, Info, Info1, Info2, Info3, Info4, Info5, Info6, Info7, Surrounding, rpcecho,
    rpcecho_Impl, rpcecho_Vtbl,
};
pub use shapes_idl::*;
pub use values_idl::{
    IBaseValues, IBaseValues_Impl, IBaseValues_Vtbl, IValues, IValues_Impl, IValues_Vtbl, Line, Mode, Point,
};

/// Sets the credentials and the accounts that all processes of the matrix have.
pub fn become_known() {
    use obvia::security::{AccountTable, Credential, NtHash, set_accounts, set_credentials};
    let [(user, password), _] = ACCOUNTS;
    let table = ACCOUNTS
        .into_iter()
        .fold(AccountTable::default(), |table, (user, password)| table.with(user, NtHash::of_password(password)));
    set_accounts(table);
    set_credentials(Credential::user("", user, password));
}

/// The accounts, users with their passwords. The first user is the user of every process.
pub const ACCOUNTS: [(&str, &str); 2] = [("matrix", "red or blue"), ("guest", "open sesame")];

pub mod functions;
pub mod shapes;
pub mod values;
