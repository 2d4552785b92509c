fn main() {
    obvia_idl::build("pfs.idl");
}
