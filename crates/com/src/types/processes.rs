//! Descriptors of other processes of this host, which show that a process has ended.

use super::error::Result;
use obvia_via::provider::shm::serial_behind;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::io;
use std::os::fd::OwnedFd;

/// Returns a descriptor of a process of this host. The descriptor shows the end of the process even
/// after another process got the same id. `None` if no process has this id here (the process has
/// ended, or is in another PID namespace), or if the kernel or a filter of system calls refuses
/// such descriptors.
///
/// # Errors
///
/// E_FAIL or E_OUTOFMEMORY when this process or the system has no descriptor or memory left.
pub(crate) fn watch(pid: u32) -> Result<Option<OwnedFd>> {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Ok(None) };
    match pidfd_open(pid, PidfdFlags::empty()) {
        Err(errno @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => Err(io::Error::from(errno).into()),
        opened => Ok(opened.ok()),
    }
}

/// Returns a descriptor of the process with this id and serial number. `None` if that process has
/// ended, or if [`watch`] returns no descriptor.
///
/// # Errors
///
/// The errors of [`watch`].
pub(crate) fn watch_living(pid: u32, serial: u64) -> Result<Option<OwnedFd>> {
    let is_it = |process: &OwnedFd| serial_behind(process, pid) == serial && !has_ended(process);
    Ok(watch(pid)?.filter(is_it))
}

/// Whether a process has ended. The descriptor becomes readable at the end, even before the parent
/// has waited for the process.
pub(crate) fn has_ended(process: &OwnedFd) -> bool {
    have_ended(&[process])[0]
}

/// Returns for each process whether it has ended, with one system call. If the call fails, all
/// processes count as living.
pub(crate) fn have_ended(processes: &[&OwnedFd]) -> Vec<bool> {
    let mut polled: Vec<_> = processes.iter().map(|process| PollFd::new(process, PollFlags::IN)).collect();
    let has_answer = poll(&mut polled, Some(&Timespec::default())).is_ok();
    polled.iter().map(|process| has_answer && !process.revents().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::{has_ended, watch, watch_living};
    use obvia_via::provider::shm::serial_behind;
    use std::process::{Command, Stdio};

    #[test]
    #[cfg_attr(miri, ignore = "starts a process")]
    fn zombie_processes_count_as_ended() {
        assert!(!has_ended(&watch(std::process::id()).unwrap().unwrap()));
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let process = watch(child.id()).unwrap().unwrap();
        assert!(!has_ended(&process));
        child.kill().unwrap();
        // The process is still a zombie here: its parent has not waited for it yet.
        while !has_ended(&process) {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        // From now on, another process can get the id. The descriptor still shows the end of the
        // first process.
        assert!(has_ended(&process) && watch(0).unwrap().is_none() && watch(u32::MAX).unwrap().is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "starts a process")]
    fn a_process_that_has_ended_or_has_another_serial_number_is_not_living() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let pid = child.id();
        let serial = serial_behind(&watch(pid).unwrap().unwrap(), pid);
        let living = |pid, serial| watch_living(pid, serial).unwrap();
        let process = living(pid, serial).unwrap();
        assert!(living(pid, serial + 1).is_none() && living(std::process::id(), serial).is_none());
        child.kill().unwrap();
        while !has_ended(&process) {
            std::thread::yield_now();
        }
        assert!(living(pid, serial).is_none());
        child.wait().unwrap();
    }
}
