//! Connection points and their containers as COM objects.

use super::enumerators::{connection_points, connections};
use super::idl::{
    IConnectionPoint, IConnectionPoint_Impl, IConnectionPointContainer, IConnectionPointContainer_Impl,
    IEnumConnectionPoints, IEnumConnections,
};
use super::point::AnyPoint;
use super::sinks::Point;
use crate::error::{Error, Result, code};
use std::sync::Arc;
use windows_core::{ComObjectInterface, GUID, IUnknown, IUnknownImpl, implement};

/// Objects that tell of events: `#[implement(ITicker, IConnectionPointContainer)] struct Ticker` is one by
/// `impl ConnectionPoints for Ticker_Impl`.
pub trait ConnectionPoints: IUnknownImpl + ComObjectInterface<IConnectionPointContainer> {
    /// Its connection points, one for each interface.
    fn connection_points(&self) -> Vec<&dyn AnyPoint>;
}

impl<T: ConnectionPoints> IConnectionPointContainer_Impl for T {
    fn EnumConnectionPoints(&self) -> Result<IEnumConnectionPoints> {
        let container: IConnectionPointContainer = self.to_interface();
        let points = self.connection_points().into_iter();
        connection_points(points.map(|point| object(point.point(), &container)).collect())
    }

    fn FindConnectionPoint(&self, iid: &GUID) -> Result<IConnectionPoint> {
        let mut points = self.connection_points().into_iter();
        match points.find(|point| point.point().info.iid == *iid) {
            Some(point) => Ok(object(point.point(), &self.to_interface())),
            None => {
                let text = format!("the object has no connection point for {{{iid:?}}}");
                Err(Error::new(code::CONNECT_E_NOCONNECTION, text))
            }
        }
    }
}

/// A connection point for those who want to be connected. It keeps its container alive, which does not keep it.
fn object(point: &Arc<Point>, container: &IConnectionPointContainer) -> IConnectionPoint {
    PointObject { point: Arc::clone(point), container: container.clone() }.into()
}

#[implement(IConnectionPoint)]
struct PointObject {
    point: Arc<Point>,
    container: IConnectionPointContainer,
}

impl IConnectionPoint_Impl for PointObject_Impl {
    fn GetConnectionInterface(&self) -> Result<GUID> {
        Ok(self.point.info.iid)
    }

    fn GetConnectionPointContainer(&self) -> Result<IConnectionPointContainer> {
        Ok(self.container.clone())
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
