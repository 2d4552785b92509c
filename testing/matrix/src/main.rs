//! Serves the objects, under the name that is given and what they are, until its standard input ends: on this host, and at the string
//! binding that is given.

use std::io::Read;

fn main() -> obvia::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "matrix".to_owned());
    let shapes: matrix::IShapes = matrix::shapes::Shapes::default().into();
    let values: matrix::IValues = matrix::values::Values.into();
    let _exports =
        (obvia::export(&format!("{name}-shapes"), shapes)?, obvia::export(&format!("{name}-values"), values)?);
    if let Some(binding) = std::env::args().nth(2) {
        println!("{}", obvia::listen(&binding)?);
    }
    println!("serving");
    let _ = std::io::stdin().read(&mut [0]);
    Ok(())
}
