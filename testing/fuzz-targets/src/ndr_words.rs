//! Fuzzes the reader of NDR plans with the words of a plan, and an accepted plan with stub data.
//!
//! The first byte is the number of words. The words follow, one byte each; the rest is stub data.

use obvia_ndr::ndr::{Format, Numbers, Plan, Syntax};

/// The longest frame, in bytes.
const FRAME_MAX: usize = 1 << 16;

pub fn run(data: &[u8]) {
    let Some((length, data)) = data.split_first() else { return };
    let (words, stub) = data.split_at(usize::from(*length).min(data.len()));
    let words: Vec<i64> = words.iter().map(|word| i64::from(word.cast_signed())).collect();
    let Some(plan) = Plan::read(&words) else { return };
    let mut frame = Vec::new();
    for opnum in 0..8 {
        let Some(method) = plan.method(opnum) else { continue };
        for format in [Syntax::Ndr, Syntax::Ndr64].map(Format::ours) {
            if method.decode_request(&plan, format, stub, FRAME_MAX, &mut frame).is_ok() {
                let _ = method.numbers(&frame);
                let _ = method.encode_request(&plan, format, &frame, &mut Vec::new());
            }
            let _ = method.encode_response(&plan, format, &Numbers::default(), u32::MAX, &[], &mut Vec::new());
        }
    }
}
