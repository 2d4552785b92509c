//! Programs that the compiler must refuse: each is a file of `refused/`, with what rustc says beside it.

#[test]
fn what_threads_would_share_wrongly_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
