//! Virtual interfaces: memory regions, queues and wires, without a kernel on the path.
