//! Fuzzes the conversion of frames to Automation's values. An accepted value is converted to every
//! type, and has to be the same after another round trip.
//!
//! The first byte chooses the method; the rest is the frame of its request.

// The generated code's tables are private to its module, so their users are inside of it.
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, unused, clippy::all)]
mod idl {
    include!(concat!(env!("OUT_DIR"), "/notes.rs"));

    use obvia::automation::vt;
    use obvia::rt::{Arguments, Automation, Layout, Wires, shape};
    use obvia::{Bstr, SafeArray, Variant};

    /// The numbers of all types, and the number after the greatest type.
    const TYPES: std::ops::Range<u16> = 0..vt::UINT + 2;

    fn arguments(frame: &[u8], block: &'static shape::Block) -> Option<Arguments> {
        // SAFETY: the callers pass blocks that the compiler generated for these types.
        unsafe { Arguments::of_bytes(frame, Layout { block, types: &INotes_TYPES }) }.ok()
    }

    /// Returns the argument at the offset `at`, after another round trip.
    fn value<T: Automation + PartialEq + std::fmt::Debug>(arguments: &mut Arguments, at: usize) -> Option<T> {
        // SAFETY: the frame was checked against the method's declaration.
        let value = unsafe { T::from_wire(arguments.get(at)) }.ok()?;
        let mut wires = Wires::lent();
        // An accepted value can be sent again, unless it is nested too deeply.
        if let Ok(wire) = value.to_wire(&mut wires) {
            // SAFETY: `wire` was just created by `to_wire` of the same type.
            let again = unsafe { T::from_wire(wire) }.expect("what is sent can be received");
            // The texts are compared, because a NaN does not equal itself.
            let texts = [&value, &again].map(|value| format!("{value:?}"));
            assert_eq!(texts[0], texts[1]);
        }
        Some(value)
    }

    fn convert(value: &Variant) {
        for vt in TYPES {
            let _ = value.change_type(vt);
            let _ = value.change_type(vt | vt::ARRAY);
        }
    }

    /// Reads the frame of a method's request.
    ///
    /// The offsets are those of the parameters: see the comments on the stubs.
    pub fn request(method: u8, frame: &[u8]) -> Option<()> {
        match method % 3 {
            0 => {
                let mut arguments = arguments(frame, &INotes_Add_REQUEST)?;
                let title: Bstr = value(&mut arguments, 0)?;
                convert(&title.into());
                convert(&value(&mut arguments, 8)?);
            }
            1 => {
                let mut arguments = arguments(frame, &INotes_Import_REQUEST)?;
                let titles: SafeArray = value(&mut arguments, 0)?;
                titles.to_variants().expect("elements can be copied").iter().for_each(convert);
            }
            _ => {
                value::<Bstr>(&mut arguments(frame, &INotes_Complete_REQUEST)?, 0)?;
            }
        }
        Some(())
    }
}

pub fn run(input: &[u8]) {
    if let Some((method, frame)) = input.split_first() {
        let _ = idl::request(*method, frame);
    }
}
