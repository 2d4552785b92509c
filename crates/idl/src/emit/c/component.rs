//! An interface as programs in C++ have it, with values.

use super::{names, projection};
use crate::emit::component::Component;
use crate::model::{InterfaceId, Model};

/// What an object with an interface implements in C++, as an `obvia::implementation`, and how an `obvia::object` of it is called. The
/// interface is one that [`emit`](super::emit()) does, and neither it nor what it extends is local.
pub fn component(model: &Model, id: InterfaceId) -> Component {
    let interfaces = model.lineage(id).into_iter().map(|id| projection::component(model, id)).collect();
    Component { name: names::interface(model, id), interfaces }
}
