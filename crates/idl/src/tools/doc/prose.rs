//! Documentation comments as HTML: paragraphs, lists, and the usual commands of javadoc and
//! doxygen.

use super::html::Html;

/// A comment in its parts.
#[derive(Debug, Default)]
pub(super) struct Prose<'c> {
    /// The paragraphs and list items before the first command, in order.
    body: Vec<Block<'c>>,
    /// The texts of `@param`, each with the parameter's name.
    params: Vec<(&'c str, Vec<&'c str>)>,
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
enum Place {
    /// A new paragraph.
    Between,
    /// The last block.
    Body,
    /// The last text of a parameter.
    Param,
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

    /// Adds a line, and returns the destination of the next line.
    fn line(&mut self, line: &'c str, place: Place) -> Place {
        if line.is_empty() {
            return Place::Between;
        }
        if let Some((command, rest)) = command(line) {
            match command {
                "param" => {
                    let (name, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                    self.params.push((name, vec![text.trim()]));
                    return Place::Param;
                }
                "return" | "returns" | "result" => {
                    self.returns.push(rest);
                    return Place::Returns;
                }
                "brief" | "details" => {
                    self.body.push(Block { is_item: false, lines: vec![rest] });
                    return Place::Body;
                }
                // Another command ends the text of a parameter, unless it only marks a word.
                "a" | "b" | "c" | "e" | "em" | "n" | "p" | "ref" | "" => {}
                _ if matches!(place, Place::Param | Place::Returns) => {
                    self.body.push(Block { is_item: false, lines: vec![line] });
                    return Place::Body;
                }
                _ => {}
            }
        }
        if let Some(item) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) {
            self.body.push(Block { is_item: true, lines: vec![item.trim()] });
            return Place::Body;
        }
        let lines = match place {
            Place::Param => self.params.last_mut().map(|(_, lines)| lines),
            Place::Returns => Some(&mut self.returns),
            Place::Body => self.body.last_mut().map(|block| &mut block.lines),
            Place::Between => None,
        };
        match lines {
            Some(lines) => lines.push(line),
            None => {
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
        let found = self.params.iter().filter(|(of, _)| *of == name);
        found.flat_map(|(_, lines)| lines).copied().collect::<Vec<_>>().join(" ")
    }

    /// Returns the whole comment in one line, for cells of tables.
    pub(super) fn cell(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for block in &self.body {
            parts.push(format!("{}{}", if block.is_item { "- " } else { "" }, block.lines.join(" ")));
        }
        parts.extend(self.params.iter().map(|(name, lines)| format!("`{name}`: {}", lines.join(" "))));
        if !self.returns.is_empty() {
            parts.push(format!("Returns: {}", self.returns.join(" ")));
        }
        parts.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Adds the comment without the texts of the parameters that another part of the page shows.
    pub(super) fn write(&self, html: &mut Html, is_shown: impl Fn(&str) -> bool) {
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
        for (name, lines) in self.params.iter().filter(|(name, _)| !is_shown(name)) {
            html.markup("<p>").code(name).markup(": ");
            inline(html, &lines.join("\n"));
            html.markup("</p>\n");
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

/// Returns the command at the beginning of a line, and the text after the command. `@param[in]` is
/// the command `param`. `None` if the line begins with no command.
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
        prose.write(&mut html, |name| name == "at");
        let expected = "<p>Reads <code>n</code> bytes, e.g. of a file. More.</p>\n<ul>\n<li>one\nand on</li>\n<li>&lt;two&gt;</li>\n</ul>\n<p>Returns: the rest\nof it</p>\n";
        assert_eq!(html.finish(), expected);
        assert_eq!((prose.param("at").as_str(), prose.param("n").as_str()), ("the place", ""));
        assert_eq!(prose.summary(), "Reads `n` bytes, e.g. of a file.");
    }

    #[test]
    fn no_text_is_lost() {
        let prose = Prose::of("\\brief Reads.\n@param nosuch a\n\\c word\n@see IFoo\n@param at b");
        let mut html = Html::default();
        prose.write(&mut html, |name| name == "at");
        assert_eq!(html.finish(), "<p>Reads.</p>\n<p>@see IFoo</p>\n<p><code>nosuch</code>: a\n\\c word</p>\n");
        assert_eq!(prose.cell(), "Reads. @see IFoo `nosuch`: a \\c word `at`: b");
    }
}
