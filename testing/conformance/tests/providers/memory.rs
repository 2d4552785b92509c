//! The reference provider keeps all statements, and so does its variant without RDMA and unreliable
//! delivery.

use obvia_conformance::conformance;
use obvia_conformance::reference::{Flawed, Reference, flaws};

conformance!(memory, Reference);
conformance!(plain, Flawed<flaws::Plain>);
