//! The use of the system's resources by this process.

use std::io;
use std::mem::MaybeUninit;

/// Returns how often the other threads of this process have slept. Those of ended threads count,
/// too.
pub(crate) fn sleeps_of_others() -> io::Result<i64> {
    Ok(sleeps(libc::RUSAGE_SELF)? - sleeps(libc::RUSAGE_THREAD)?)
}

fn sleeps(who: i32) -> io::Result<i64> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the place is that of the structure.
    if unsafe { libc::getrusage(who, usage.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeros are such a structure, and the call has filled it.
    Ok(unsafe { usage.assume_init() }.ru_nvcsw)
}
