//! Objects: COM interfaces called in process, across processes and across hosts.
