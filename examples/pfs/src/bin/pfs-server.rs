//! Serves a directory tree: `pfs-server [--write] [--listen BINDING]... DIRECTORY [NAME]`.

use std::process::ExitCode;

fn main() -> ExitCode {
    pfs::service::run(std::env::args().skip(1))
}
