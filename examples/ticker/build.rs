fn main() {
    obvia_idl::build("ticker.idl");
}
