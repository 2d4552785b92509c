fn main() {
    obvia_idl::build("shop.idl");
}
