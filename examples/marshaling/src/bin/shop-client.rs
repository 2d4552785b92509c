//! Prints the string bindings by which the client calls the shop and its till. Then pays once for
//! each line of standard input.

use marshaling::{IShop, ITill};

fn way<I: obvia::Remote>(object: &I) -> String {
    obvia::binding_of(object).unwrap_or_else(|| "it is here".to_owned())
}

fn main() -> obvia::Result<()> {
    let shop: IShop = obvia::connect(&std::env::args().nth(1).unwrap_or_else(|| "shop".to_owned()))?;
    println!("shop: {}", way(&shop));
    let till: ITill = shop.Till()?;
    println!("till: {}", way(&till));
    for _ in std::io::stdin().lines() {
        println!("{}", till.Pay(1)?);
    }
    Ok(())
}
