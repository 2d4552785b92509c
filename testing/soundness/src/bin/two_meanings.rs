//! A program with two interfaces of one IID, which must not reach its first line.

mod other {
    obvia::include_idl!("other");
}

fn main() {
    use obvia::Interface;
    println!("it runs, with {:?} and {:?}", other::IOther::IID, soundness::IProgress::IID);
}
