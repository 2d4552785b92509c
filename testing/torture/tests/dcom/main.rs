//! Clients that speak DCOM, and are no processes of obvia's: of a server, and of the service that starts servers for them.

mod factory;
mod remote;
mod stranger;
mod strangers;
