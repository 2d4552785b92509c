//! The attribute `obvia::object`, with which a type implements COM interfaces.
#![forbid(unsafe_code)]

mod object;

use proc_macro::TokenStream;

/// Makes a type an object with COM interfaces.
///
/// `#[obvia::object(IA, IB)]` before `struct Name` defines the type `Name_Impl`: a `Name` with a
/// reference count and the vtables of the interfaces. The program implements each interface's trait
/// for `Name_Impl`, which dereferences to `Name`. `IA::from(Name { .. })` moves a value to the heap
/// and returns an interface pointer to it. The object also has IUnknown, IAgileObject and
/// IWeakReferenceSource.
///
/// The object also has the interfaces that `IA` and `IB` extend. Objects are called from any
/// thread, so the type must be `Send + Sync + 'static`. Write a `#[cfg]` above this attribute. A
/// `#[cfg]` below it applies to the type, but not to the generated code.
///
/// If the release of an interface pointer drops the value, and the drop panics, the process ends.
/// Once the object has had a weak reference, `ComObject::get_mut` and `take` fail.
///
/// ```ignore
/// #[obvia::object(ICalc)]
/// struct Calc { total: AtomicI32 }
///
/// impl ICalc_Impl for Calc_Impl {
///     fn Add(&self, value: i32) -> obvia::Result<i32> {
///         Ok(self.total.fetch_add(value, Ordering::Relaxed) + value)
///     }
/// }
///
/// let calc = ICalc::from(Calc { total: AtomicI32::new(0) });
/// ```
///
/// The attribute replaces `implement` of the crate windows-core. The program needs no dependency on
/// that crate, and may forbid `unsafe_code`.
#[proc_macro_attribute]
pub fn object(interfaces: TokenStream, item: TokenStream) -> TokenStream {
    let item = item.into();
    object::expand(interfaces.into(), &item)
        .unwrap_or_else(|error| [item, error.into_compile_error()].into_iter().collect())
        .into()
}
