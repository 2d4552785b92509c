//! Connection points and their containers as COM objects.

use super::enumerators::{connection_points, connections};
use super::idl::{
    IConnectionPoint, IConnectionPoint_Impl, IConnectionPointContainer, IConnectionPointContainer_Impl,
    IEnumConnectionPoints, IEnumConnections,
};
use super::point::AnyPoint;
use super::sinks::Point;
use crate::types::agile::Agile;
use crate::types::error::{Error, Result, code};
use std::sync::Arc;
use windows_core::{ComObjectInterface, GUID, IUnknown, IUnknownImpl};

/// Objects with events. A type `#[obvia::object(ITicker, IConnectionPointContainer)] struct Ticker`
/// has events by `impl ConnectionPoints for Ticker_Impl`.
pub trait ConnectionPoints:
    IUnknownImpl<Impl: Send + Sync + 'static> + ComObjectInterface<IConnectionPointContainer>
{
    /// Returns the connection points, one for each interface.
    fn connection_points(&self) -> Vec<&dyn AnyPoint>;
}

impl<T: ConnectionPoints> IConnectionPointContainer_Impl for T {
    fn EnumConnectionPoints(&self) -> Result<IEnumConnectionPoints> {
        let points = self.connection_points();
        enumerate_points(&self.to_interface(), points.iter().map(|point| point.point()))
    }

    fn FindConnectionPoint(&self, iid: &GUID) -> Result<IConnectionPoint> {
        let points = self.connection_points();
        find_point(&self.to_interface(), points.iter().map(|point| point.point()), iid)
    }
}

/// Performs EnumConnectionPoints of a container with these connection points.
///
/// # Errors
///
/// E_INVALIDARG for a container that belongs to a thread.
pub fn enumerate_points<'a>(
    container: &IConnectionPointContainer,
    points: impl Iterator<Item = &'a Arc<Point>>,
) -> Result<IEnumConnectionPoints> {
    connection_points(points.map(|point| object(point, container)).collect::<Result<_>>()?)
}

/// Performs FindConnectionPoint of a container with these connection points.
///
/// # Errors
///
/// CONNECT_E_NOCONNECTION without a point for the interface; E_INVALIDARG for a container that
/// belongs to a thread.
pub fn find_point<'a>(
    container: &IConnectionPointContainer,
    mut points: impl Iterator<Item = &'a Arc<Point>>,
    iid: &GUID,
) -> Result<IConnectionPoint> {
    let found = points.find(|point| point.info.iid == *iid).ok_or_else(|| {
        let text = format!("the object has no connection point for {{{iid:?}}}");
        Error::new(code::CONNECT_E_NOCONNECTION, text)
    })?;
    object(found, container)
}

/// Returns a connection point as an object for clients. The object keeps its container alive; the
/// container does not keep the object.
fn object(point: &Arc<Point>, container: &IConnectionPointContainer) -> Result<IConnectionPoint> {
    Ok(PointObject { point: Arc::clone(point), container: Agile::new(container)? }.into())
}

#[obvia::object(IConnectionPoint)]
struct PointObject {
    point: Arc<Point>,
    container: Agile<IConnectionPointContainer>,
}

impl IConnectionPoint_Impl for PointObject_Impl {
    fn GetConnectionInterface(&self) -> Result<GUID> {
        Ok(self.point.info.iid)
    }

    fn GetConnectionPointContainer(&self) -> Result<IConnectionPointContainer> {
        Ok(self.container.get().clone())
    }

    fn Advise(&self, sink: Option<&IUnknown>) -> Result<u32> {
        self.point.advise(sink.ok_or(code::E_POINTER)?)
    }

    fn Unadvise(&self, cookie: u32) -> Result<()> {
        self.point.unadvise(cookie)
    }

    fn EnumConnections(&self) -> Result<IEnumConnections> {
        connections(self.point.connections())
    }
}
