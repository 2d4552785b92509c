//! A process that obeys the orders of tests, line by line: see `torture::orders`.

use torture::allocations::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    torture::orders::obey();
}
