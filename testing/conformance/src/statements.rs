//! The fifty statements, a function each. A function returns if the provider fulfils the statement,
//! and panics with the reason if not.

mod completion;
mod connection;
mod destruction;
pub mod load;
mod loss;
mod memory;
mod process;
mod queues;
mod rdma;
mod reliability;
mod sizes;

pub use completion::*;
pub use connection::*;
pub use destruction::*;
pub use load::*;
pub use loss::*;
pub use memory::*;
pub use process::*;
pub use queues::*;
pub use rdma::*;
pub use reliability::*;
pub use sizes::*;

/// Calls a macro with the name of every statement, and the other arguments.
#[macro_export]
macro_rules! for_each_statement {
    ($each:path, $with:ty) => {
        $crate::for_each_statement! { @ $each, $with,
            s01_work_queues_complete_in_order s02_vis_do_not_block_each_other s03_completions_report_the_operation
            s04_immediate_data_arrives_or_is_absent s05_segments_are_gathered_and_scattered s06_an_empty_send_consumes_a_receive
            s07_poll_never_blocks s08_waits_return_completions_of_their_own_vi s09_completion_queues_report_each_completion_once
            s10_each_work_queue_has_its_own_completion_queue s11_a_full_completion_queue_reports_the_overflow
            s12_idle_vis_accept_receives_and_fail_sends s13_only_transfers_up_to_the_maximum_length_succeed
            s14_messages_longer_than_their_receive_fail s15_malformed_descriptors_are_refused s16_segments_out_of_region_bounds_are_refused_locally
            s17_segments_of_other_tags_are_refused_locally s18_use_of_deregistered_regions_is_refused s19_rdma_writes_out_of_region_bounds_are_refused
            s20_rdma_writes_with_wrong_handles_are_refused s21_rdma_writes_without_the_right_are_refused
            s22_rdma_writes_to_other_tags_are_refused s23_rdma_reads_are_checked_like_writes s24_regions_in_use_cannot_be_deregistered
            s25_protection_tags_in_use_cannot_be_destroyed s26_vis_in_use_cannot_be_destroyed s27_completion_queues_in_use_cannot_be_destroyed
            s28_rdma_writes_consume_no_receive s29_rdma_writes_with_immediate_data_consume_one_receive
            s30_rdma_writes_are_visible_before_later_sends s31_rdma_reads_return_the_current_bytes s32_absent_rdma_read_is_an_error
            s33_reliability_levels_must_agree s34_reliable_messages_arrive_once_and_in_order_over_a_bad_wire s35_reliable_reception_completes_after_the_data_is_in_memory
            s36_unreliable_messages_arrive_at_most_once s37_messages_without_a_receive_break_reliable_connections s38_errors_flush_descriptors_in_order
            s39_no_operation_behind_an_error_is_performed s40_connections_are_requested_and_accepted_or_rejected s41_the_smaller_transfer_size_is_negotiated
            s42_disconnecting_notifies_the_peer s43_dead_peers_are_detected s44_vis_can_be_connected_again
            s45_connections_leak_nothing s46_each_work_queue_can_have_its_own_thread s47_fast_senders_do_not_overrun_slow_receivers
            s48_many_vis_are_served_fairly s49_large_volumes_of_data_arrive_unchanged s50_all_waiting_modes_have_the_same_effects
        }
    };
    (@ $each:path, $with:ty, $($name:ident)*) => { $( $each!($name, $with); )* };
}
