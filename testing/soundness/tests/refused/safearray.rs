//! A SAFEARRAY may hold an object of one thread.

fn main() {
    let array = obvia::SafeArray::of(&[1, 2]).unwrap();
    std::thread::scope(|scope| drop(scope.spawn(|| array.len()))); //~ error[E0277]: `*mut automation::value::Descriptor` cannot be shared between threads safely
}
