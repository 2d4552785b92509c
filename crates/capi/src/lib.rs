//! libobvia: the C interface, as `include/obvia.h` and `include/obvia_stub.h` declare it.
