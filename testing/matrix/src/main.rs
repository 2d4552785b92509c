//! Serves the objects under the name that is given, until its standard input ends.

use std::io::Read;

fn main() -> obvia::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "shapes".to_owned());
    let shapes: matrix::IShapes = matrix::shapes::Shapes::default().into();
    let _export = obvia::export(&name, shapes)?;
    println!("serving");
    let _ = std::io::stdin().read(&mut [0]);
    Ok(())
}
