//! Providers with a flaw do not keep the statement about it: the suite can fail.

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
                fn in_another_process() {
                    tasks::main::<Flawed<flaws::$flaw>>();
                }

                #[test]
                fn is_found_out() {
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
    DropsImmediate: s04_immediate_data_arrives_or_is_absent, s29_writes_with_immediate_data_take_one_receive;
    Miscounts: s03_completions_say_what_was_done, s06_an_empty_send_takes_a_receive;
    Reorders: s01_work_queues_complete_in_order, s34_exactly_once_in_order_over_a_bad_wire;
    DeliversTwice: s01_work_queues_complete_in_order, s34_exactly_once_in_order_over_a_bad_wire,
        s36_unreliable_means_at_most_once;
    LosesCredit: s47_fast_senders_are_held;
    Truncates: s14_too_long_for_the_receive;
    WaitsForReceive: s37_no_receive_breaks_reliable_connections;
    EndsOneSide: s14_too_long_for_the_receive, s37_no_receive_breaks_reliable_connections,
        s20_writes_with_wrong_handles_are_refused;
    GoesOn: s39_nothing_behind_an_error_is_done, s38_errors_flush_in_order;
    WritesBeforeCheck: s19_writes_outside_are_refused;
    ChecksNoRight: s21_writes_without_the_right_are_refused;
    ConsumesAlways: s28_writes_pass_unnoticed;
    AcknowledgesEarly: s35_reception_means_in_memory;
    WritesLate: s30_writes_are_there_before_later_sends;
    ReadsStale: s31_reads_bring_what_is_there;
    LeavesQuietly: s42_disconnecting_tells_the_peer;
    WaitsForEver: s43_dead_peers_are_noticed;
    LeaksFiles: s45_a_thousand_connections_leave_nothing;
    Starves: s48_many_vis_get_their_turn;
}
