//! Random numbers that an attacker cannot predict.

use crate::Error;
use rustix::rand::{GetRandomFlags, getrandom};

/// Returns random bytes. The kernel returns as many as are asked for, up to 256.
///
/// # Errors
///
/// [`Error::System`] if the kernel has no random numbers yet.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Error> {
    const { assert!(N <= 256) };
    let mut bytes = [0; N];
    getrandom(&mut bytes, GetRandomFlags::empty()).map_err(Error::system("reading random numbers"))?;
    Ok(bytes)
}
