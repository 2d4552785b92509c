//! The pings that this process expects of its clients.

use crate::orpc::Pinging;
use crate::services::process;
use crate::types::error::Result;
use crate::types::upkeep;

/// Sets the interval at which peers that are not obvia processes must ping the objects that they
/// refer to, and the number of consecutive pings that may be lost. The defaults are two minutes and
/// three pings (MS-DCOM 3.1.2.2).
///
/// # Errors
///
/// If the runtime of the process cannot be made.
pub fn set_pinging(pinging: Pinging) -> Result<()> {
    process::runtime()?.exports().set_pinging(pinging);
    // The next expiry may be earlier now.
    upkeep::wake();
    Ok(())
}
