//! `ncacn_vi_fabric`. Options: `provider`, libfabric's, which both ends must have the same of, `tcp` where nothing is said; and
//! `domain`, libfabric's word for the adapter.

use super::sequence::{Open, Sequence, Wanted, any};
use crate::error::{Error, Result, code};
use obvia_rpc::string_binding::ProtocolSequence;
use obvia_via::Error as ViError;
use obvia_via::provider::fabric;

/// The provider that libfabric has on every host, and that gets to all others: both ends know it without asking.
const PROVIDER: &str = "tcp";

pub(super) const SEQUENCE: Sequence = Sequence {
    protocol: ProtocolSequence::ViFabric,
    shared: &[("provider", PROVIDER)],
    own: &["domain"],
    alone: None,
    settle: any,
    open,
};

fn open(wanted: &Wanted) -> Result<Open> {
    let provider = wanted.value("provider");
    let domain = Some(wanted.value("domain").to_owned()).filter(|domain| !domain.is_empty());
    let options = fabric::Options { domain, ..fabric::Options::new(provider) };
    match fabric::open(&options) {
        Ok(nic) => Ok((nic, None)),
        Err(ViError::NotFound { .. }) => {
            let at = options.domain.map(|domain| format!(" for the domain `{domain}`")).unwrap_or_default();
            let text = format!(
                "libfabric has no provider `{provider}`{at} here that carries messages and RDMA; `fi_info -l` lists what it has"
            );
            Err(Error::new(code::E_INVALIDARG, text))
        }
        Err(error) => Err(error.into()),
    }
}
