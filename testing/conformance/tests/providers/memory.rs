//! The reference provider fulfils all statements of the conformance suite, and so does its variant
//! without RDMA and unreliable delivery.

use obvia_conformance::conformance;
use obvia_conformance::reference::{Flawed, Reference, flaws};

conformance!(memory, Reference);
conformance!(plain, Flawed<flaws::Plain>);
