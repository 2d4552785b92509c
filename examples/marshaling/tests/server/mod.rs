//! The server process of the tests.

#![allow(dead_code, reason = "no test has need of all of it")]

use ground::{Folder, Process};
use marshaling::IShop;
use obvia::Remote;
use obvia::marshaling::{Context, Flags};
use std::process::Command;

/// A server process with a shop. The process is ended when the value is dropped.
pub(crate) struct Server {
    process: Process,
    name: String,
    /// The string bindings at which the server listens.
    pub(crate) bindings: Vec<String>,
    pub(crate) shop: IShop,
    // The runtime directory. It is removed after the server has ended.
    _directory: Option<Folder>,
}

impl Server {
    pub(crate) fn start(bindings: &[&str]) -> Self {
        Self::start_in(None, bindings)
    }

    /// Starts a server in another runtime directory, so that it shares no memory with this process.
    pub(crate) fn start_elsewhere(bindings: &[&str]) -> Self {
        Self::start_in(Some(Folder::new("shop")), bindings)
    }

    fn start_in(directory: Option<Folder>, bindings: &[&str]) -> Self {
        let name = ground::fresh_name("shop");
        let mut command = Command::new(env!("CARGO_BIN_EXE_shop-server"));
        command.arg(&name).args(bindings);
        if let Some(directory) = &directory {
            command.env("OBVIA_RUNTIME_DIR", directory.path());
        }
        let mut process = Process::start(&mut command);
        let bindings: Vec<_> = std::iter::repeat_with(|| process.line()).take_while(|line| line != "open").collect();
        let place = if directory.is_some() { at(&bindings[0], &name) } else { name.clone() };
        let shop = obvia::connect(&place).unwrap();
        Self { process, name, bindings, shop, _directory: directory }
    }

    /// Connects by the first binding to the export whose name is the server's name followed by
    /// `ending`.
    pub(crate) fn connect<I: Remote>(&self, ending: &str) -> I {
        obvia::connect(&at(&self.bindings[0], &format!("{}{ending}", self.name))).unwrap()
    }

    /// Returns the string binding of the server's shop.
    pub(crate) fn place(&self) -> String {
        at(&self.bindings[0], &self.name)
    }

    pub(crate) fn write(&self, context: Context, flags: Flags) -> obvia::Result<Vec<u8>> {
        self.shop.Write(context as u32, flags.number())
    }

    /// Waits until `count` stocks are left, because references are released with a delay.
    pub(crate) fn await_left(&self, count: i32) {
        ground::until(&format!("{count} stocks are left"), || self.shop.Left().unwrap() == count);
    }
}

/// Returns a binding with the option that names an export.
fn at(binding: &str, name: &str) -> String {
    binding.replace(']', &format!(",name={name}]"))
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.close_input();
        self.process.await_end();
    }
}
