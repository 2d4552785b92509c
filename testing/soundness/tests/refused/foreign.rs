//! Any thread may release an object's last reference, even if no interface comes from an IDL file.

use std::rc::Rc;
use windows_core::IUnknown;

#[windows_core::interface("6d0f1c5e-2b1d-4b6e-9d5a-0f3f3c1d7a11")]
unsafe trait IForeign: IUnknown {
    fn Number(&self) -> i32;
}

#[obvia::object(IForeign)] //~ error[E0277]: `Rc<i32>` cannot be sent between threads safely //~ error[E0277]: `Rc<i32>` cannot be shared between threads safely
struct Counted(Rc<i32>);

impl IForeign_Impl for Counted_Impl {
    unsafe fn Number(&self) -> i32 {
        *self.0
    }
}

fn main() {}
