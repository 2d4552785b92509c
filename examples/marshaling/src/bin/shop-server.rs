//! Exports a shop under the name that it is given, and listens at the bindings that follow. Ends with its standard input.

use marshaling::{IShop, IStock, Shop, Stock};
use obvia::u16cstr;

fn main() -> obvia::Result<()> {
    let _points = marshaling::register_point()?;
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "shop".to_owned());
    let stock = IStock::from(Stock::new(u16cstr!("apples").to_ucstring()));
    let _export = obvia::export(&name, IShop::from(Shop::new(&stock)?))?;
    drop(stock);
    for binding in words {
        println!("{}", obvia::listen(&binding)?);
    }
    println!("open");
    let _ = std::io::stdin().read_line(&mut String::new());
    Ok(())
}
