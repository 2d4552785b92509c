fn main() {
    obvia_idl::build("torture.idl");
}
