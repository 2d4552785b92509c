//! What names an object's handler is called by any thread.

use obvia::marshaling::{Context, Handled, IStdMarshalInfo};
use std::rc::Rc;

#[windows_core::implement(IStdMarshalInfo)]
struct Stock(Rc<i32>);

impl Handled for Stock_Impl { //~ error[E0277]: `Rc<i32>` cannot be shared between threads safely //~ error[E0277]: `Rc<i32>` cannot be sent between threads safely
    fn handler(&self, _: Context) -> obvia::Result<obvia::GUID> {
        Ok(obvia::GUID::zeroed())
    }
}

fn main() {}
