//! A program with two interfaces of one IID. The program must end before its first line runs.

mod other {
    obvia::include_idl!("other");
}

fn main() {
    use obvia::Interface;
    println!("it runs, with {:?} and {:?}", other::IOther::IID, soundness::IProgress::IID);
}
