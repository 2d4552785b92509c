//! Tests of servers and of the service for activation, with DCOM clients of other implementations.

mod factory;
mod remote;
mod stranger;
mod strangers;
