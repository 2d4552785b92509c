//! Tests that the demonstration's processes end together.

use std::process::{Command, Stdio};

#[test]
fn the_server_ends_in_order_when_the_demo_is_killed() {
    let folder = ground::Folder::new("pfs-demo");
    let has_names = || std::fs::read_dir(folder.path()).unwrap().count() > 0;
    let mut demo = Command::new(env!("CARGO_BIN_EXE_pfs-demo"));
    demo.arg("/usr").env("OBVIA_RUNTIME_DIR", folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut demo = demo.spawn().unwrap();
    ground::until("the server has a name", has_names);
    demo.kill().unwrap();
    demo.wait().unwrap();
    ground::until("the server has ended", || !has_names());
}
