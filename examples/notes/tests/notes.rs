//! Tests of notes in this process and in another one, by their interface and by name.

use ground::Process;
use notes::{INotes, Notes};
use obvia::automation::{DISPATCH_METHOD, DISPATCH_PROPERTYGET, Value, vt};
use obvia::{Bstr, HRESULT, IDispatch, Interface, SafeArray, Variant, code};
use std::process::Command;

/// A server process. The process is killed when the value is dropped.
struct Server {
    _process: Process,
    name: String,
}

impl Server {
    fn start() -> Self {
        let name = ground::fresh_name("notes");
        let mut process = Process::start(Command::new(env!("CARGO_BIN_EXE_notes-server")).arg(&name));
        assert_eq!(process.line(), format!("serving {name}"));
        Self { _process: process, name }
    }
}

/// Runs a test with notes of this process, and then with notes of another process.
fn with_both(test: impl Fn(INotes)) {
    test(Notes::default().into());
    let server = Server::start();
    test(obvia::connect(&server.name).unwrap());
}

fn failure<T: std::fmt::Debug>(outcome: obvia::Result<T>) -> HRESULT {
    outcome.unwrap_err().code()
}

#[test]
fn methods_accept_variants_of_every_type() {
    with_both(|notes| {
        let values = [
            Value::Empty,
            Value::Null,
            Value::I1(-1),
            Value::I2(i16::MIN),
            Value::I4(7),
            Value::I8(i64::MIN),
            Value::Ui1(255),
            Value::Ui2(0xffff),
            Value::Ui4(u32::MAX),
            Value::Ui8(u64::MAX),
            Value::R4(1.5),
            Value::R8(-0.1),
            Value::Bool(true),
            Value::Error(code::E_FAIL),
            Value::Currency(obvia::automation::Currency(-12_345)),
            Value::Date(2.5),
            Value::Decimal(obvia::automation::Decimal { scale: 3, negative: true, high: 1, low: 2 }),
            Value::Text(Bstr::from("text")),
            Value::Text(Bstr::from_bytes(b"odd").unwrap()),
            Value::Unknown(None),
            Value::Dispatch(None),
            Value::Array(SafeArray::of(&[1.5_f64, 2.5]).unwrap()),
        ];
        for (at, value) in (1..).zip(values) {
            assert_eq!(notes.Add(&"value".into(), &value.clone().into()).unwrap(), at);
            assert_eq!(notes.get_Item(&at.into()).unwrap().value().unwrap(), value);
        }
    });
}

#[test]
fn arrays_keep_their_bounds_and_elements() {
    use obvia::automation::Bound;
    with_both(|notes| {
        let bounds = [Bound { count: 2, lower: -1 }, Bound { count: 3, lower: 5 }];
        for vt in
            [vt::I1, vt::UI1, vt::BOOL, vt::UI2, vt::INT, vt::R4, vt::ERROR, vt::CY, vt::DATE, vt::BSTR, vt::VARIANT]
        {
            let mut array = SafeArray::with_bounds(vt, &bounds).unwrap();
            if vt != vt::ERROR {
                array.set(&[0, 6], &Variant::from(1_i8)).unwrap();
            }
            let number = notes.Add(&"array".into(), &array.clone().into()).unwrap();
            assert_eq!(notes.get_Item(&number.into()).unwrap().value().unwrap(), Value::Array(array));
        }
        let empty = SafeArray::of::<u8>(&[]).unwrap();
        let nested = SafeArray::of_variants(vt::VARIANT, &[empty.into(), "x".into()]).unwrap();
        let number = notes.Add(&"nested".into(), &nested.clone().into()).unwrap();
        assert_eq!(notes.get_Item(&number.into()).unwrap(), nested.into());
    });
}

#[test]
fn results_and_changed_arguments_are_returned() {
    with_both(|notes| {
        let mut text = Bstr::from("one");
        notes.Complete(&mut text).unwrap();
        assert_eq!(text, *"one, and so on");
        let titles = SafeArray::of_variants(vt::VARIANT, &["a".into(), 5_i32.into()]).unwrap();
        let mut last = Variant::from("before");
        assert_eq!(notes.Import(&titles, &mut last).unwrap(), (-1, 2));
        assert_eq!(last, 5_i32.into());
        assert_eq!(notes.get_Item(&"a".into()).unwrap(), "before".into());
        assert_eq!(notes.get_Item(&"5".into()).unwrap(), "a".into());
        let found = notes.Find(&Bstr::new(), 1).unwrap();
        assert_eq!((found.vt(), found.to_variants().unwrap()), (vt::BSTR, vec!["a".into()]));
        assert_eq!(notes.Import(&SafeArray::null(), &mut last).unwrap(), (0, 0));
        assert_eq!(failure(notes.get_Item(&"none".into())), code::E_INVALIDARG);
    });
}

#[test]
fn objects_are_passed_in_variants() {
    with_both(|notes| {
        let mine: INotes = Notes::default().into();
        mine.Add(&"mine".into(), &1_i32.into()).unwrap();
        assert_eq!(notes.Merge(Some(&mine)).unwrap(), 1);
        let section = notes.Section(&"mine".into()).unwrap();
        section.Add(&"within".into(), &Variant::dispatch(Some(mine.cast().unwrap()))).unwrap();
        let held = section.get_Item(&"within".into()).unwrap();
        assert_eq!(held.vt(), vt::DISPATCH);
        assert_eq!(held.object().unwrap().cast::<INotes>().unwrap().get_Count().unwrap(), 1);
        let objects = SafeArray::of_variants(vt::UNKNOWN, &[mine.cast::<obvia::IUnknown>().unwrap().into()]).unwrap();
        section.put_Item(&"within".into(), &objects.into()).unwrap();
        let held = section.get_Item(&"within".into()).unwrap();
        let object = held.as_array().unwrap().get(&[0]).unwrap().object().unwrap();
        assert_eq!(object, mine.cast().unwrap(), "it came home");
    });
}

#[test]
fn note_members_are_called_by_name() {
    with_both(|notes| {
        let notes: IDispatch = notes.cast().unwrap();
        assert_eq!(notes.call("add", &["one".into()]).unwrap(), 1_i32.into());
        assert_eq!(notes.call("ADD", &["two".into(), "2".into()]).unwrap(), 2_i32.into());
        assert_eq!(notes.get("count", &[]).unwrap(), 2_i32.into());
        assert_eq!(notes.get("Item", &[1_i32.into()]).unwrap(), Variant::new());
        notes.put("Item", &["one".into()], 1.5_f64.into()).unwrap();
        assert_eq!(notes.get("Item", &["one".into()]).unwrap(), 1.5_f64.into());
        let found = notes.call("Find", &["o".into()]).unwrap();
        assert_eq!(found, SafeArray::of_variants(vt::BSTR, &["one".into(), "two".into()]).unwrap().into());
        // Texts of numbers are coerced to numbers, and numbers to texts.
        assert_eq!(notes.call("Find", &["o".into(), "1".into()]).unwrap().as_array().unwrap().len(), 1);
        assert_eq!(notes.call("Add", &[7_i32.into()]).unwrap(), 3_i32.into());
        assert_eq!(notes.get("Item", &["7".into()]).unwrap(), Variant::new());
        let section = notes.call("Section", &["one".into()]).unwrap();
        let section: IDispatch = section.object().unwrap().cast().unwrap();
        assert_eq!(section.get("Count", &[]).unwrap(), 0_i32.into());
        assert_eq!(notes.call("Merge", &[section.into()]).unwrap(), 0_i32.into());
    });
}

#[test]
fn arguments_can_be_passed_by_name() {
    with_both(|notes| {
        let notes: IDispatch = notes.cast().unwrap();
        let ids = notes.ids(&["Find", "most", "TEXT"]).unwrap();
        assert_eq!(ids, [3, 1, 0]);
        for title in ["a", "ab", "abc"] {
            notes.call("Add", &[title.into()]).unwrap();
        }
        let named = [(ids[1], 2_i32.into()), (ids[2], "b".into())];
        assert_eq!(notes.invoke(ids[0], DISPATCH_METHOD, &[], &named).unwrap().as_array().unwrap().len(), 2);
        let mixed = notes.invoke(ids[0], DISPATCH_METHOD, &["b".into()], &[(1, 1_i32.into())]).unwrap();
        assert_eq!(mixed.as_array().unwrap().len(), 1);
        let twice = notes.invoke(ids[0], DISPATCH_METHOD, &["b".into()], &[(0, "c".into())]);
        assert_eq!(failure(twice), code::DISP_E_BADPARAMCOUNT);
        let unknown = notes.invoke(ids[0], DISPATCH_METHOD, &["b".into()], &[(9, "c".into())]);
        assert_eq!(failure(unknown), code::DISP_E_PARAMNOTFOUND);
    });
}

#[test]
fn arguments_by_reference_are_changed() {
    with_both(|notes| {
        let notes: IDispatch = notes.cast().unwrap();
        let id = notes.ids(&["Complete"]).unwrap()[0];
        let mut text = Bstr::from("one");
        // SAFETY: the text outlives the argument, and nothing else uses the text while the argument
        // exists.
        let argument = unsafe { Variant::by_reference(vt::BSTR, (&raw mut text).cast()) };
        notes.invoke(id, DISPATCH_METHOD, &[argument], &[]).unwrap();
        assert_eq!(text, *"one, and so on");
        let mut last = Variant::from("before");
        let (mut any, titles) = (0_i16, SafeArray::of_variants(vt::VARIANT, &["a".into()]).unwrap());
        let arguments = [
            titles.into(),
            // SAFETY: as above.
            unsafe { Variant::by_reference(vt::VARIANT, (&raw mut last).cast()) },
            // SAFETY: as above.
            unsafe { Variant::by_reference(vt::BOOL, (&raw mut any).cast()) },
        ];
        assert_eq!(notes.call("Import", &arguments).unwrap(), 1_i32.into());
        drop(arguments);
        assert_eq!((last, any), ("a".into(), -1));
    });
}

#[test]
fn calls_with_wrong_members_or_arguments_are_refused() {
    with_both(|notes| {
        let notes: IDispatch = notes.cast().unwrap();
        assert_eq!(failure(notes.call("nothing", &[])), code::DISP_E_UNKNOWNNAME);
        assert_eq!(failure(notes.call("Count", &[])), code::DISP_E_MEMBERNOTFOUND);
        assert_eq!(failure(notes.invoke(99, DISPATCH_PROPERTYGET, &[], &[])), code::DISP_E_MEMBERNOTFOUND);
        assert_eq!(failure(notes.call("Find", &[])), code::DISP_E_PARAMNOTOPTIONAL);
        let many = ["a".into(), 1_i32.into(), 2_i32.into()];
        assert_eq!(failure(notes.call("Find", &many)), code::DISP_E_BADPARAMCOUNT);
        assert_eq!(failure(notes.call("Find", &["a".into(), "x".into()])), code::DISP_E_TYPEMISMATCH);
        assert_eq!(failure(notes.call("Find", &["a".into(), i64::MAX.into()])), code::DISP_E_OVERFLOW);
        // Arguments outside of the interface's ranges reach no method, even if it is called by
        // name.
        assert_eq!(failure(notes.call("Find", &["a".into(), 0_i32.into()])), code::E_INVALIDARG);
        let error = notes.get("Item", &["none".into()]).unwrap_err();
        assert_eq!(error.code(), code::E_INVALIDARG);
        assert!(error.detail().unwrap().contains("there is no note"), "{error}");
        assert_eq!(notes.get("Count", &[]).unwrap(), 0_i32.into());
    });
}
