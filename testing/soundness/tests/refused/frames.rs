//! Safe code can receive calls, but cannot keep the frame of a reply.

fn keep(call: &mut obvia::rt::ServerCall<'_>) -> Option<obvia::rt::ReplyFrame> {
    let mut kept = None;
    let _ = obvia::rt::serve(call, |stub| {
        kept = Some(stub.reply(obvia::rt::Measure::block(8))?); //~ error[E0133]: call to unsafe function `obvia::marshal::stub::<impl obvia::rt::StubCall<'a, 'b>>::reply` is unsafe and requires unsafe block
        Ok(obvia::rt::no_results(obvia::rt::code::S_OK))
    });
    kept
}

fn main() {}
