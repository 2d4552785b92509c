//! Fuzzes the parsers of object references (OBJREF) and of the data of custom references: accepted
//! values survive a round trip.

use obvia::orpc::activation::Properties;
use obvia::orpc::{DualStringArray, ObjRef, ViReference};

pub fn run(bytes: &[u8]) {
    if let Ok(reference) = ObjRef::from_bytes(bytes) {
        assert_eq!(ObjRef::from_bytes(&reference.to_bytes().unwrap()).as_ref(), Ok(&reference));
        if let Some((_, resolver)) = reference.standard() {
            // A string binding survives a round trip, unless it becomes too long with all possible
            // escapes.
            let bindings = resolver.string_bindings().filter(|binding| binding.to_string().len() <= 1024);
            let bindings: Vec<_> = bindings.collect();
            assert_eq!(DualStringArray::new(&bindings).string_bindings().collect::<Vec<_>>(), bindings);
        }
    }
    if let Ok(reference) = ViReference::from_bytes(bytes) {
        assert_eq!(ViReference::from_bytes(&reference.to_bytes().unwrap()).as_ref(), Ok(&reference));
        assert!(reference.standard.standard().is_some());
    }
    for read in [Properties::from_request, Properties::from_answer] {
        if let Ok(properties) = read(bytes) {
            let again = Properties::from_bytes(&properties.to_bytes().unwrap());
            assert_eq!(again.as_ref(), Ok(&properties));
        }
    }
    if let Ok(properties) = Properties::from_bytes(bytes) {
        assert_eq!(Properties::from_request(&properties.to_request().unwrap()).as_ref(), Ok(&properties));
    }
}
