fn main() {
    obvia_idl::build("torture.idl");
    obvia_idl::build("bell.idl");
    obvia_idl::build("events.idl");
}
