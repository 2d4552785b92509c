//! RDMA.
