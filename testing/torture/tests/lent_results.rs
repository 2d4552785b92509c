//! Test that lent results stay unchanged until they are dropped, whatever else the thread does.

use torture::process::Directory;

const PROGRAM: &str = env!("CARGO_BIN_EXE_torture-process");

#[test]
fn lent_results_stay_unchanged_until_they_are_dropped() {
    for way in ["adaptive", "block", "poll"] {
        let directory = Directory::new();
        let mut server = directory.start(PROGRAM, &[]);
        server.good("export name");
        let mut client = directory.start(PROGRAM, &[way]);
        client.good("connect name");
        client.good("make 1");
        for results in [1, 2, 7] {
            client.good(&format!("keep-lent {results}"));
        }
        client.good("keep-lent-to-end");
        client.good("keep-lent 3");
        assert_eq!(client.good("add 1"), "1", "{way}");
    }
}
