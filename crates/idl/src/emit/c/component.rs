//! Interfaces as C++ programs see them, with values.

use super::{names, projection};
use crate::emit::component::Component;
use crate::model::{InterfaceId, Model};

/// Returns an interface's methods: their declarations for an `obvia::implementation`, and calls of
/// them on an `obvia::object`. [`emit`](super::emit()) must support the interface. Neither the
/// interface nor its base interfaces may be local.
pub fn component(model: &Model, id: InterfaceId) -> Component {
    let interfaces = model.lineage(id).into_iter().map(|id| projection::component(model, id)).collect();
    Component { name: names::interface(model, id), interfaces }
}
