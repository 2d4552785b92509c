//! The credentials of the command's calls.

use crate::exit;
use clap::Args;
use obvia::security::{Credential, set_credentials};

/// The environment variable with the password: every user of the host can read command lines.
const PASSWORD: &str = "OBVIA_PASSWORD";

/// The user option of subcommands that call servers.
#[derive(Clone, Debug, Args)]
pub(crate) struct User {
    /// User of calls whose binding asks for security; the password is in OBVIA_PASSWORD
    #[arg(long, value_name = "[DOMAIN/]USER")]
    user: Option<String>,
}

impl User {
    pub(crate) fn of(user: Option<String>) -> Self {
        Self { user }
    }

    /// Sets the process's credentials to this user; a domain precedes a `/`.
    pub(crate) fn set(&self) -> anyhow::Result<()> {
        let Some(user) = &self.user else { return Ok(()) };
        let (domain, name) = user.split_once('/').unwrap_or(("", user));
        let wanted = |_| exit::usage(format!("the password of {user} is wanted in {PASSWORD}"));
        let password = std::env::var(PASSWORD).map_err(wanted)?;
        set_credentials(Credential::user(domain, name, &password));
        Ok(())
    }
}
