//! What clients that speak DCOM, and are no processes of obvia's, find here: in a server, and in the service that starts servers for them.

mod remote;
mod stranger;
mod strangers;
