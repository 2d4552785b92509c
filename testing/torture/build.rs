fn main() {
    obvia_idl::build("torture.idl");
    obvia_idl::build("tally.idl");
    obvia_idl::build("events.idl");
}
