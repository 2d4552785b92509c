//! Memory that a method lends belongs to the calling thread.

fn main() {
    let values: soundness::IValues = soundness::Values.into();
    let lent = values.Lend(3).unwrap();
    std::thread::spawn(move || lent.len()); //~ error[E0277]: `*const i64` cannot be sent between threads safely //~ error[E0277]: `*const ()` cannot be sent between threads safely
}
