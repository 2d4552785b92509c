//! A process that does what it is told, line by line: see `torture::orders`.

use torture::allocations::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    torture::orders::obey();
}
