//! The use of the system's resources by this process.

use std::io;
use std::mem::MaybeUninit;

/// Returns how often the other threads of this process have slept, ended threads included.
pub(crate) fn sleeps_of_others() -> io::Result<i64> {
    Ok(sleeps(libc::RUSAGE_SELF)? - sleeps(libc::RUSAGE_THREAD)?)
}

fn sleeps(who: i32) -> io::Result<i64> {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer leads to memory of the size and alignment of an `rusage`.
    if unsafe { libc::getrusage(who, usage.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: an `rusage` of zeros is valid, and the call has filled it.
    Ok(unsafe { usage.assume_init() }.ru_nvcsw)
}
