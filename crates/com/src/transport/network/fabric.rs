//! `ncacn_vi_fabric`. The option `provider` is libfabric's provider, which must be the same at both
//! ends; the default is `tcp`. The option `domain` is libfabric's name of the adapter.
//! [`super::protection`] has the other options.

use super::sequence::{Means, NicMeans, OF_CLIENTS, Open, SHARED, Sequence, Wanted, any};
use crate::types::error::{Error, Result, code};
use obvia_rpc::string_binding::ProtocolSequence;
use obvia_via::Error as ViError;
use obvia_via::provider::fabric;

/// The default provider. libfabric has this provider on every host, and the provider reaches all
/// other hosts, so both ends can assume it.
const PROVIDER: &str = "tcp";

/// The number of file descriptors that a connection needs. libfabric's `tcp` needs eight, for its
/// socket and its two queues; the other two are for the bells that end waits to receive and to
/// send. Other providers need fewer.
const DESCRIPTORS: u64 = 10;

pub(super) const SEQUENCE: Sequence = Sequence {
    protocol: ProtocolSequence::ViFabric,
    shared: &[SHARED, ("provider", PROVIDER)],
    own: &["domain", OF_CLIENTS[0], OF_CLIENTS[1]],
    alone: None,
    means: Means::Nic(NicMeans { settle: any, open, descriptors: DESCRIPTORS }),
};

/// The greatest length of a provider's name.
const NAME_MAX: usize = 32;

/// Whether a text is a plain provider name without libfabric's special syntax. The text may come
/// from a peer.
fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_;".contains(&byte);
    !text.is_empty() && text.len() <= NAME_MAX && text.bytes().all(is_plain)
}

fn open(wanted: &Wanted) -> Result<Open> {
    let provider = wanted.value("provider");
    if !is_name(provider) {
        let text = "the name of a libfabric provider has only lower-case letters, digits, `_` and `;`, as in \
            tcp;ofi_rxm";
        return Err(Error::new(code::E_INVALIDARG, text));
    }
    let domain = Some(wanted.value("domain").to_owned()).filter(|domain| !domain.is_empty());
    let options = fabric::Options { domain, ..fabric::Options::new(provider) };
    match fabric::open(&options) {
        Ok(nic) => Ok((nic, None)),
        Err(ViError::NotFound { .. }) => {
            let at = options.domain.map(|domain| format!(" for the domain `{domain}`")).unwrap_or_default();
            let text = format!(
                "libfabric has no provider `{provider}`{at} here that carries messages and RDMA; `fi_info -l` lists \
                    its providers"
            );
            Err(Error::new(code::E_INVALIDARG, text))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use obvia_rpc::string_binding::StringBinding;

    fn opened(provider: &str) -> Result<Open> {
        let options = vec![("provider".to_owned(), provider.to_owned())];
        let binding = StringBinding { options, ..StringBinding::new(ProtocolSequence::ViFabric, "h", "7") };
        open(&Wanted::of(&binding)?)
    }

    #[test]
    fn fabric_providers_are_opened_by_exact_name() {
        assert!(opened("tcp").is_ok());
        for other in ["^shm", "tcp,shm", "", "TCP", "a\0b", &"t".repeat(33)] {
            let Err(error) = opened(other) else { panic!("{other} was opened") };
            assert!(error.to_string().contains("the name of a libfabric provider"), "{other}: {error}");
        }
        let Err(error) = opened("nobodys") else { panic!("there is such a provider") };
        assert!(error.to_string().contains("libfabric has no provider `nobodys` here"), "{error}");
    }
}
