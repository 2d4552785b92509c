//! Error information of a failed method. A server sends it beside the HRESULT, in the frame of a
//! fault (docs/flat.md).
//!
//! | offset | bytes | |
//! |---|---|---|
//! | 0 | 4 | the help context |
//! | 4 | 4 | the length of the description |
//! | 8 | 4 | the length of the source |
//! | 12 | 4 | the length of the help file's name |
//! | 16 | | these three texts, in UTF-8, then zeros up to a multiple of 8 |

/// The length of the header before the texts, in bytes.
const HEADER: usize = 16;

/// COM's error information (MS-DCOM 2.2.21). Each text may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The cause of the failure, in words for users.
    pub description: String,
    /// The name of the object or component that failed.
    pub source: String,
    /// The name of the help file.
    pub help_file: String,
    /// The topic in the help file.
    pub help_context: u32,
}

impl Words {
    /// The longest text, in bytes: longer texts are truncated.
    pub const TEXT_MAX: usize = 16 << 10;
    /// The longest accepted frame, in bytes.
    pub const FRAME_MAX: usize = HEADER + 3 * Self::TEXT_MAX;

    /// Whether each text is empty.
    pub fn is_empty(&self) -> bool {
        self.texts().iter().all(|text| text.is_empty())
    }

    fn texts(&self) -> [&str; 3] {
        [&self.description, &self.source, &self.help_file].map(|text| {
            let end = (0..=text.len().min(Self::TEXT_MAX)).rev().find(|&end| text.is_char_boundary(end));
            &text[..end.unwrap_or(0)]
        })
    }

    /// Returns the frame.
    pub fn to_frame(&self) -> Vec<u8> {
        let texts = self.texts();
        let mut frame = self.help_context.to_le_bytes().to_vec();
        texts.iter().for_each(|text| frame.extend((text.len() as u32).to_le_bytes()));
        texts.iter().for_each(|text| frame.extend(text.as_bytes()));
        frame.resize(frame.len().next_multiple_of(8), 0);
        frame
    }

    /// Reads a frame. Returns `None` if the frame is malformed; invalid UTF-8 is replaced.
    pub fn from_frame(frame: &[u8]) -> Option<Self> {
        let (header, texts) = frame.split_first_chunk::<HEADER>()?;
        let number = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let mut rest = texts;
        let mut text = |at| {
            let length = usize::try_from(number(at)).ok().filter(|length| *length <= Self::TEXT_MAX)?;
            let (text, behind) = rest.split_at_checked(length)?;
            rest = behind;
            Some(String::from_utf8_lossy(text).into_owned())
        };
        let (description, source, help_file) = (text(4)?, text(8)?, text(12)?);
        let is_padding = rest.len() < 8 && rest.iter().all(|byte| *byte == 0);
        is_padding.then(|| Self { description, source, help_file, help_context: number(0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Words {
        let [description, source, help_file] = ["die Zahl ist zu groß", "calc", "calc.chm"].map(str::to_owned);
        Words { description, source, help_file, help_context: 7 }
    }

    #[test]
    fn error_information_round_trips() {
        for words in [sample(), Words::default(), Words { source: String::new(), ..sample() }] {
            assert_eq!(Words::from_frame(&words.to_frame()), Some(words));
        }
    }

    #[test]
    fn malformed_error_information_is_refused() {
        let frame = sample().to_frame();
        for length in 0..frame.len() - 7 {
            assert_eq!(Words::from_frame(&frame[..length]), None, "{length}");
        }
        assert_eq!(Words::from_frame(&[frame.clone(), vec![0; 8]].concat()), None);
        for at in [4, 8, 12] {
            let mut wrong = frame.clone();
            wrong[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
            assert_eq!(Words::from_frame(&wrong), None, "{at}");
        }
    }

    #[test]
    fn long_error_texts_are_cut_between_characters() {
        let long = Words { description: "ß".repeat(Words::TEXT_MAX), ..sample() };
        let frame = long.to_frame();
        let read = Words::from_frame(&frame).unwrap();
        assert!(read.description.len() == Words::TEXT_MAX && frame.len() <= Words::FRAME_MAX, "{}", frame.len());
        assert!(read.description.chars().all(|character| character == 'ß'));
    }
}
