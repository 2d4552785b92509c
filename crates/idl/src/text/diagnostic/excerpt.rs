//! The source lines that a finding shows. A long line is shown only around the place.

use crate::text::source::{File, Sources, Span};
use annotate_snippets::{AnnotationKind, Group, Origin, Snippet};
use std::borrow::Cow;
use std::ops::Range;

/// The maximum length in bytes of a line that is shown whole.
const LINE_MAX: usize = 240;
/// The maximum size in bytes of the lines from the first shown line to the last.
const STRETCH_MAX: usize = 4096;
/// The number of bytes of a longer line that are shown before the start of a place, and the number
/// of bytes that are shown from that start on.
const AROUND: (usize, usize) = (40, 100);

/// A place and the text under it.
type Marked<'a> = (Span, &'a str);

/// Lines of a file with marked places.
pub(super) struct Excerpt<'a> {
    path: String,
    text: Cow<'a, str>,
    /// The number of the first line.
    line: usize,
    /// The place's column, for a line that is not shown from its start.
    column: Option<usize>,
    marks: Vec<(AnnotationKind, Range<usize>, &'a str)>,
}

impl<'a> Excerpt<'a> {
    /// Returns the excerpts for a finding's place and a related place. If the places are near each
    /// other, both are in a single excerpt.
    pub(super) fn of(sources: &'a Sources, primary: Option<Marked<'a>>, related: Option<Marked<'a>>) -> Vec<Self> {
        let Some(primary) = primary else { return Vec::new() };
        let first = (AnnotationKind::Primary, primary);
        let second = related.map(|related| (AnnotationKind::Context, related));
        let both: Vec<_> = std::iter::once(first).chain(second).collect();
        let is_one_file = both.iter().all(|(_, (span, _))| span.file == primary.0.file);
        if let Some(whole) = is_one_file.then(|| Self::whole(sources.file(primary.0.file), &both)).flatten() {
            return vec![whole];
        }
        let alone = |mark: &(AnnotationKind, Marked<'a>)| {
            let file = sources.file(mark.1.0.file);
            Self::whole(file, std::slice::from_ref(mark)).unwrap_or_else(|| Self::around(file, *mark))
        };
        both.iter().map(alone).collect()
    }

    /// Returns all lines from the first place to the last. `None` if they are too many or too long.
    fn whole(file: &'a File, marks: &[(AnnotationKind, Marked<'a>)]) -> Option<Self> {
        let text = file.text.as_str();
        let ranges = || marks.iter().map(|(_, (span, _))| range(*span, text));
        let from = line_start(text, ranges().map(|range| range.start).min()?);
        let last = ranges().map(|range| range.end).max()?;
        let to = last + text[last..].find('\n').unwrap_or(text.len() - last);
        let shown = &text[from..to];
        if shown.len() > STRETCH_MAX || shown.lines().any(|line| line.len() > LINE_MAX) {
            return None;
        }
        let within = |range: Range<usize>| range.start - from..range.end - from;
        let marks = marks.iter().map(|(kind, (span, label))| (*kind, within(range(*span, text)), *label)).collect();
        let line = line_number(text, from);
        Some(Self { path: file.path.display().to_string(), text: Cow::Borrowed(shown), line, column: None, marks })
    }

    /// Returns a part of the line in which a place begins.
    fn around(file: &'a File, (kind, (span, label)): (AnnotationKind, Marked<'a>)) -> Self {
        let text = file.text.as_str();
        let place = range(span, text);
        let from = line_start(text, place.start);
        let end = place.start + text[place.start..].find('\n').unwrap_or(text.len() - place.start);
        let first = text.floor_char_boundary(place.start.saturating_sub(AROUND.0).max(from));
        let last = text.floor_char_boundary((place.start + AROUND.1).min(end));
        let (before, after) = (if first > from { "..." } else { "" }, if last < end { "..." } else { "" });
        let shown = format!("{before}{}{after}", &text[first..last]);
        let start = place.start - first + before.len();
        let marked = start..start + (place.end.min(last) - place.start);
        Self {
            path: file.path.display().to_string(),
            text: Cow::Owned(shown),
            line: line_number(text, from),
            column: (first > from).then(|| text[from..place.start].chars().count() + 1),
            marks: vec![(kind, marked, label)],
        }
    }

    /// Adds the excerpt to the output.
    pub(super) fn show<'s>(&'s self, group: Group<'s>) -> Group<'s> {
        let mut snippet = Snippet::source(&*self.text).line_start(self.line);
        for (kind, place, label) in &self.marks {
            snippet = snippet.annotation(kind.span(place.clone()).label((!label.is_empty()).then_some(*label)));
        }
        match self.column {
            None => group.element(snippet.path(self.path.as_str())),
            Some(column) => {
                let origin = Origin::path(self.path.as_str()).line(self.line).char_column(column);
                group.element(origin).element(snippet)
            }
        }
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

fn line_number(text: &str, at: usize) -> usize {
    text[..at].bytes().filter(|&byte| byte == b'\n').count() + 1
}

/// Returns a span in bytes, on character boundaries.
fn range(span: Span, text: &str) -> Range<usize> {
    let start = text.floor_char_boundary(span.start as usize);
    start..text.floor_char_boundary(span.end as usize).max(start)
}
