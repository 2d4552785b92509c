//! The copy of a value that generated code lends to a method must not be dropped.

fn main() {
    let text = obvia::Bstr::from("x");
    let lent = obvia::rt::lent_value(&text); //~ error[E0133]: call to unsafe function `obvia::rt::lent` is unsafe and requires unsafe block
    drop(std::mem::ManuallyDrop::into_inner(lent));
}
