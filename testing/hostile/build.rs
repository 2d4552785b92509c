fn main() {
    obvia_idl::build("victim.idl");
    obvia_idl::build("contexts.idl");
    obvia_idl::build("mapped.idl");
    obvia_idl::build("graphs.idl");
}
