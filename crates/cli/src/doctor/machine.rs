//! The kernel, its limits, and the processors.

use super::finding::Finding;
use super::host::{Host, bytes};

/// The findings about the machine, in the order of the report.
pub(super) const CHECKS: &[fn(&Host) -> Finding] = &[
    kernel,
    processors,
    features,
    clock,
    virtualisation,
    open_files,
    mappings,
    locked_memory,
    shared_memory,
    huge_pages,
    socket_buffers,
    rdma,
];

fn kernel(host: &Host) -> Finding {
    let found = format!("Linux {}", host.text("proc/sys/kernel/osrelease"));
    let newer = "It takes a newer kernel, from a later release of the distribution or from its backports.";
    match host.kernel().unwrap_or_default() {
        // Linux 5.1 introduced F_SEAL_FUTURE_WRITE.
        version if version < (5, 1) => {
            let cost = "Segments cannot be sealed before Linux 5.1, so there are no calls through shared memory.";
            Finding::missing("kernel", found, cost).hint(newer)
        }
        // Since Linux 6.9, each process has its own inode number in the file system of pidfds.
        version if version < (6, 9) => {
            let cost = "Before Linux 6.9, servers tell processes apart by their ids alone, and those of other \
                        containers by their users.";
            Finding::limited("kernel", found, cost).hint(newer)
        }
        version if version < (6, 13) => {
            let cost =
                "Before Linux 6.13, each datagram of ncacn_vi_udp is compared with every connection of its port.";
            Finding::limited("kernel", found, cost).hint(newer)
        }
        _ => Finding::ok("kernel", found),
    }
}

fn processors(_: &Host) -> Finding {
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let cost = "Client and server take turns on one processor, so each call switches processes twice.";
    let found = if count == 1 { "1 for this process".to_owned() } else { format!("{count} for this process") };
    Finding::ok_if(count > 1, "processors", found, cost)
        .hint("In containers, --cpus 2 gives two processors; a shell may take two of the machine's by:")
        .remedy("taskset -pc 0,1 $$")
}

/// The processor's features that obvia uses, with their uses.
const FEATURES: [(&str, &str); 2] =
    [("pclmulqdq", "checksums of long datagrams"), ("avx2", "encryption over virtual interfaces")];

fn flags(host: &Host) -> Vec<String> {
    let cpuinfo = host.text("proc/cpuinfo");
    let line = cpuinfo.lines().find(|line| line.starts_with("flags")).and_then(|line| line.split_once(':'));
    line.map_or("", |(_, flags)| flags).split_whitespace().map(str::to_owned).collect()
}

fn features(host: &Host) -> Finding {
    let flags = flags(host);
    let (has, lacks): (Vec<_>, Vec<_>) = FEATURES.iter().partition(|(name, _)| flags.iter().any(|flag| flag == name));
    let names = |list: &[&(&str, &str)]| list.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    if lacks.is_empty() {
        return Finding::ok("processor features", names(&has));
    }
    let slow = lacks.iter().map(|(_, what)| *what).collect::<Vec<_>>().join(" and ");
    let cost = format!("These take longer: {slow}.");
    Finding::limited("processor features", format!("no {}", names(&lacks)), cost)
        .hint("A virtual machine gets the features of its host's processors by QEMU's option -cpu host.")
}

/// The sources of time that processes read without a system call.
const CLOCKS: [&str; 3] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page"];

fn clock(host: &Host) -> Finding {
    let folder = "sys/devices/system/clocksource/clocksource0";
    let source = host.text(&format!("{folder}/current_clocksource"));
    let cost = "Reading the time takes a system call, and calls with a deadline read it.";
    if source.is_empty() {
        return Finding::limited("clock", "unknown: /sys is not readable", cost)
            .remedy("sudo mount -t sysfs sysfs /sys");
    }
    let available = host.text(&format!("{folder}/available_clocksource"));
    let faster = CLOCKS.into_iter().find(|clock| available.split_whitespace().any(|other| other == *clock));
    let finding = Finding::ok_if(CLOCKS.contains(&source.as_str()), "clock", source, cost);
    match faster {
        Some(clock) => finding.remedy(format!("echo {clock} | sudo tee /{folder}/current_clocksource")),
        None => finding.hint("The kernel offers no other clock for this processor."),
    }
}

fn virtualisation(host: &Host) -> Finding {
    if !flags(host).iter().any(|flag| flag == "hypervisor") {
        return Finding::ok("virtual machine", "none");
    }
    let maker = host.text("sys/class/dmi/id/sys_vendor");
    let found = if maker.is_empty() { "yes".to_owned() } else { format!("yes, by {maker}") };
    let cost = "Waking a process that sleeps takes an interrupt through the hypervisor: tens of microseconds. Polling \
                processes are not affected.";
    Finding::limited("virtual machine", found, cost)
        .hint("Programs in Rust poll after obvia::set_waiting(obvia::Waiting::Poll).")
}

/// The values of limits and of memory below which the findings about them have the state `Limited`.
const FILES_MIN: u64 = 4096;
const MAPPINGS_MIN: u64 = 65_530;
const LOCKED_MIN: u64 = 8 << 20;
const SHARED_MIN: u64 = 64 << 20;
const BUFFER_MIN: u64 = 4 << 20;

fn open_files(host: &Host) -> Finding {
    let Some((soft, hard)) = host.limit("Max open files") else {
        let cost = "Connections take descriptors.";
        return Finding::limited("open files", "unknown: /proc is not readable", cost)
            .remedy("sudo mount -t proc proc /proc");
    };
    let most = |number: u64| if number == u64::MAX { "unlimited".to_owned() } else { number.to_string() };
    let cost = "Each connection takes a descriptor, so a server has fewer connections than that.";
    let remedy = if hard >= FILES_MIN {
        format!("ulimit -n {}", hard.min(1 << 20))
    } else {
        "sudo prlimit --pid $$ --nofile=65536:65536".to_owned()
    };
    let found = format!("{}, at most {}", most(soft), most(hard));
    Finding::ok_if(soft >= FILES_MIN, "open files", found, cost)
        .remedy(remedy)
        .hint("In a unit of systemd, set LimitNOFILE=.")
}

fn mappings(host: &Host) -> Finding {
    let most = host.number("proc/sys/vm/max_map_count").unwrap_or(0);
    let cost = "Each connection through shared memory takes two mappings, and each shared array one.";
    Finding::ok_if(most >= MAPPINGS_MIN, "mappings", format!("{most} for each process"), cost)
        .remedy("sudo sysctl -w vm.max_map_count=262144")
}

/// The numbers of CAP_IPC_LOCK and CAP_NET_ADMIN.
const IPC_LOCK: u32 = 14;
const NET_ADMIN: u32 = 12;

fn locked_memory(host: &Host) -> Finding {
    if host.is_capable(IPC_LOCK) {
        return Finding::ok("locked memory", "unlimited, by CAP_IPC_LOCK");
    }
    let (soft, _) = host.limit("Max locked memory").unwrap_or_default();
    let cost = "AF_XDP and RDMA adapters lock the memory of their queues. Shared memory needs none.";
    Finding::ok_if(soft >= LOCKED_MIN, "locked memory", bytes(soft), cost)
        .remedy("sudo prlimit --pid $$ --memlock=unlimited:unlimited")
        .hint("In a unit of systemd, set LimitMEMLOCK=.")
}

fn shared_memory(host: &Host) -> Finding {
    let path = host.path("dev/shm");
    let cost = "libfabric's provider shm keeps 16 MiB there for each endpoint. obvia's own segments have no files, and \
                need no space there.";
    let Ok(found) = rustix::fs::statvfs(&path) else {
        return Finding::limited("/dev/shm", "there is none", cost)
            .remedy("sudo mkdir -p /dev/shm && sudo mount -t tmpfs -o mode=1777 tmpfs /dev/shm");
    };
    let access = rustix::fs::access(&path, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK);
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let size = found.f_blocks.saturating_mul(found.f_frsize);
    let text = format!("{} free of {}", bytes(free), bytes(size));
    if access.is_err() {
        return Finding::limited("/dev/shm", format!("not writable; {text}"), cost).remedy("sudo chmod 1777 /dev/shm");
    }
    Finding::ok_if(free >= SHARED_MIN, "/dev/shm", text, cost)
        .remedy("sudo mount -o remount,size=1G /dev/shm")
        .hint("For a container, use --shm-size 1g.")
}

fn huge_pages(host: &Host) -> Finding {
    let file = "sys/kernel/mm/transparent_hugepage/shmem_enabled";
    let text = host.text(file);
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("never", |(chosen, _)| chosen);
    let cost = "Shared memory has pages of 4 KiB. Only programs that go through many MiB of it notice.";
    let is_ok = ["always", "within_size", "force"].contains(&chosen);
    Finding::ok_if(is_ok, "huge pages", chosen, cost).remedy(format!("echo within_size | sudo tee /{file}"))
}

fn socket_buffers(host: &Host) -> Finding {
    if host.is_capable(NET_ADMIN) {
        return Finding::ok("socket buffers", "as large as needed, by CAP_NET_ADMIN");
    }
    let most = host.number("proc/sys/net/core/rmem_max").unwrap_or(0);
    let cost = "ncacn_vi_udp asks for 4 MiB. With less, bulk data over networks is slower.";
    Finding::ok_if(most >= BUFFER_MIN, "socket buffers", format!("at most {}", bytes(most)), cost)
        .remedy("sudo sysctl -w net.core.rmem_max=4194304 net.core.wmem_max=4194304")
}

fn rdma(host: &Host) -> Finding {
    let devices = host.entries("sys/class/infiniband");
    let names: Vec<_> = devices.iter().filter_map(|path| path.file_name()?.to_str()).collect();
    if names.is_empty() {
        let cost = "libfabric's provider verbs has no adapter. Other transports need no adapter.";
        return Finding::missing("RDMA adapters", "none", cost)
            .hint("For trials, rdma-link(8) makes an adapter of type rxe from a network interface.");
    }
    Finding::ok("RDMA adapters", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::finding::{Finding, State};
    use super::super::host::tests::Fake;
    use super::*;

    fn found(check: fn(&Host) -> Finding, files: &[(&str, &str)]) -> (State, String) {
        let finding = check(&Fake::new(files).1);
        (finding.state, finding.found)
    }

    #[test]
    fn old_kernels_are_limited_or_have_no_calls() {
        let with = |release| found(kernel, &[("proc/sys/kernel/osrelease", release)]).0;
        assert_eq!(
            ["4.19.0", "5.10.1", "6.12.0-rc1", "6.13.0", "7.0"].map(with),
            [State::Missing, State::Limited, State::Limited, State::Ok, State::Ok]
        );
    }

    #[test]
    fn low_limits_are_found() {
        let limits = |files: u64, locked: &str| {
            format!("Max open files   {files}   524288   files\nMax locked memory   {locked}   {locked}   bytes\n")
        };
        let (low, high) = (limits(1024, "65536"), limits(20_000, "unlimited"));
        let with = |limits: &str| {
            let files = [("proc/self/limits", limits)];
            [open_files, locked_memory].map(|check| found(check, &files))
        };
        assert_eq!(
            with(&low),
            [(State::Limited, "1024, at most 524288".to_owned()), (State::Limited, "64 KiB".to_owned())]
        );
        assert_eq!(with(&high).map(|(state, _)| state), [State::Ok; 2]);
        let map = |most| found(mappings, &[("proc/sys/vm/max_map_count", most)]).0;
        assert_eq!(["1000", "65530"].map(map), [State::Limited, State::Ok]);
        let buffer = |most| found(socket_buffers, &[("proc/sys/net/core/rmem_max", most)]).0;
        assert_eq!(["212992", "4194304"].map(buffer), [State::Limited, State::Ok]);
    }

    #[test]
    fn processors_clocks_and_pages_are_found() {
        let cpu = |flags: &str| [("proc/cpuinfo", format!("model name\t: x\nflags\t\t: {flags}\n"))];
        let with = |check: fn(&Host) -> Finding, flags: &str| {
            let files = cpu(flags);
            found(check, &files.each_ref().map(|(path, text)| (*path, text.as_str())))
        };
        assert_eq!(with(features, "fpu avx2 pclmulqdq").0, State::Ok);
        assert_eq!(with(features, "fpu avx2"), (State::Limited, "no pclmulqdq".to_owned()));
        assert_eq!(with(virtualisation, "fpu hypervisor").0, State::Limited);
        assert_eq!(with(virtualisation, "fpu").0, State::Ok);
        let source = "sys/devices/system/clocksource/clocksource0/current_clocksource";
        let clocks =
            [(source, "hpet\n"), ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet")];
        let lines = clock(&Fake::new(&clocks).1).lines();
        assert!(lines.iter().any(|line| line.contains("-> echo tsc | sudo tee /sys/")), "{lines:?}");
        assert_eq!(["tsc\n", "hpet\n"].map(|text| found(clock, &[(source, text)]).0), [State::Ok, State::Limited]);
        let pages = "sys/kernel/mm/transparent_hugepage/shmem_enabled";
        assert_eq!(
            found(huge_pages, &[(pages, "always within_size [never] deny")]),
            (State::Limited, "never".to_owned())
        );
        assert_eq!(found(huge_pages, &[(pages, "always [within_size] never")]).0, State::Ok);
    }

    #[test]
    fn a_host_without_any_of_it_has_findings_all_the_same() {
        let Fake(_folder, host) = &Fake::new(&[]);
        for check in CHECKS {
            let finding = check(host);
            assert!(!finding.subject.is_empty() && !finding.lines().is_empty());
        }
        assert_eq!(found(rdma, &[("sys/class/infiniband/mlx5_0/node_type", "")]), (State::Ok, "mlx5_0".to_owned()));
    }
}
