fn main() {
    obvia_idl::build("calc.idl");
}
