//! Exports a shop under the name in the first argument, and a till under NAME-till. Listens at the
//! bindings in the other arguments. Ends when its standard input ends.

use marshaling::{IShop, IStock, ITill, Shop, Stock, Till};
use obvia::u16cstr;

fn main() -> obvia::Result<()> {
    let _points = marshaling::register_point()?;
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "shop".to_owned());
    let stock = IStock::from(Stock::new(u16cstr!("apples").to_ucstring()));
    let shop = IShop::from(Shop::new(&stock)?);
    let _exports = (obvia::export(&format!("{name}-till"), ITill::from(Till::new()))?, obvia::export(&name, shop)?);
    drop(stock);
    for binding in words {
        println!("{}", obvia::listen(&binding)?);
    }
    println!("open");
    let _ = std::io::stdin().read_line(&mut String::new());
    Ok(())
}
