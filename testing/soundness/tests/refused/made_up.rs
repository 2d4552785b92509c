//! Only generated code describes interfaces safely.

use obvia::rt::{Description, InterfaceInfo};

fn main() {
    let known: &InterfaceInfo = <soundness::IProgress as obvia::Remote>::INFO;
    let other = Description { iid: obvia::GUID::from_u128(5), ..**known };
    let info: &'static InterfaceInfo = Box::leak(Box::new(InterfaceInfo::new(other))); //~ error[E0133]: call to unsafe function `InterfaceInfo::new` is unsafe and requires unsafe block
    obvia::register(&[info]);
    known.proxy = obvia::rt::VtablePointer(std::ptr::null()); //~ error[E0594]: cannot assign to data in dereference of `InterfaceInfo`
}
