//! Generated code lends a method a copy of a value. Safe code cannot drop this copy.

fn main() {
    let text = obvia::Bstr::from("x");
    let lent = obvia::rt::lent_value(&text); //~ error[E0133]: call to unsafe function `obvia::rt::lent` is unsafe and requires unsafe block
    drop(std::mem::ManuallyDrop::into_inner(lent));
}
