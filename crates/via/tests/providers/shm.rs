//! Virtual interfaces with descriptors over shared memory, by the public interface.

mod connections;
mod hostile;
mod messages;
mod processes;
mod rdma;
mod scene;
