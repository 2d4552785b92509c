//! HTML text. Markup comes only from this crate. Each text of an IDL file is escaped.

use std::fmt::Write;

/// A page under construction.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Adds markup of this crate.
    pub(super) fn markup(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Adds a text, between tags or as the value of a quoted attribute.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for one in text.chars() {
            match one {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '"' => self.0.push_str("&quot;"),
                '\'' => self.0.push_str("&#39;"),
                '\r' => {}
                '\n' | '\t' => self.0.push(one),
                one if is_hidden(one) => self.0.push(char::REPLACEMENT_CHARACTER),
                one => self.0.push(one),
            }
        }
        self
    }

    /// Adds a number.
    pub(super) fn number(&mut self, number: impl Into<i128>) -> &mut Self {
        let _ = write!(self.0, "{}", number.into());
        self
    }

    /// Adds an element with a text. `open` and `close` are the element's tags.
    pub(super) fn within(&mut self, open: &'static str, text: &str, close: &'static str) -> &mut Self {
        self.markup(open).text(text).markup(close)
    }

    /// Adds a text as code.
    pub(super) fn code(&mut self, text: &str) -> &mut Self {
        self.within("<code>", text, "</code>")
    }

    /// Adds a link to a page of the same folder.
    pub(super) fn link(&mut self, href: &str, text: &str) -> &mut Self {
        self.markup("<a href=\"").text(href).markup("\">").text(text).markup("</a>")
    }

    /// Begins an element with an id. `tag` is the start tag without its end, such as `<section`.
    pub(super) fn anchored(&mut self, tag: &'static str, anchor: &str) -> &mut Self {
        self.markup(tag).markup(" id=\"").text(anchor).markup("\">")
    }

    /// Begins a table with these headings.
    pub(super) fn table(&mut self, headings: &[&'static str]) -> &mut Self {
        self.markup("<div class=\"wide\"><table><thead><tr>");
        for heading in headings {
            self.within("<th scope=\"col\">", heading, "</th>");
        }
        self.markup("</tr></thead><tbody>\n")
    }

    /// Ends a table.
    pub(super) fn table_end(&mut self) -> &mut Self {
        self.markup("</tbody></table></div>\n")
    }

    /// Adds a row to a table of properties. The first cell is the property's name, and `fill`
    /// writes the second cell.
    pub(super) fn property(&mut self, name: &'static str, fill: impl FnOnce(&mut Self)) -> &mut Self {
        self.within("<tr><th scope=\"row\">", name, "</th><td>");
        fill(self);
        self.markup("</td></tr>\n")
    }

    /// Returns the text.
    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// Whether a character is a control, a bidirectional override, invisible, or not a Unicode
/// character.
pub(super) fn is_hidden(one: char) -> bool {
    let is_invisible = matches!(
        one,
        '\u{ad}'
            | '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    );
    let is_none = matches!(one, '\u{fdd0}'..='\u{fdef}') || u32::from(one) & 0xfffe == 0xfffe;
    one.is_control() || is_invisible || is_none
}

/// Returns a text as a literal of JavaScript that is also valid within a page of HTML.
pub(super) fn script_text(text: &str) -> String {
    let mut literal = "\"".to_owned();
    for one in text.chars() {
        let is_special = matches!(one, '"' | '\'' | '\\' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        if is_special || is_hidden(one) {
            let mut units = [0; 2];
            for unit in one.encode_utf16(&mut units) {
                let _ = write!(literal, "\\u{unit:04x}");
            }
        } else {
            literal.push(one);
        }
    }
    literal + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_within_their_element_and_attribute() {
        let mut html = Html::default();
        html.link("a\"b", "</a><script>'&\u{0}\u{1b}\u{202e}\r\n");
        for hidden in "\u{ad}\u{61c}\u{200b}\u{200f}\u{2029}\u{2060}\u{feff}\u{e0041}".chars() {
            assert!(is_hidden(hidden), "{hidden:?}");
        }
        let expected = "<a href=\"a&quot;b\">&lt;/a&gt;&lt;script&gt;&#39;&amp;\u{fffd}\u{fffd}\u{fffd}\n</a>";
        assert_eq!(html.finish(), expected);
    }

    #[test]
    fn literals_end_neither_their_script_nor_themselves() {
        assert_eq!(script_text("a</script>\"\\\u{2028}\n😀"), r#""a\u003c/script\u003e\u0022\u005c\u2028\u000a😀""#);
    }
}
