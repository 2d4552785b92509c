//! AF_XDP between two network namespaces with a cable between them. The tests need the privileges
//! to make the namespaces and the cable.

mod datagrams;
mod ends;
#[expect(dead_code, reason = "other programs use more of it")]
mod rig;
mod vis;

use rig::Cable;

/// Returns a cable, or `None` after a message that says why the test is skipped. On CI, panics
/// instead.
fn cable(test: &str) -> Option<Cable> {
    match Cable::lay() {
        Ok(cable) => Some(cable),
        Err(why) if !ground::is_ci() => {
            eprintln!("skipped {test}: no network namespaces with a cable here: {why}");
            None
        }
        Err(why) => panic!("{test}: no network namespaces with a cable here: {why}"),
    }
}

/// A process that does not outlive its test.
struct Child(std::process::Child);

impl Drop for Child {
    fn drop(&mut self) {
        // The calls fail when the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
