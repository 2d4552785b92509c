//! A process that obeys orders, line by line: see `torture::orders`.

use torture::allocations::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    torture::orders::obey();
}
