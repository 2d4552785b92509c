fn main() {
    obvia_idl::build("notes.idl");
}
