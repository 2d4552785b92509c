//! The fifty statements, a function each. A function returns if the provider keeps the statement,
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
            s01_work_queues_complete_in_order s02_vis_do_not_hold_each_other_up s03_completions_say_what_was_done
            s04_immediate_data_arrives_or_is_absent s05_gather_and_scatter s06_an_empty_send_takes_a_receive
            s07_poll_never_blocks s08_waits_are_for_their_own_vi s09_completion_queues_tell_all_once
            s10_queues_choose_their_completion_queues s11_a_full_completion_queue_says_so
            s12_idle_vis_take_receives_and_fail_sends s13_the_longest_transfer_and_one_byte_more
            s14_too_long_for_the_receive s15_malformed_descriptors_are_refused s16_segments_outside_fail_here
            s17_other_tags_fail_here s18_deregistered_handles_fail s19_writes_outside_are_refused
            s20_writes_with_wrong_handles_are_refused s21_writes_without_the_right_are_refused
            s22_writes_to_other_tags_are_refused s23_reads_are_checked_alike s24_regions_in_use_stay
            s25_tags_in_use_stay s26_vis_in_use_stay s27_completion_queues_in_use_stay
            s28_writes_pass_unnoticed s29_writes_with_immediate_data_take_one_receive
            s30_writes_are_there_before_later_sends s31_reads_bring_what_is_there s32_absent_rdma_read_is_an_error
            s33_levels_must_agree s34_exactly_once_in_order_over_a_bad_wire s35_reception_means_in_memory
            s36_unreliable_means_at_most_once s37_no_receive_breaks_reliable_connections s38_errors_flush_in_order
            s39_nothing_behind_an_error_is_done s40_connections_are_asked_for_and_answered s41_transfer_sizes_are_settled
            s42_disconnecting_tells_the_peer s43_dead_peers_are_noticed s44_vis_can_be_connected_again
            s45_a_thousand_connections_leave_nothing s46_a_thread_for_each_queue s47_fast_senders_are_held
            s48_many_vis_get_their_turn s49_much_data_arrives_as_it_was s50_all_ways_to_wait_are_alike
        }
    };
    (@ $each:path, $with:ty, $($name:ident)*) => { $( $each!($name, $with); )* };
}
