//! AF_XDP between two network namespaces with a cable between them. Needs the privileges to make them.

mod datagrams;
mod ends;
#[expect(dead_code, reason = "other programs use more of it")]
mod rig;
mod vis;

use rig::Cable;

/// A cable, or `None` after saying which test is skipped and why. Where everything is tested, that is a failure.
fn cable(test: &str) -> Option<Cable> {
    match Cable::lay() {
        Ok(cable) => Some(cable),
        Err(why) if std::env::var_os("CI").is_none() => {
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
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
