//! Fuzzes the translation of stub data to frames. An accepted message is encoded again, and has to
//! decode to the same frame.
//!
//! The first three bytes choose the interface, the method, and the message with its format. The
//! fourth byte is the value of all numbers that the message's sizes take from another message. The
//! rest is stub data.

use obvia_idl::Compiler;
use obvia_idl::model::InterfaceId;
use obvia_ndr::ndr::{Format, Method, Numbers, Order, Plan, Syntax};
use std::path::Path;
use std::sync::LazyLock;

/// The longest frame, in bytes.
const FRAME_MAX: usize = 1 << 20;
/// The maximum count of numbers that a message takes from another message.
const NUMBERS: usize = 8;

const INTERFACES: [(&str, &str); 5] = [
    ("matrix/idl/shapes.idl", "IShapes"),
    ("matrix/idl/values.idl", "IValues"),
    ("matrix/idl/deep.idl", "IDeep"),
    ("interop/idl/rpcecho.idl", "rpcecho"),
    ("vectors/ndr/accounts.idl", "accounts"),
];

static PLANS: LazyLock<Vec<(Plan, u16)>> =
    LazyLock::new(|| INTERFACES.iter().map(|(path, name)| plan(path, name)).collect());

/// Returns an interface's plan, and the number of its methods.
fn plan(path: &str, name: &str) -> (Plan, u16) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let model = Compiler::new().check(&path).expect("an IDL file of the repository").model;
    let at = model.interfaces.iter().position(|interface| interface.name == name).expect("it has this interface");
    let methods = model.all_methods(InterfaceId(at)).len();
    (obvia_idl::ndr::plan(&model, InterfaceId(at)).expect("a plan"), methods as u16)
}

/// A message of a method, in a format.
struct Message<'a> {
    plan: &'a Plan,
    method: &'a Method,
    is_request: bool,
    format: Format,
    numbers: Numbers,
}

impl Message<'_> {
    fn decode(&self, stub: &[u8]) -> Option<Vec<u8>> {
        let (plan, format, numbers) = (self.plan, self.format, &self.numbers);
        let mut frame = Vec::new();
        if self.is_request {
            self.method.decode_request(plan, format, stub, FRAME_MAX, &mut frame).ok()?;
        } else {
            let status = self.method.decode_response(plan, format, numbers, stub, FRAME_MAX, &mut frame).ok()?;
            // A failed call has no frame.
            if status.cast_signed() < 0 {
                return None;
            }
        }
        Some(frame)
    }

    fn encode(&self, frame: &[u8]) -> Vec<u8> {
        let (plan, format, numbers) = (self.plan, self.format, &self.numbers);
        let mut stub = vec![0; format.headers];
        let outcome = if self.is_request {
            self.method.encode_request(plan, format, frame, &mut stub)
        } else {
            self.method.encode_response(plan, format, numbers, 0, frame, &mut stub)
        };
        outcome.expect("what was read can be written");
        stub
    }
}

pub fn run(data: &[u8]) {
    let Some((&[interface, method, form, number], stub)) = data.split_first_chunk() else { return };
    let (plan, methods) = &PLANS[usize::from(interface) % PLANS.len()];
    let Some(method) = plan.method(3 + u16::from(method) % methods) else { return };
    let syntax = if form & 1 == 0 { Syntax::Ndr } else { Syntax::Ndr64 };
    let order = if form & 2 == 0 { Order::Little } else { Order::Big };
    let numbers = std::iter::repeat_n(i64::from(number), NUMBERS).collect();
    let format = Format { syntax, order, headers: usize::from(form >> 4) };
    let message = Message { plan, method, is_request: form & 4 == 0, format, numbers };
    let Some(frame) = message.decode(stub) else { return };
    assert!(frame.len() <= FRAME_MAX);
    let again = message.decode(&message.encode(&frame));
    assert_eq!(again.as_deref(), Some(frame.as_slice()));
}
