//! Tests of `[local]` methods beside methods that other processes call.

use super::{code_of, serve};
use obvia::dynamic::Identity;
use obvia::{Interface, Remote, code};
use soundness::{INamedNumbers, IValues, Values};

#[test]
fn local_methods_have_places_in_vtables_and_are_refused_across_processes() {
    let (_server, name) = serve();
    let (here, there) = (IValues::from(Values), obvia::connect::<IValues>(&name).unwrap());
    for (values, outcome) in [(here, None), (there, Some(code::E_NOTIMPL))] {
        let numbers: INamedNumbers = values.cast().unwrap();
        let (mut got, mut fetched) = ([1, 2, 3], 9);
        // SAFETY: the method writes at most three numbers and their count, and both places have
        // room for them.
        let next = unsafe { numbers.Next(3, got.as_mut_ptr(), &mut fetched) };
        let words = next.as_ref().err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(
            (code_of(next), words.contains("`INamedNumbers.Next` is [local]")),
            (outcome, outcome.is_some()),
            "{words}"
        );
        assert_eq!((got, fetched), if outcome.is_none() { ([7; 3], 3) } else { ([1, 2, 3], 9) });
        // SAFETY: the method does not access memory through its pointers, so they may be null.
        assert_eq!(code_of(unsafe { numbers.Peek(std::ptr::null(), std::ptr::null_mut()) }), outcome);
        // The methods beside the `[local]` methods have their own opnums.
        numbers.Skip(1).unwrap();
        assert_eq!((numbers.Reset(4).unwrap(), numbers.Name().unwrap().to_string_lossy()), (5, "numbers".to_owned()));
    }
}

#[test]
fn servers_refuse_the_opnums_of_local_methods() {
    let (_server, name) = serve();
    let info = <INamedNumbers as Remote>::INFO;
    let text = obvia::dynamic::describe(&name, &INamedNumbers::IID).unwrap();
    assert!(text.contains("    [local] HRESULT Next();\n    [local] HRESULT Peek();\n"), "{text}");
    let identity = Identity { iid: INamedNumbers::IID, fingerprint: info.fingerprint };
    let numbers = obvia::dynamic::Object::connect(&name, identity).unwrap();
    for (opnum, is_refused) in [(3, false), (4, true), (5, true), (6, false), (7, false), (8, true)] {
        let request: &[u8] = if opnum == 7 { &[] } else { &[0; 8] };
        let refused = numbers.call(opnum, request).err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(refused.contains("the interface has no such method"), is_refused, "{opnum}: {refused}");
    }
}
