//! Documentation comments as HTML: paragraphs, lists, and the usual commands of javadoc and
//! doxygen.

use super::html::Html;
use std::collections::HashMap;

/// A comment in its parts.
#[derive(Debug, Default)]
pub(super) struct Prose<'c> {
    /// The paragraphs and list items before the first command, in order.
    body: Vec<Block<'c>>,
    /// The texts of `@param`, by the parameter's name.
    params: HashMap<&'c str, Vec<&'c str>>,
    /// The texts of `@return`.
    returns: Vec<&'c str>,
}

/// A part of a comment: its lines.
#[derive(Debug)]
struct Block<'c> {
    is_item: bool,
    lines: Vec<&'c str>,
}

/// The destination of the next line.
#[derive(Clone, Copy)]
enum Place<'c> {
    /// A new paragraph.
    Between,
    /// The last block.
    Body,
    Param(&'c str),
    Returns,
}

impl<'c> Prose<'c> {
    /// Divides a comment into its parts.
    pub(super) fn of(comment: &'c str) -> Self {
        let mut prose = Self::default();
        let mut place = Place::Between;
        for line in comment.lines().map(str::trim) {
            place = prose.line(line, place);
        }
        prose
    }

    /// Adds a line, and returns the place of the next one.
    fn line(&mut self, line: &'c str, place: Place<'c>) -> Place<'c> {
        if line.is_empty() {
            return Place::Between;
        }
        if let Some((command, rest)) = command(line) {
            match command {
                "param" => {
                    let (name, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                    self.params.entry(name).or_default().push(text.trim());
                    return Place::Param(name);
                }
                "return" | "returns" | "result" => {
                    self.returns.push(rest);
                    return Place::Returns;
                }
                "brief" | "details" => {
                    self.body.push(Block { is_item: false, lines: vec![rest] });
                    return Place::Body;
                }
                _ => {}
            }
        }
        if let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
            self.body.push(Block { is_item: true, lines: vec![item.trim()] });
            return Place::Body;
        }
        match (place, self.body.last_mut()) {
            (Place::Param(name), _) => self.params.entry(name).or_default().push(line),
            (Place::Returns, _) => self.returns.push(line),
            (Place::Body, Some(block)) => block.lines.push(line),
            (Place::Body | Place::Between, _) => {
                self.body.push(Block { is_item: false, lines: vec![line] });
                return Place::Body;
            }
        }
        place
    }

    /// Returns the first sentence, for lists of declarations.
    pub(super) fn summary(&self) -> String {
        let Some(first) = self.body.first() else { return String::new() };
        let text = first.lines.join(" ");
        let end = text.match_indices(". ").map(|(at, _)| at + 1).find(|end| !is_abbreviation(&text[..*end]));
        text[..end.unwrap_or(text.len())].to_owned()
    }

    /// Returns the text of a parameter. Empty if there is none.
    pub(super) fn param(&self, name: &str) -> String {
        self.params.get(name).map_or_else(String::new, |lines| lines.join(" "))
    }

    /// Adds the comment without the texts of its parameters.
    pub(super) fn write(&self, html: &mut Html) {
        let mut is_list = false;
        for block in &self.body {
            if block.is_item != is_list {
                html.markup(if is_list { "</ul>\n" } else { "<ul>\n" });
                is_list = block.is_item;
            }
            html.markup(if is_list { "<li>" } else { "<p>" });
            inline(html, &block.lines.join("\n"));
            html.markup(if is_list { "</li>\n" } else { "</p>\n" });
        }
        if is_list {
            html.markup("</ul>\n");
        }
        if !self.returns.is_empty() {
            html.markup("<p>Returns: ");
            inline(html, &self.returns.join("\n"));
            html.markup("</p>\n");
        }
    }
}

/// Whether a text ends in an abbreviation, whose full stop ends no sentence.
fn is_abbreviation(text: &str) -> bool {
    ["e.g.", "i.e.", "cf."].iter().any(|end| text.ends_with(end))
}

/// Returns the command at the beginning of a line, and the text behind it. `@param[in]` is the
/// command `param`.
fn command(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix(['@', '\\'])?;
    let end = rest.find(|one: char| !one.is_ascii_alphabetic()).unwrap_or(rest.len());
    let (name, mut rest) = rest.split_at(end);
    if let Some((_, behind)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        rest = behind;
    }
    Some((name, rest.trim()))
}

/// Adds a text in which the parts between two backticks are code.
pub(super) fn inline(html: &mut Html, text: &str) {
    let mut rest = text;
    while let Some((before, (code, behind))) =
        rest.split_once('`').and_then(|(before, rest)| Some((before, rest.split_once('`')?)))
    {
        html.text(before).code(code);
        rest = behind;
    }
    html.text(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_become_paragraphs_lists_and_texts_of_parameters() {
        let comment = "Reads `n` bytes, e.g. of a file. More.\n\n- one\n  and on\n- <two>\n\n@param[in] at the\nplace\n@return the rest\nof it";
        let prose = Prose::of(comment);
        let mut html = Html::default();
        prose.write(&mut html);
        let expected = "<p>Reads <code>n</code> bytes, e.g. of a file. More.</p>\n<ul>\n<li>one\nand on</li>\n<li>&lt;two&gt;</li>\n</ul>\n<p>Returns: the rest\nof it</p>\n";
        assert_eq!(html.finish(), expected);
        assert_eq!((prose.param("at").as_str(), prose.param("n").as_str()), ("the place", ""));
        assert_eq!(prose.summary(), "Reads `n` bytes, e.g. of a file.");
    }
}
