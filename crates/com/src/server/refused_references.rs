//! Performs OP_LISTED: returns the references in refused one-way calls.

use super::own_call::{current_caller, frame, no_results, serve};
use crate::protocol::own_calls::releases_in;
use crate::types::error::code;
use crate::types::upkeep;
use obvia_rpc::vi_call::{Answer, ServerCall};

/// Records the listed references, which are then given back to the client.
pub(crate) fn return_references(call: &mut ServerCall<'_>) -> Answer {
    serve(call, |call| {
        let given = releases_in(frame(call, 0)?)?;
        let caller = current_caller()?;
        if caller.process().is_some()
            && let Some(number) = caller.number
        {
            let given = given.into_iter().map(|(target, refs)| (target, u32::try_from(refs).unwrap_or(u32::MAX)));
            caller.exporter.clients().add_references_to_return(number, given);
            upkeep::wake();
        }
        Ok(no_results(code::S_OK))
    })
}
