//! Each provider with a flaw fails the statement about that flaw, which shows that the suite can
//! fail.

use obvia_conformance::reference::{Flawed, flaws};
use obvia_conformance::{statements, tasks, watchdog};

macro_rules! breaks {
    ($($flaw:ident: $($statement:ident),+;)*) => {
        /// The task that the suite starts in another process.
        #[expect(non_snake_case, reason = "modules are named after flaws")]
        mod in_process {
            $(mod $flaw {
                use super::super::*;

                #[test]
                fn task_of_another_process() {
                    tasks::main::<Flawed<flaws::$flaw>>();
                }

                #[test]
                fn the_flaw_is_detected() {
                    obvia_conformance::set_patience(5);
                    $(
                        let outcome = watchdog::run::<Flawed<flaws::$flaw>>(module_path!(), statements::$statement);
                        let why = outcome.expect_err(concat!(stringify!($flaw), " passes ", stringify!($statement)));
                        println!("{}: {}: {why}", stringify!($flaw), stringify!($statement));
                    )+
                }
            })*
        }
    };
}

breaks! {
    DropsImmediate: s04_immediate_data_arrives_or_is_absent, s29_rdma_writes_with_immediate_data_consume_one_receive;
    Miscounts: s03_completions_report_the_operation, s06_an_empty_send_consumes_a_receive;
    Reorders: s01_work_queues_complete_in_order, s34_reliable_messages_arrive_once_and_in_order_over_a_bad_wire;
    DeliversTwice: s01_work_queues_complete_in_order, s34_reliable_messages_arrive_once_and_in_order_over_a_bad_wire,
        s36_unreliable_messages_arrive_at_most_once;
    LosesCredit: s47_fast_senders_do_not_overrun_slow_receivers;
    Truncates: s14_messages_longer_than_their_receive_fail;
    WaitsForReceive: s37_messages_without_a_receive_break_reliable_connections;
    EndsOneSide: s14_messages_longer_than_their_receive_fail, s37_messages_without_a_receive_break_reliable_connections,
        s20_rdma_writes_with_wrong_handles_are_refused;
    GoesOn: s39_no_operation_behind_an_error_is_performed, s38_errors_flush_descriptors_in_order;
    WritesBeforeCheck: s19_rdma_writes_out_of_region_bounds_are_refused;
    ChecksNoRight: s21_rdma_writes_without_the_right_are_refused;
    ConsumesAlways: s28_rdma_writes_consume_no_receive;
    AcknowledgesEarly: s35_reliable_reception_completes_after_the_data_is_in_memory;
    WritesLate: s30_rdma_writes_are_visible_before_later_sends;
    ReadsStale: s31_rdma_reads_return_the_current_bytes;
    LeavesQuietly: s42_disconnecting_notifies_the_peer;
    WaitsForEver: s43_dead_peers_are_detected;
    LeaksFiles: s45_connections_leak_nothing;
    Starves: s48_many_vis_are_served_fairly;
}
