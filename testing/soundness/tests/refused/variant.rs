//! A VARIANT may hold an object of one thread.

fn main() {
    let value = obvia::Variant::from(5);
    std::thread::spawn(move || drop(value)); //~ error[E0277]: `*mut c_void` cannot be sent between threads safely
}
