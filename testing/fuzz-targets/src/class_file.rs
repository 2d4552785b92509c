//! Fuzzes the parser of registrations: an accepted registration survives a round trip, and an error
//! names a line of the text.

use obvia::scm::Class;

pub fn run(input: &[u8]) {
    let text = crate::text(input);
    match text.parse::<Class>() {
        Ok(class) => assert_eq!(class.to_string().parse::<Class>().unwrap(), class),
        Err(error) => {
            let detail = error.detail().unwrap();
            let number = detail.strip_prefix("line ").and_then(|rest| rest.split(':').next());
            let is_line = |number: &str| (1..=text.lines().count()).contains(&number.parse().unwrap());
            assert!(number.map_or(detail.starts_with("the line "), is_line), "{detail}");
        }
    }
}
