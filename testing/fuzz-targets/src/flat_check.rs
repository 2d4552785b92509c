//! Fuzzes the check of frames that have structures with pointers. An accepted frame is converted to
//! such structures and read completely: the check has to be right about every pointer.
//!
//! The first byte chooses the method; the rest is the frame of its request.

// The generated code's tables are private to its module, so their users are inside of it.
#[allow(non_camel_case_types, non_snake_case, non_upper_case_globals, unused, clippy::all)]
mod idl {
    include!(concat!(env!("OUT_DIR"), "/shapes.rs"));

    use obvia::rt::{Arguments, Layout, shape};
    use std::fmt::{self, Write};

    /// A writer that drops its input. It fails after 100,000 bytes, because lists may be endless.
    struct Nowhere(usize);

    impl Write for Nowhere {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.len();
            if self.0 < 100_000 { Ok(()) } else { Err(fmt::Error) }
        }
    }

    fn look(value: impl fmt::Debug) {
        let _ = write!(Nowhere(0), "{value:?}");
    }

    fn arguments(frame: &[u8], block: &'static shape::Block) -> Option<Arguments> {
        // SAFETY: the callers pass blocks that the compiler generated for these types.
        unsafe { Arguments::of_bytes(frame, Layout { block, types: &IShapes_TYPES }) }.ok()
    }

    /// The number of methods.
    pub const METHODS: u8 = 12;

    /// Returns the layout of a method's request. The first methods are those of [`request`].
    pub fn layout(method: u8) -> Layout {
        let blocks: [&shape::Block; METHODS as usize] = [
            &IShapes_Sum_REQUEST,
            &IShapes_Insert_REQUEST,
            &IShapes_Walk_REQUEST,
            &IShapes_Average_REQUEST,
            &IShapes_Describe_REQUEST,
            &IShapes_Choose_REQUEST,
            &IShapes_Flip_REQUEST,
            &IShapes_Put_REQUEST,
            &IShapes_Words_REQUEST,
            &IShapes_Shared_REQUEST,
            &IShapes_Reverse_REQUEST,
            &IShapes_Bump_REQUEST,
        ];
        Layout { block: blocks[usize::from(method % METHODS)], types: &IShapes_TYPES }
    }

    /// Reads the frame of a method's request.
    ///
    /// The offsets and types are those of the parameters: see the comments on the stubs.
    pub fn request(method: u8, frame: &[u8]) -> Option<()> {
        // SAFETY: each parameter is read with the type of the method's declaration, from a frame
        // that was checked against the same declaration.
        unsafe {
            match method % 9 {
                0 => look(arguments(frame, &IShapes_Sum_REQUEST)?.get::<Option<&Item<'_>>>(0)),
                1 => look(&*arguments(frame, &IShapes_Insert_REQUEST)?.place::<Tree<'_>>(0)),
                2 => {
                    let mut arguments = arguments(frame, &IShapes_Walk_REQUEST)?;
                    let mut node = arguments.get::<Option<&Node<'_>>>(0);
                    for _ in 0..1000 {
                        look(node?);
                        node = node?.first().or(node?.second());
                    }
                }
                3 => look(&*arguments(frame, &IShapes_Average_REQUEST)?.place::<Samples<'_>>(0)),
                4 => {
                    let mut arguments = arguments(frame, &IShapes_Describe_REQUEST)?;
                    let kind = arguments.get::<i32>(0);
                    look((*arguments.place::<AnyRaw<'_>>(8)).get(kind.into()));
                }
                5 => look((*arguments(frame, &IShapes_Choose_REQUEST)?.place::<ChoiceMemory<'_>>(0)).get()),
                6 => look(&*arguments(frame, &IShapes_Flip_REQUEST)?.place::<Box_<'_>>(0)),
                7 => {
                    let mut arguments = arguments(frame, &IShapes_Put_REQUEST)?;
                    let count = arguments.get::<u32>(0) as usize;
                    look(std::slice::from_raw_parts(arguments.get::<*const Entry<'_>>(8), count));
                }
                _ => {
                    let mut arguments = arguments(frame, &IShapes_Words_REQUEST)?;
                    let count = arguments.get::<u32>(0) as usize;
                    look(std::slice::from_raw_parts(arguments.get::<*const obvia::Wide<'_>>(8), count));
                }
            }
        }
        Some(())
    }
}

pub(crate) use idl::{METHODS, layout};

pub fn run(input: &[u8]) {
    if let Some((method, frame)) = input.split_first() {
        let _ = idl::request(*method, frame);
    }
}
