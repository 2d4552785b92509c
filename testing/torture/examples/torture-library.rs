//! Factories, for processes that load this library.

use torture::CLASS;
use torture::{Factory, IFactory};

obvia::export_classes! {
    CLASS => || Ok(IFactory::from(Factory::default())),
}
