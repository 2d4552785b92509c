fn main() {
    obvia_idl::build("idl/rpcecho.idl");
}
