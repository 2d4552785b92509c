//! Fuzzes the parser of string bindings: an accepted binding survives a round trip, and has no
//! option twice.

use obvia_rpc::string_binding::StringBinding;

pub fn run(input: &[u8]) {
    let text = crate::text(input);
    let Ok(binding) = text.parse::<StringBinding>() else { return };
    assert_eq!(binding.to_string().parse(), Ok(binding.clone()), "{text}");
    for (at, (name, _)) in binding.options.iter().enumerate() {
        assert!(binding.options[..at].iter().all(|(other, _)| other != name), "{text}");
    }
}
