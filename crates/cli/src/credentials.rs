//! Who the command is to servers that want to know.

use crate::exit;
use clap::Args;
use obvia::security::{Credential, set_credentials};

/// The variable of the environment that has the password: what stands on a command line, every user of the host can read.
const PASSWORD: &str = "OBVIA_PASSWORD";

/// For subcommands that call servers.
#[derive(Clone, Debug, Args)]
pub(crate) struct User {
    /// Who calls are made as where a binding asks for security; the password is in OBVIA_PASSWORD
    #[arg(long, value_name = "[DOMAIN/]USER")]
    user: Option<String>,
}

impl User {
    pub(crate) fn of(user: Option<String>) -> Self {
        Self { user }
    }

    /// Has calls be made as this user, of a domain if there is a `/`.
    pub(crate) fn set(&self) -> anyhow::Result<()> {
        let Some(user) = &self.user else { return Ok(()) };
        let (domain, name) = user.split_once('/').unwrap_or(("", user));
        let wanted = |_| exit::usage(format!("the password of {user} is wanted in {PASSWORD}"));
        let password = std::env::var(PASSWORD).map_err(wanted)?;
        set_credentials(Credential::user(domain, name, &password));
        Ok(())
    }
}
