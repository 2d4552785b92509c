//! Fuzzes the parser of the texts that describe a method's failure: an accepted frame survives a
//! round trip. The bytes are the same if the texts are UTF-8.

use obvia_rpc::vi_call::Words;

pub fn run(bytes: &[u8]) {
    let Some(words) = Words::from_frame(bytes) else { return };
    let frame = words.to_frame();
    assert!(frame.len() <= Words::FRAME_MAX && frame.len().is_multiple_of(8), "{} bytes", frame.len());
    if bytes.len().is_multiple_of(8) && str::from_utf8(&bytes[16..]).is_ok() && is_split_between_characters(bytes) {
        assert_eq!(frame, bytes);
    }
    // A replacement character takes three bytes. A text with such characters may exceed the limit,
    // and is then cut.
    let again = Words::from_frame(&frame).expect("what was written is read");
    for (text, whole) in
        [(&again.description, &words.description), (&again.source, &words.source), (&again.help_file, &words.help_file)]
    {
        let is_whole = whole.len() <= Words::TEXT_MAX;
        assert!(whole.starts_with(text.as_str()) && (text == whole) == is_whole, "{whole:?} became {text:?}");
    }
    assert_eq!(again.help_context, words.help_context);
}

/// Whether no text ends within a character.
fn is_split_between_characters(frame: &[u8]) -> bool {
    let length = |at: usize| frame[at..at + 4].iter().rev().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
    let ends = [4, 8, 12].iter().scan(16, |end, &at| {
        *end += length(at);
        Some(*end)
    });
    // A continuation byte of a character begins with the bits 10.
    ends.into_iter().all(|end| frame.get(end).is_none_or(|byte| byte & 0xc0 != 0x80))
}
