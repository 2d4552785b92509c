//! Tests of the report: the choice of a row's baseline, and the form of all three outputs.

use super::*;
use crate::Histogram;
use serde_json::Value;
use std::time::Duration;

const TWO: Placement = Placement { client: 0, server: 1 };

fn measured(case: &'static str, bytes: usize, path: Path, wait: Wait, took: f64) -> Measured {
    let mut stamped = Histogram::new();
    stamped.record(Duration::from_nanos(took as u64));
    Measured {
        label: Label { case, bytes, at_once: 1, path, wait },
        batches: vec![took, took + 1.0, took - 1.0],
        stamped,
        failure: None,
    }
}

fn report(placement: Placement, measured: Vec<Measured>) -> Report {
    report_of(Measurement::CallLatency, placement, measured)
}

fn report_of(measurement: Measurement, placement: Placement, measured: Vec<Measured>) -> Report {
    Report::new(measurement, machine(placement), Some(placement), measured)
}

fn machine(placement: Placement) -> Machine {
    Machine {
        cpu: "A & B <\"CPU\">".to_owned(),
        kernel: "Linux 6".to_owned(),
        cores: 2,
        placement: placement.to_string(),
    }
}

fn everything() -> Vec<Measured> {
    vec![
        measured("null", 0, Path::RawLine, Wait::Poll, 100.0),
        measured("null", 0, Path::RawLine, Wait::PollPause, 80.0),
        measured("null", 0, Path::RawFutex, Wait::Block, 30_000.0),
        measured("null", 0, Path::Unix, Wait::Poll, 4_000.0),
        measured("null", 0, Path::Unix, Wait::Block, 20_000.0),
        measured("MoveData", 8192, Path::RawCopy, Wait::Poll, 900.0),
        measured("MoveData", 8192, Path::RawCopy, Wait::PollPause, 1_000.0),
        measured("MoveData", 64, Path::RawCopy, Wait::Poll, 90.0),
        measured("null", 0, Path::NcacnViShm, Wait::Poll, 88.0),
        measured("pfs_open", 16, Path::NcacnViShm, Wait::Adaptive, 96.0),
        measured("null", 0, Path::NcacnViShm, Wait::Block, 33_000.0),
        measured("MoveData", 8192, Path::NcacnViShm, Wait::Poll, 1_080.0),
        measured("MoveData", 4096, Path::NcacnViShm, Wait::Poll, 1_080.0),
    ]
}

#[test]
fn each_report_row_has_the_baseline_of_its_waiting_mode() {
    let report = report(TWO, everything());
    let ratio = |index: usize| report.rows[index].ratio_p50.map(|ratio| (ratio * 100.0).round() / 100.0);
    assert_eq!(ratio(1), Some(1.0), "the better raw line is its own baseline");
    assert_eq!(ratio(0), Some(1.25));
    assert_eq!(ratio(8), Some(1.1), "null, poll: the better raw line");
    assert_eq!(ratio(9), Some(1.2), "four integers, adaptive: the same");
    assert_eq!(ratio(10), Some(1.1), "block: futex");
    assert_eq!(ratio(11), Some(1.2), "8 KiB: the better copy of as much");
    assert_eq!(ratio(12), None, "4 KiB: no such baseline was measured");
}

#[test]
fn on_one_processor_the_blocking_unix_socket_is_the_baseline() {
    let report = report(Placement { client: 1, server: 1 }, everything());
    assert_eq!(report.rows[8].raw_p50_ns, Some(20_000.0));
    assert_eq!(report.rows[10].raw_p50_ns, Some(20_000.0));
}

#[test]
fn json_has_exactly_the_promised_form() {
    let document: Value = serde_json::from_str(&json(&report(TWO, everything()))).unwrap();
    let keys = |value: &Value| -> Vec<String> {
        let mut keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(&document), ["machine", "rows"]);
    assert_eq!(keys(&document["machine"]), ["cores", "cpu", "kernel", "placement"]);
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 13);
    for row in rows {
        let expected = ["bytes", "case", "p50_ns", "p99_ns", "path", "ratio_p50", "raw_p50_ns", "wait"];
        assert_eq!(keys(row), expected);
        assert!(row["p50_ns"].as_f64().unwrap() > 0.0 && row["p99_ns"].as_f64().unwrap() > 0.0);
    }
    let null = &rows[8];
    assert_eq!(null["case"], "null");
    assert_eq!(null["path"], "ncacn_vi_shm");
    assert_eq!(null["wait"], "poll");
    assert_eq!(null["ratio_p50"], 1.1);
    assert!(rows[12]["ratio_p50"].is_null());
}

#[test]
fn names_in_json_are_those_of_the_table() {
    for path in Path::ALL {
        assert_eq!(serde_json::to_value(path).unwrap(), path.name());
    }
    for wait in [Wait::Adaptive, Wait::Block, Wait::Poll, Wait::PollPause] {
        assert_eq!(serde_json::to_value(wait).unwrap(), wait.name());
    }
}

#[test]
fn the_table_is_aligned_and_names_failures() {
    let mut all = everything();
    all[11].failure = Some(crate::Error::PeerDied { status: None });
    let text = table(&report(TWO, all));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("A & B"), "{text}");
    let rows = &lines[2..2 + 13];
    assert!(rows.iter().all(|row| row.len() <= rows[0].len()), "{text}");
    let ratio_ends = rows.iter().filter(|row| row.len() == rows[0].len()).count();
    assert_eq!(ratio_ends, 13, "the ratio is the last column, to the right:\n{text}");
    assert!(text.contains("FAILED: MoveData of 8192 bytes over ncacn_vi_shm (poll): the other process ended"));
}

#[test]
fn the_plot_is_well_formed_and_within_its_frame() {
    let svg = plot(&report(TWO, everything())).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let named = |name: &'static str| document.descendants().filter(move |node| node.has_tag_name(name));
    assert_eq!(document.root_element().tag_name().name(), "svg");
    assert_eq!(named("polyline").count(), 3, "copy twice, obvia once");
    let points = || named("circle").filter(|circle| circle.has_children());
    assert_eq!(points().count(), 5);
    for circle in points() {
        let number = |name| circle.attribute(name).unwrap().parse::<f64>().unwrap();
        assert!((80.0..=670.0).contains(&number("cx")), "{circle:?}");
        assert!((70.0..=500.0).contains(&number("cy")), "{circle:?}");
    }
    assert!(named("text").any(|text| text.text() == Some("ncacn_vi_shm poll")));
}

#[test]
fn pfs_reads_are_compared_with_local_reads_and_plotted_per_transfer() {
    let all = vec![
        measured("pfs_read", 4096, Path::Pread, Wait::Poll, 500.0),
        measured("pfs_read", 4096, Path::NcacnViShm, Wait::Poll, 1000.0),
        measured("pfs_read_shared", 4096, Path::NcacnViShm, Wait::Poll, 750.0),
        measured("pfs_read_lent", 4096, Path::NcacnViShm, Wait::Poll, 800.0),
        measured("pfs_read", 4096, Path::Unix, Wait::Block, 9000.0),
        measured("pfs_read", 8192, Path::Unix, Wait::Block, 9000.0),
    ];
    let report = report_of(Measurement::Reread, TWO, all);
    let ratios: Vec<_> = report.rows.iter().map(|row| row.ratio_p50).collect();
    assert_eq!(ratios, [Some(1.0), Some(2.0), Some(1.5), Some(1.6), Some(18.0), None]);
    let svg = plot(&report).unwrap();
    for name in
        ["pread poll", "ncacn_vi_shm poll", "ncacn_vi_shm poll, shared", "ncacn_vi_shm poll, lent", "unix block"]
    {
        assert!(svg.contains(&format!(">{name}</text>")), "{name}");
    }
    assert!(table(&report).contains("per read"));
}

#[test]
fn plots_need_at_least_one_size() {
    let one = report(TWO, vec![measured("MoveData", 64, Path::Unix, Wait::Block, 1_000.0)]);
    let svg = plot(&one).unwrap();
    assert!(roxmltree::Document::parse(&svg).is_ok() && !svg.contains("NaN") && !svg.contains("inf"));
    let none = report(TWO, vec![measured("null", 0, Path::Unix, Wait::Block, 1_000.0)]);
    assert!(plot(&none).is_none());
}

#[test]
fn report_times_have_three_or_four_digits() {
    let cases = [(0.4, "0 ns"), (104.6, "105 ns"), (1_234.0, "1.23 us"), (45_678.0, "45.7 us"), (456_700.0, "457 us")];
    for (nanoseconds, text) in cases {
        assert_eq!(super::table::time(nanoseconds), text);
    }
    let longer = [(3_456_000.0, "3.46 ms"), (12_345e3, "12.3 ms"), (456_700e3, "457 ms"), (1_234e6, "1.23 s")];
    for (nanoseconds, text) in longer {
        assert_eq!(super::table::time(nanoseconds), text);
    }
}

#[test]
fn reports_warn_if_the_machine_changed_during_the_run() {
    let mut line = measured("null", 0, Path::RawLine, Wait::Poll, 100.0);
    line.batches = vec![100.0; 20];
    line.batches[7] = 9_000.0;
    assert!(report(TWO, vec![line]).warnings.is_empty(), "one slow batch is nothing");
    let mut line = measured("null", 0, Path::RawLine, Wait::Poll, 100.0);
    line.batches = [vec![100.0; 10], vec![470.0; 10]].concat();
    let report = report(TWO, vec![line]);
    assert_eq!(report.warnings.len(), 1);
    assert!(table(&report).contains("100 ns to 470 ns per call"));
}

fn at_once(number: u32, mut measured: Measured) -> Measured {
    measured.label.at_once = number;
    measured
}

#[test]
fn messages_over_a_network_are_compared_with_datagrams_and_longer_ones_with_tcp() {
    let mebibyte = 1 << 20;
    let report = report_of(
        Measurement::SendLatency,
        TWO,
        vec![
            measured("send", 64, Path::Udp, Wait::Poll, 6_000.0),
            measured("send", 64, Path::Udp, Wait::Block, 40_000.0),
            measured("send", mebibyte, Path::Tcp, Wait::Poll, 500_000.0),
            measured("send", mebibyte, Path::Tcp, Wait::Block, 800_000.0),
            measured("send", 64, Path::RawCopy, Wait::Poll, 100.0),
            measured("send", 64, Path::ViUdp, Wait::Adaptive, 9_000.0),
            measured("send", 64, Path::ViUdp, Wait::Block, 60_000.0),
            measured("send", mebibyte, Path::ViUdp, Wait::Block, 1_600_000.0),
            measured("send", 64, Path::ViShm, Wait::Poll, 300.0),
        ],
    );
    let ratios: Vec<_> = report.rows.iter().map(|row| row.ratio_p50.unwrap()).collect();
    assert_eq!(ratios, [1.0, 1.0, 1.0, 1.0, 1.0, 1.5, 1.5, 2.0, 3.0]);
    assert!(table(&report).contains("round trip"));
}

#[test]
fn bandwidth_is_compared_with_a_copy_or_a_stream_of_as_much() {
    let report = report_of(
        Measurement::Bandwidth,
        TWO,
        vec![
            measured("write", 4096, Path::Memcpy, Wait::Poll, 500.0),
            measured("write", 64, Path::Memcpy, Wait::Poll, 5.0),
            measured("write", 4096, Path::TcpStream, Wait::Poll, 2_000.0),
            measured("write", 4096, Path::TcpStream, Wait::Block, 2_500.0),
            at_once(16, measured("write", 4096, Path::ViShm, Wait::Block, 1_000.0)),
            at_once(16, measured("write", 4096, Path::ViUdp, Wait::Poll, 4_000.0)),
            at_once(16, measured("write", 4096, Path::ViUdp, Wait::Block, 5_000.0)),
        ],
    );
    let raw: Vec<_> = report.rows.iter().map(|row| row.raw_p50_ns.unwrap()).collect();
    assert_eq!(raw, [500.0, 5.0, 2_000.0, 2_500.0, 500.0, 2_000.0, 2_500.0]);
    let document: Value = serde_json::from_str(&json(&report)).unwrap();
    let row = &document["rows"][4];
    assert_eq!(row["bytes_per_s"], 4_096e6, "4096 bytes in 1000 ns");
    assert_eq!((&row["depth"], &row["ratio_p50"], &row["p50_ns"]), (&16.into(), &2.0.into(), &1_000.0.into()));
    assert!(row.get("threads").is_none() && row.get("calls_per_s").is_none(), "{row}");
    let text = table(&report);
    assert!(text.contains(" depth ") && text.contains(" 4096 "), "{text}");
    assert!(roxmltree::Document::parse(&plot(&report).unwrap()).is_ok());
}

#[test]
fn calls_of_several_threads_are_compared_with_those_of_one() {
    let report = report_of(
        Measurement::CallRate,
        TWO,
        vec![
            measured("null", 0, Path::NcacnViShm, Wait::Block, 40_000.0),
            at_once(4, measured("null", 0, Path::NcacnViShm, Wait::Block, 20_000.0)),
            at_once(4, measured("null", 0, Path::NcacnViUdp, Wait::Block, 20_000.0)),
        ],
    );
    let ratios: Vec<_> = report.rows.iter().map(|row| row.ratio_p50).collect();
    assert_eq!(ratios, [Some(1.0), Some(0.5), None]);
    let document: Value = serde_json::from_str(&json(&report)).unwrap();
    assert_eq!(document["rows"][1]["calls_per_s"], 50_000.0);
    assert_eq!(document["rows"][1]["threads"], 4);
    assert!(document["rows"][1].get("depth").is_none());
    let svg = plot(&report).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    assert_eq!(document.descendants().filter(|node| node.has_tag_name("circle") && node.has_children()).count(), 3);
    assert!(table(&report).contains(" threads "));
}

#[test]
fn charts_draw_measurements_of_other_programs() {
    let measured = "copy, checked,10,20.5\ncopy, checked,5000,300\nview <all>,10,18\n";
    let svg = drawn("Arrays", &machine(TWO), measured).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let count = |name| document.descendants().filter(|node| node.has_tag_name(name)).count();
    assert_eq!((count("polyline"), count("circle")), (2, 3 + 2));
    assert!(svg.contains("<title>copy, checked, 5000 bytes: 300 ns</title>"), "{svg}");
    for (wrong, said) in
        [("", "nothing to draw"), ("a,1,2\nb,1", "line 2 is no"), ("a,0,1", "line 1"), ("a,1,NaN", "line 1")]
    {
        let error = drawn("Arrays", &machine(TWO), wrong).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}
