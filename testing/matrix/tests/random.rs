//! Random calls between two processes, with programs that the compiler made: see `obvia idl --test`.

use std::io::Read;
use std::process::{Command, Stdio};

#[test]
fn random_values_arrive() {
    let program = env!("CARGO_BIN_EXE_random-values");
    let name = format!("matrix-random-{}", std::process::id());
    let mut server = Command::new(program);
    let server = server.args(["serve", &name, "3"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let mut ready = [0; 6];
    server.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    assert_eq!(&ready, b"ready\n");
    let client = Command::new(program).args(["call", &name, "3", "300"]).output().unwrap();
    assert_eq!(client.stdout, b"ok\n", "{}", String::from_utf8_lossy(&client.stderr));
    assert!(server.wait_with_output().unwrap().status.success());
}
