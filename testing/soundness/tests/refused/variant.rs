//! A VARIANT may hold an object of one thread's.

fn main() {
    let value = obvia::Variant::from(5);
    std::thread::spawn(move || drop(value));
}
