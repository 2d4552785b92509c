fn main() {
    obvia_idl::build("idl/rpcecho.idl");
    obvia_idl::build("idl/objects.idl");
    obvia_idl::build("idl/script.idl");
}
