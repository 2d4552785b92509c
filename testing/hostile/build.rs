fn main() {
    obvia_idl::build("victim.idl");
}
