//! Who the command is to servers that want to know.

use anyhow::Context;
use obvia::security::{Credential, set_credentials};

/// The variable of the environment that has the password: what stands on a command line, every user of the host can read.
const PASSWORD: &str = "OBVIA_PASSWORD";

/// Has calls be made as a user, of a domain if there is a `/`.
pub(crate) fn set(user: &str) -> anyhow::Result<()> {
    let (domain, name) = user.split_once('/').unwrap_or(("", user));
    let password =
        std::env::var(PASSWORD).with_context(|| format!("the password of {user} is wanted in {PASSWORD}"))?;
    set_credentials(Credential::user(domain, name, &password));
    Ok(())
}
