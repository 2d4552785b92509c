//! Any thread may ask an object for its handler.

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
