//! The credentials of the command's calls.

use crate::exit;
use clap::Args;
use obvia::security::{Credential, set_credentials};

/// The environment variable with the password. The password is not an argument, because every user
/// of the host can read command lines.
const PASSWORD: &str = "OBVIA_PASSWORD";

/// The user option of subcommands that call servers.
#[derive(Clone, Debug, Args)]
pub(crate) struct User {
    /// The user for calls whose binding has the option `security`; OBVIA_PASSWORD has the password
    #[arg(long, value_name = "[DOMAIN/]USER")]
    user: Option<String>,
}

impl User {
    pub(crate) fn of(user: Option<String>) -> Self {
        Self { user }
    }

    /// Sets the process's credentials to this user. A `/` separates a domain from the user's name.
    pub(crate) fn set(&self) -> anyhow::Result<()> {
        let Some(user) = &self.user else { return Ok(()) };
        let (domain, name) = user.split_once('/').unwrap_or(("", user));
        let wanted = |_| exit::usage(format!("the password of {user} is missing: set {PASSWORD}"));
        let password = std::env::var(PASSWORD).map_err(wanted)?;
        set_credentials(Credential::user(domain, name, &password));
        Ok(())
    }
}
