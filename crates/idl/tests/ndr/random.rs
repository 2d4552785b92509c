//! Round trips of random frames for every method of an interface.

use super::{FORMATS, Interface, Part};
use obvia_idl::model::{InterfaceId, Type};
use obvia_idl::plan::{kinds, plan};
use obvia_idl::shapes::{Shapes, flat};
use obvia_ndr::flat::check::check;
use obvia_ndr::flat::shape::{Block, Class, Element, ElementType, Expr, Extent, Int, Shape, What};
use obvia_ndr::flat::{KIND_FIRST, KIND_INTERFACE, KIND_TEXT8, KIND_TEXT16};
use obvia_ndr::ndr::Numbers;
use std::ops::Range;

/// The number of frames for each message of a method.
const ROUNDS: u64 = 80;
/// The maximum number of elements in an array of a random frame.
const COUNT_MAX: i64 = 40;
/// The number of objects in a frame after which pointers become null.
const OBJECTS_MAX: usize = 60;

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, range: Range<i64>) -> i64 {
        range.start + (self.next() % range.end.abs_diff(range.start)).cast_signed()
    }
}

/// An object whose contents are still to be made.
struct Waiting {
    body: usize,
    kind: u32,
    count: usize,
}

/// A frame under construction, in FLAT's order.
struct Maker<'a> {
    frame: Vec<u8>,
    types: &'static [ElementType],
    outer: &'a [i64],
    random: &'a mut Random,
    waiting: Vec<Waiting>,
}

impl Maker<'_> {
    fn store(&mut self, at: usize, size: usize, value: i64) {
        self.frame[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }

    fn load(&self, at: usize, int: Int) -> Option<i64> {
        let mut bytes = [0; 8];
        bytes[..int.size()].copy_from_slice(&self.frame[at..at + int.size()]);
        int.extend(u64::from_le_bytes(bytes))
    }

    fn evaluate(&self, base: usize, expr: &Expr) -> Option<i64> {
        expr.evaluate(&|at, int| self.load(base + at as usize, int), self.outer)
    }

    /// Gives small values to the members that an expression reads.
    fn choose(&mut self, base: usize, expr: &Expr, values: &[i64]) {
        match expr {
            Expr::Const(_) | Expr::Outer(_) => {}
            Expr::Member(at, int) => {
                let value = values[self.random.next() as usize % values.len()];
                self.store(base + *at as usize, int.size(), value);
            }
            Expr::Unary(_, operand) => self.choose(base, operand, values),
            Expr::Binary(_, left, right) => [left, right].into_iter().for_each(|side| self.choose(base, side, values)),
            Expr::Choose(condition, yes, no) => {
                [condition, yes, no].into_iter().for_each(|part| self.choose(base, part, values));
            }
        }
    }

    /// Chooses valid values for the members that a structure's expressions read.
    fn settle(&mut self, base: usize, shape: &Shape) {
        for part in shape.parts {
            match &part.what {
                What::Pointer { extent: Extent::Counted { size, length }, .. } => {
                    self.choose(base, size, &[0, 1, 2, 3]);
                    length.iter().for_each(|length| self.choose(base, length, &[0, 1, 2]));
                }
                What::Union { tag, arms, default, .. } => {
                    let mut cases: Vec<i64> = arms.iter().flat_map(|(cases, _)| cases.iter().copied()).collect();
                    cases.extend(default.is_some().then_some(99));
                    self.choose(base, tag, &cases);
                }
                _ => {}
            }
        }
    }

    /// Fills a structure. `None` if the choices contradict one another.
    fn shape(&mut self, base: usize, shape: &Shape) -> Option<()> {
        for (at, length) in shape.runs {
            for at in base + *at as usize..base + (*at + *length) as usize {
                self.frame[at] = self.random.next() as u8;
            }
        }
        self.values(base, shape);
        self.settle(base, shape);
        self.pointers(base, shape)
    }

    /// Makes the values that must not be arbitrary bytes.
    fn values(&mut self, base: usize, shape: &Shape) {
        for part in shape.parts {
            let at = base + part.at as usize;
            match &part.what {
                What::Boolean => self.frame[at] &= 1,
                What::Enum(values) => {
                    let value = values[self.random.next() as usize % values.len()];
                    self.store(at, 4, i64::from(value));
                }
                What::Range(int, least, most) => {
                    let value = self.random.below(*least..*most + 1);
                    self.store(at, int.size(), value);
                }
                _ => {}
            }
        }
    }

    fn pointers(&mut self, base: usize, shape: &Shape) -> Option<()> {
        for part in shape.parts {
            let at = base + part.at as usize;
            match &part.what {
                What::Pointer { class, to, extent } => self.pointer(base, at, *class, *to, extent)?,
                What::Object(_) => {
                    let count = self.random.below(0..30) as usize;
                    if count < 20 {
                        self.object(at, KIND_INTERFACE, count, count);
                    }
                }
                What::Inner { count, stride, shape } => {
                    (0..*count).try_for_each(|element| self.shape(at + (element * stride) as usize, shape))?;
                }
                What::Union { tag, arms, default } => {
                    let tag = self.evaluate(base, tag)?;
                    let arm = arms.iter().find(|(cases, _)| cases.contains(&tag)).map(|(_, arm)| arm);
                    self.shape(at, arm.or(default.as_ref())?)?;
                }
                _ => {}
            }
        }
        Some(())
    }

    fn pointer(&mut self, base: usize, at: usize, class: Class, to: Element, extent: &Extent) -> Option<()> {
        let kind = match to {
            Element::Char => KIND_TEXT8,
            Element::Wide => KIND_TEXT16,
            Element::Own(own) => KIND_FIRST + u32::from(own),
        };
        let is_null = self.waiting.len() > OBJECTS_MAX || self.random.next() & 3 == 0;
        if class != Class::Ref && is_null {
            return Some(());
        }
        let mut count = match extent {
            Extent::One => 1,
            Extent::Text => self.random.below(1..6),
            Extent::Counted { size, length } => {
                let size = self.evaluate(base, size)?;
                let count = length.as_ref().map_or(Some(size), |length| self.evaluate(base, length))?;
                Some(count).filter(|count| (0..=size).contains(count) && size <= COUNT_MAX)?
            }
        };
        let known = self.waiting.iter().rfind(|other| other.kind == kind && class == Class::Full);
        if let (Some(known), true, Extent::One) = (known, self.random.next() & 1 == 0, extent) {
            let body = known.body as i64;
            self.store(at, 8, body);
            return Some(());
        }
        let bytes = match to {
            Element::Char => count as usize,
            Element::Wide => 2 * count as usize,
            Element::Own(own) => {
                if self.types[usize::from(own)].tail.is_some() {
                    count = self.random.below(0..5);
                }
                self.types[usize::from(own)].bytes(count as usize)?
            }
        };
        self.object(at, kind, count as usize, bytes);
        Some(())
    }

    fn object(&mut self, at: usize, kind: u32, count: usize, bytes: usize) {
        let body = self.frame.len() + 8;
        self.frame.extend((u64::from(kind) | (count as u64) << 32).to_le_bytes());
        self.frame.resize((body + bytes).next_multiple_of(8), 0);
        self.store(at, 8, body as i64);
        self.waiting.push(Waiting { body, kind, count });
    }

    /// Makes a string of the array to which the slot at `at` points. Zeros follow the string.
    fn end(&mut self, at: usize) {
        let body = u64::from_le_bytes(self.frame[at..at + 8].try_into().unwrap()) as usize;
        let Some(found) = self.waiting.iter().find(|found| found.body == body).filter(|found| found.count > 0) else {
            return;
        };
        let (count, size) = (found.count, self.types[(found.kind - KIND_FIRST) as usize].size as usize);
        let length = self.random.below(0..count as i64) as usize;
        self.frame[body + length * size..body + count * size].fill(0);
        self.frame[body..body + length * size].iter_mut().for_each(|byte| *byte |= 1);
    }

    /// Fills an object.
    fn fill(&mut self, index: usize) -> Option<()> {
        let Waiting { body, kind, count } = self.waiting[index];
        match kind {
            KIND_INTERFACE => (body..body + count).for_each(|at| self.frame[at] = self.random.next() as u8),
            KIND_TEXT8 => (0..count - 1).for_each(|character| self.frame[body + character] = b'a'),
            KIND_TEXT16 => (0..count - 1).for_each(|character| self.store(body + 2 * character, 2, 0x20ac)),
            own => {
                let found = &self.types[(own - KIND_FIRST) as usize];
                let Some(tail) = &found.tail else {
                    let size = found.size as usize;
                    return (0..count).try_for_each(|element| self.shape(body + element * size, &found.shape));
                };
                self.shape(body, &found.shape)?;
                let (Expr::Member(at, int), None) = (&tail.count, &tail.length) else { return None };
                self.store(body + *at as usize, int.size(), count as i64);
                let (at, size) = (body + tail.at as usize, tail.size as usize);
                // Padding bytes of the structure that overlap the array are not checked.
                return (0..count).try_for_each(|element| self.shape(at + element * size, &tail.shape));
            }
        }
        Some(())
    }
}

/// Returns a random frame. `None` if the choices contradict one another.
fn frame(block: &'static Block, types: &'static [ElementType], outer: &[i64], random: &mut Random) -> Option<Vec<u8>> {
    let frame = vec![0; (block.size as usize).next_multiple_of(8)];
    let mut maker = Maker { frame, types, outer, random, waiting: Vec::new() };
    maker.shape(0, &block.shape)?;
    let mut next = 0;
    while next < maker.waiting.len() {
        maker.fill(next)?;
        next += 1;
    }
    let ended = block.shape.parts.iter().filter(|part| matches!(part.what, What::Ended));
    ended.for_each(|part| maker.end(part.at as usize));
    Some(maker.frame)
}

/// Translates random frames of every method in both directions, and returns the number of frames.
fn send(path: &str, name: &str) -> usize {
    let interface = Interface::of(path, name);
    let model = &interface.compilation.model;
    let methods = model.all_methods(InterfaceId(interface.at));
    let kinds: Vec<Type> = kinds(model, &methods);
    let types = flat::types(Shapes { model, kinds: &kinds });
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut sent = 0;
    for method in methods {
        let plan = plan(model, method);
        let (request, _) = plan.block(model, &kinds, true, |_| true);
        let (reply, outer) = plan.block(model, &kinds, false, |_| true);
        let blocks = [(Part::Request, plan.request_block, request), (Part::Reply, plan.reply_block, reply)];
        for (part, size, shape) in blocks.map(|(part, size, shape)| (part, size, flat::block(size, &shape))) {
            let mut made = 0;
            for _ in 0..ROUNDS {
                // The values of the request that the reply's sizes read. IIDs do not occur in
                // sizes.
                let outer: Vec<i64> = outer.iter().map(|_| random.below(0..4)).collect();
                let Some(frame) = frame(shape, types, &outer, &mut random) else { continue };
                if check(&frame, shape, types, &outer).is_err() {
                    continue;
                }
                made += 1;
                there_and_back(&interface, &method.name, part, &outer.into_iter().collect(), &frame);
            }
            assert!(made * 10 > ROUNDS || plan.lent().is_some(), "{}: {made} of {size} bytes", method.name);
            sent += made as usize;
        }
    }
    sent
}

fn there_and_back(interface: &Interface, method: &str, part: Part, numbers: &Numbers, frame: &[u8]) {
    // Stub data after headers may begin at any offset.
    for format in FORMATS.into_iter().flat_map(|format| [format, format.behind(4)]) {
        let said = |error| panic!("{method}: {format:?}: {frame:02x?}: {error}");
        let stub = interface.encode(method, part, format, numbers, frame).unwrap_or_else(said);
        let back = interface.decode(method, part, format, numbers, &stub).unwrap_or_else(said);
        assert_eq!(back, frame, "{method}: {format:?}: {stub:02x?}");
    }
}

#[test]
fn random_frames_round_trip_through_ndr() {
    let sent: usize = [
        ("testing/matrix/idl/shapes.idl", "IShapes"),
        ("testing/matrix/idl/values.idl", "IValues"),
        ("testing/matrix/idl/deep.idl", "IDeep"),
        ("testing/interop/idl/rpcecho.idl", "rpcecho"),
        ("testing/vectors/ndr/accounts.idl", "accounts"),
    ]
    .into_iter()
    .map(|(path, name)| send(path, name))
    .sum();
    assert!(sent > 3000, "{sent} frames");
}
