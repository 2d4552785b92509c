//! Tests of strings that only C can pass and return: Rust refuses them where the IDL has [utf8],
//! and refused calls lose no values.

use obvia::{HRESULT, Interface, Owned, Result, code};
use soundness::{IProgress, IProgress_Impl, IValues, IValues_Vtbl, Named, Values};
use std::ffi::c_void;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

#[test]
fn values_stay_in_their_places_if_an_argument_is_refused() {
    let values: IValues = Values.into();
    let new = Named::new(&2);
    let turned: Owned<Named<'static>> = Owned::new(&Named::new(&1)).unwrap();
    let mut kept = Owned::<Named<'static>>::new(&Named::new(&1)).unwrap().into_raw();
    let before = kept;
    let (mut title, mut bytes) = (std::ptr::null_mut(), std::ptr::null_mut());
    for (text, more) in [(c"\xff", c""), (c"", c"a\x80")] {
        // SAFETY: the pointers are as the interface describes them; the object checks the strings.
        let result = unsafe {
            (values.vtable().Title)(
                values.as_raw(),
                (&raw const new).cast(),
                (&raw mut kept).cast(),
                turned.as_ptr().cast(),
                text.as_ptr().cast(),
                more.as_ptr().cast(),
                &mut title,
                &mut bytes,
            )
        };
        assert_eq!(result, code::E_INVALIDARG, "{text:?} and {more:?}");
        assert_eq!((kept, turned.with(|named| *named.number())), (before, 1), "{text:?} and {more:?}");
    }
    // SAFETY: the value was made above. The refused calls have not changed `kept`, the only pointer
    // to the value.
    drop(unsafe { Owned::<Named<'static>>::adopt(kept) });
}

/// The number of objects that have been freed.
static FREED: AtomicU32 = AtomicU32::new(0);

#[obvia::object(IProgress)]
struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        FREED.fetch_add(1, Relaxed);
    }
}

impl IProgress_Impl for Counted_Impl {
    fn Report(&self, done: i32) -> Result<i32> {
        Ok(done)
    }
}

/// Returns an object, and two strings. The first string is not in UTF-8.
unsafe extern "system" fn wrong_signed(
    _: *mut c_void,
    text: *mut *mut u8,
    progress: *mut *mut c_void,
    more: *mut *mut u8,
) -> HRESULT {
    // SAFETY: the test passes a valid place for each result.
    unsafe { text.write(obvia::rt::give_text(c"\xff".to_owned())) };
    // SAFETY: the test passes a valid place for each result.
    unsafe { progress.write(IProgress::from(Counted).into_raw()) };
    // SAFETY: the test passes a valid place for each result.
    unsafe { more.write(obvia::rt::give_text(c"a".to_owned())) };
    code::S_OK
}

#[test]
fn results_beside_a_refused_string_are_freed() {
    let values: IValues = Values.into();
    // SAFETY: a vtable has only addresses of functions, and no destructor.
    let copy = unsafe { std::ptr::from_ref(values.vtable()).read() };
    let vtable: *const IValues_Vtbl = &IValues_Vtbl { Signed: wrong_signed, ..copy };
    let foreign = (&raw const vtable).cast_mut().cast::<c_void>();
    // SAFETY: the pointer's vtable is that of its interface. No other method is called, nor is a
    // reference counted.
    let foreign = unsafe { IValues::from_raw_borrowed(&foreign) }.unwrap();
    assert_eq!(foreign.Signed().unwrap_err().code(), code::RPC_E_INVALID_DATA);
    assert_eq!(FREED.load(Relaxed), 1);
}
