//! The program `obvia`.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    obvia_cli::main()
}
