//! Restriction of a thread's system calls.

use rustix::io::Errno;
use rustix::thread::futex::{self, WaitvFlags};
use rustix::time::ClockId;
use std::io;

const KILL: u32 = libc::SECCOMP_RET_KILL_PROCESS;
const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const LOAD_NUMBER: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
const JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;

const fn step(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

/// Makes the kernel kill the process on any system call of this thread except write and exit_group.
///
/// A contended lock, an allocation that grows the heap, and a sleep each need a system call.
pub fn lock_down() -> io::Result<()> {
    filter(&[
        step(LOAD_NUMBER, 0, 0, 0),
        step(JUMP_IF_EQUAL, libc::SYS_write as u32, 2, 0),
        step(JUMP_IF_EQUAL, libc::SYS_exit_group as u32, 1, 0),
        step(RETURN, KILL, 0, 0),
        step(RETURN, ALLOW, 0, 0),
    ])
}

/// Makes the kernel refuse `futex_waitv`, a sleep on several words, to this thread and to the
/// threads that it starts, as kernels before Linux 5.16 do.
pub(crate) fn refuse_waitv() -> io::Result<()> {
    filter(&[
        step(LOAD_NUMBER, 0, 0, 0),
        step(JUMP_IF_EQUAL, libc::SYS_futex_waitv as u32, 0, 1),
        step(RETURN, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32, 0, 0),
        step(RETURN, ALLOW, 0, 0),
    ])?;
    match futex::waitv(&[], WaitvFlags::empty(), None, ClockId::Monotonic) {
        Err(Errno::NOSYS) => Ok(()),
        outcome => Err(io::Error::other(format!("the filter has no effect: {outcome:?}"))),
    }
}

fn filter(program: &[libc::sock_filter]) -> io::Result<()> {
    let filter = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: the arguments are plain numbers.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the filter and its program live as long as the call, which copies them.
    if unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Ends the process at once, even from a restricted thread.
pub fn leave(text: &str, status: i32) -> ! {
    // SAFETY: the text lives as long as the call.
    unsafe { libc::write(1, text.as_ptr().cast(), text.len()) };
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(status) }
}
