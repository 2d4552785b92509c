// Made by obvia-idl 0.1.0 from post.idl. Change the IDL, not this.

pub const WEIGHT_MAX: i32 = 20000;
pub const TOWN: &str = "Obvia \"by the sea\"";

#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Class(pub i32);
impl Class {
    pub const LETTER: Self = Self(0);
    pub const PARCEL: Self = Self(4);
    pub const FREIGHT: Self = Self(5);
}
// SAFETY: zero is a value of its type, and the bytes are an i32's.
unsafe impl obvia::rt::Value for Class {
    const SIZE: usize = 4;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        obvia::rt::Value::store(&self.0, frame, at);
    }
    #[inline]
    fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {
        <i32 as obvia::rt::Value>::load(frame, at).filter(|value| matches!(value, 0 | 4 | 5)).map(Self)
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stamp {
    pub class: Class,
    pub used: bool,
    pub number: i64,
    pub cost: [f64; 2],
}
const _: () = assert!(size_of::<Stamp>() == 32);
impl Default for Stamp {
    fn default() -> Self {
        obvia::rt::zero()
    }
}
// SAFETY: every member's type says that zero is a value of it.
unsafe impl obvia::rt::Value for Stamp {
    const SIZE: usize = 32;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        frame[at..at + 32].fill(0);
        obvia::rt::Value::store(&self.class, frame, at + 0);
        obvia::rt::Value::store(&self.used, frame, at + 4);
        obvia::rt::Value::store(&self.number, frame, at + 8);
        obvia::rt::Value::store(&self.cost, frame, at + 16);
    }
    #[inline]
    fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {
        Some(Self {
            class: obvia::rt::Value::load(frame, at + 0)?,
            used: obvia::rt::Value::load(frame, at + 4)?,
            number: obvia::rt::Value::load(frame, at + 8)?,
            cost: obvia::rt::Value::load(frame, at + 16)?,
        })
    }
}

static TYPES__: [obvia::rt::shape::ElementType; 2] = {
    use obvia::rt::shape::*;
    [
        ElementType { size: 32, shape: Shape { runs: &[(0, 5), (8, 24)], parts: &[Part { at: 0, what: What::Enum(&[0, 4, 5]) }, Part { at: 4, what: What::Boolean }] }, tail: None },
        ElementType { size: 4, shape: Shape { runs: &[(0, 4)], parts: &[Part { at: 0, what: What::Enum(&[0, 4, 5]) }] }, tail: None },
    ]
};
// SAFETY: the table was made for it.
unsafe impl obvia::Graph for Stamp {
    type Item<'a> = Self;
    const TYPES: &'static [obvia::rt::shape::ElementType] = &TYPES__;
    const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own(0);
    const CAN_CHANGE: bool = false;
}
// SAFETY: the table was made for it.
unsafe impl obvia::Graph for Class {
    type Item<'a> = Self;
    const TYPES: &'static [obvia::rt::shape::ElementType] = &TYPES__;
    const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own(1);
    const CAN_CHANGE: bool = false;
}

/// Somebody who waits for something.
/// `interface IReader`
#[repr(transparent)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IReader(obvia::IUnknown);
// SAFETY: a transparent wrapper of an interface pointer whose vtable is the one below.
unsafe impl obvia::Interface for IReader {
    type Vtable = IReader_Vtbl;
    const IID: obvia::GUID = obvia::GUID::from_u128(0x8b1c5a102f6e4c559a516a0d3f7e2001);
}
obvia::rt::windows_core::imp::interface_hierarchy!(IReader, obvia::IUnknown);
impl std::ops::Deref for IReader {
    type Target = obvia::IUnknown;
    fn deref(&self) -> &Self::Target {
        std::convert::Into::into(self)
    }
}

#[repr(C)]
#[doc(hidden)]
pub struct IReader_Vtbl {
    pub base__: obvia::rt::IUnknown_Vtbl,
    pub Arrived: unsafe extern "system" fn(this: *mut obvia::rt::c_void, letter: i32) -> obvia::HRESULT,
}

impl IReader {
    pub fn Arrived(&self, letter: i32) -> obvia::Result<()> {
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).Arrived)(obvia::Interface::as_raw(self), letter) };
        obvia::rt::check(result)
    }
}

/// What an object that has [`IReader`] implements.
///
/// Its methods are called by several threads at once, and it is dropped by any.
pub trait IReader_Impl: obvia::rt::IUnknownImpl<Impl: Send + Sync + 'static> {
    fn Arrived(&self, letter: i32) -> obvia::Result<()>;
}

impl IReader_Vtbl {
    /// The vtable of an implementation.
    pub const fn new<Identity: IReader_Impl + Send + Sync + 'static, const OFFSET: isize>() -> Self {
        unsafe extern "system" fn Arrived<Identity: IReader_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, letter: i32) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                match this.Arrived(letter) {
                    Ok(()) => {
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        Self {
            base__: obvia::rt::IUnknown_Vtbl::new::<Identity, OFFSET>(),
            Arrived: Arrived::<Identity, OFFSET>,
        }
    }
    /// Whether a query for this IID is for this vtable.
    pub fn matches(iid: &obvia::GUID) -> bool {
        *iid == <IReader as obvia::Interface>::IID || *iid == obvia::rt::IID_CHECKED
    }
}
impl obvia::rt::windows_core::RuntimeName for IReader {}

// SAFETY: vtable and stubs below were made for this interface.
unsafe impl obvia::Remote for IReader {
    const INFO: &'static obvia::rt::InterfaceInfo = &IReader_INFO;
}
// SAFETY: vtable and stubs below were made for this interface.
static IReader_INFO: obvia::rt::InterfaceInfo = unsafe {
    obvia::rt::InterfaceInfo::new(obvia::rt::Description {
        name: "IReader",
        iid: <IReader as obvia::Interface>::IID,
        version: (0, 0),
        fingerprint: 0x80c1bcea2e8f944c500621c9b9aa1852,
        plain: false,
        endpoints: &[],
        base: None,
        proxy: obvia::rt::VtablePointer((&raw const IReader_PROXY).cast()),
        stubs: obvia::rt::Stubs::new(&obvia::rt::pad::<4>(&[IReader_Arrived_stub])),
        idl: "[object, uuid(8b1c5a10-2f6e-4c55-9a51-6a0d3f7e2001), pointer_default(unique)]\ninterface IReader : IUnknown {\n    [oneway] HRESULT Arrived([in] long letter);\n}\n",
        ndr: &[1, 0, 4, 0, 1, 3, 1, 4, 1, 0, 0, 0, 0, 0, 0],
        module: INTERFACES,
    })
};
static IReader_PROXY: IReader_Vtbl = IReader_Vtbl { base__: obvia::rt::UNKNOWN, Arrived: IReader_Arrived_proxy };

// Arrived: opnum 3
//   request   4 bytes: 0 letter i32
//   reply     0 bytes: nothing
unsafe extern "system" fn IReader_Arrived_proxy(this: *mut obvia::rt::c_void, letter: i32) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    // SAFETY: the call is made at once.
    let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {
        // SAFETY: what this function was called with.
        return unsafe { IReader_Arrived_prepare(this, letter) };
    };
    call.make(|call| {
        let frame = call.inline_request()?;
        obvia::rt::Value::store(&letter, frame, 0);
        call.send_oneway(3, 4);
        Ok(obvia::rt::code::S_OK)
    })
}

#[cold]
unsafe extern "system" fn IReader_Arrived_prepare(this: *mut obvia::rt::c_void, letter: i32) -> obvia::HRESULT {
    // SAFETY: as for the proxy.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    if let Some(failed) = proxy.prepare() {
        return failed;
    }
    // SAFETY: what this function was called with.
    unsafe { IReader_Arrived_proxy(this, letter) }
}

unsafe extern "C-unwind" fn IReader_Arrived_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.block(4)?;
        let letter: i32 = obvia::rt::argument(frame, 0)?;
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<IReader_Vtbl>(object).Arrived)(object, letter) };
        Ok(obvia::rt::no_results(result))
    })
}

/// The office.
/// `interface IOffice`
#[repr(transparent)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IOffice(obvia::IUnknown);
// SAFETY: a transparent wrapper of an interface pointer whose vtable is the one below.
unsafe impl obvia::Interface for IOffice {
    type Vtable = IOffice_Vtbl;
    const IID: obvia::GUID = obvia::GUID::from_u128(0x8b1c5a102f6e4c559a516a0d3f7e2002);
}
obvia::rt::windows_core::imp::interface_hierarchy!(IOffice, obvia::IUnknown);
impl std::ops::Deref for IOffice {
    type Target = obvia::IUnknown;
    fn deref(&self) -> &Self::Target {
        std::convert::Into::into(self)
    }
}

#[repr(C)]
#[doc(hidden)]
pub struct IOffice_Vtbl {
    pub base__: obvia::rt::IUnknown_Vtbl,
    pub Cost: unsafe extern "system" fn(this: *mut obvia::rt::c_void, class: Class, weight: i32, cost: *mut f64) -> obvia::HRESULT,
    pub Print: unsafe extern "system" fn(this: *mut obvia::rt::c_void, stamp: *const Stamp, number: *mut i64, printed: *mut Stamp) -> obvia::HRESULT,
    pub Frank: unsafe extern "system" fn(this: *mut obvia::rt::c_void, count: u32, stamps: *const Stamp, seal: *const [u8; 16]) -> obvia::HRESULT,
    pub Fetch: unsafe extern "system" fn(this: *mut obvia::rt::c_void, room: u32, letters: *mut i16, got: *mut u32) -> obvia::HRESULT,
    pub List: unsafe extern "system" fn(this: *mut obvia::rt::c_void, count: *mut u32, stamps: *mut *mut Stamp) -> obvia::HRESULT,
    pub Send: unsafe extern "system" fn(this: *mut obvia::rt::c_void, to: *const u16, from: *const u8, receipt: *mut *mut u16) -> obvia::HRESULT,
    pub Wait: unsafe extern "system" fn(this: *mut obvia::rt::c_void, reader: *mut obvia::rt::c_void, before: *mut *mut obvia::rt::c_void) -> obvia::HRESULT,
    pub Find: unsafe extern "system" fn(this: *mut obvia::rt::c_void, iid: *const obvia::GUID, found: *mut *mut obvia::rt::c_void) -> obvia::HRESULT,
}

impl IOffice {
    /// What it costs to send something of this weight.
    pub fn Cost(&self, class: Class, weight: i32) -> obvia::Result<f64> {
        let mut cost = obvia::rt::zero();
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).Cost)(obvia::Interface::as_raw(self), class, weight, &mut cost) };
        obvia::rt::check(result)?;
        Ok(cost)
    }
    pub fn Print(&self, stamp: &Stamp, number: &mut i64) -> obvia::Result<Stamp> {
        let mut printed = obvia::rt::zero();
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).Print)(obvia::Interface::as_raw(self), stamp, number, &mut printed) };
        obvia::rt::check(result)?;
        Ok(printed)
    }
    pub fn Frank(&self, stamps: &[Stamp], seal: &[u8; 16]) -> obvia::Result<()> {
        let count = obvia::rt::count(stamps.len())?;
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).Frank)(obvia::Interface::as_raw(self), count, stamps.as_ptr(), seal) };
        obvia::rt::check(result)
    }
    pub fn Fetch(&self, letters: &mut [i16]) -> obvia::Result<u32> {
        let room = obvia::rt::count(letters.len())?;
        let mut got = obvia::rt::zero();
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).Fetch)(obvia::Interface::as_raw(self), room, letters.as_mut_ptr(), &mut got) };
        obvia::rt::check(result)?;
        Ok(got)
    }
    pub fn List(&self) -> obvia::Result<Vec<Stamp>> {
        let mut count = obvia::rt::zero();
        let mut stamps = std::ptr::null_mut();
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).List)(obvia::Interface::as_raw(self), &mut count, &mut stamps) };
        obvia::rt::check(result)?;
        // SAFETY: the method succeeded, so by COM's rules what it returned is the caller's.
        Ok(unsafe { obvia::rt::take_array(stamps, count) }?)
    }
    pub fn Send(&self, to: &obvia::U16CStr, from: Option<&std::ffi::CStr>) -> obvia::Result<obvia::U16CString> {
        let mut receipt = std::ptr::null_mut();
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).Send)(obvia::Interface::as_raw(self), to.as_ptr().cast(), from.map_or(std::ptr::null(), |text| text.as_ptr().cast()), &mut receipt) };
        obvia::rt::check(result)?;
        // SAFETY: the method succeeded, so by COM's rules what it returned is the caller's.
        Ok(unsafe { obvia::rt::take_wide(receipt) })
    }
    pub fn Wait(&self, reader: Option<&IReader>) -> obvia::Result<IReader> {
        let mut before = std::ptr::null_mut();
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).Wait)(obvia::Interface::as_raw(self), reader.map_or(std::ptr::null_mut(), obvia::Interface::as_raw), &mut before) };
        obvia::rt::check(result)?;
        // SAFETY: the method succeeded, so by COM's rules what it returned is the caller's.
        Ok(unsafe { obvia::rt::take_object(before) }?)
    }
    pub fn Find(&self, iid: &obvia::GUID) -> obvia::Result<obvia::IUnknown> {
        let mut found = std::ptr::null_mut();
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).Find)(obvia::Interface::as_raw(self), iid, &mut found) };
        obvia::rt::check(result)?;
        // SAFETY: the method succeeded, so by COM's rules what it returned is the caller's.
        Ok(unsafe { obvia::rt::take_object(found) }?)
    }
}

/// What an object that has [`IOffice`] implements.
///
/// Its methods are called by several threads at once, and it is dropped by any.
pub trait IOffice_Impl: obvia::rt::IUnknownImpl<Impl: Send + Sync + 'static> {
    /// What it costs to send something of this weight.
    fn Cost(&self, class: Class, weight: i32) -> obvia::Result<f64>;
    fn Print(&self, stamp: &Stamp, number: &mut i64) -> obvia::Result<Stamp>;
    fn Frank(&self, stamps: &[Stamp], seal: &[u8; 16]) -> obvia::Result<()>;
    fn Fetch(&self, letters: &mut [i16]) -> obvia::Result<u32>;
    fn List(&self) -> obvia::Result<Vec<Stamp>>;
    fn Send(&self, to: &obvia::U16CStr, from: Option<&std::ffi::CStr>) -> obvia::Result<obvia::U16CString>;
    fn Wait(&self, reader: Option<&IReader>) -> obvia::Result<IReader>;
    fn Find(&self, iid: &obvia::GUID) -> obvia::Result<obvia::IUnknown>;
}

impl IOffice_Vtbl {
    /// The vtable of an implementation.
    pub const fn new<Identity: IOffice_Impl + Send + Sync + 'static, const OFFSET: isize>() -> Self {
        unsafe extern "system" fn Cost<Identity: IOffice_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, class: Class, weight: i32, cost: *mut f64) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                match this.Cost(class, weight) {
                    Ok(cost_value) => {
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { cost.write(cost_value) };
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn Print<Identity: IOffice_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, stamp: *const Stamp, number: *mut i64, printed: *mut Stamp) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let stamp_given = unsafe { &*stamp };
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let number_given = unsafe { &mut *number };
                match this.Print(stamp_given, number_given) {
                    Ok(printed_value) => {
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { printed.write(printed_value) };
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn Frank<Identity: IOffice_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, count: u32, stamps: *const Stamp, seal: *const [u8; 16]) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let stamps_given = unsafe { obvia::rt::slice(stamps, obvia::rt::elements(count).unwrap_or(0)) };
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let seal_given = unsafe { &*seal };
                match this.Frank(stamps_given, seal_given) {
                    Ok(()) => {
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn Fetch<Identity: IOffice_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, room: u32, letters: *mut i16, got: *mut u32) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let letters_given = unsafe { obvia::rt::slice_mut(letters, obvia::rt::elements(room).unwrap_or(0)) };
                match this.Fetch(letters_given) {
                    Ok(got_value) => {
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { got.write(got_value) };
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn List<Identity: IOffice_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, count: *mut u32, stamps: *mut *mut Stamp) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                match this.List() {
                    Ok(stamps_value) => {
                        let count_value = match obvia::rt::count(stamps_value.len()) {
                            Ok(count) => count,
                            Err(error) => return obvia::rt::fail(error),
                        };
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { count.write(count_value) };
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { stamps.write(obvia::rt::give_array(&stamps_value)) };
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn Send<Identity: IOffice_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, to: *const u16, from: *const u8, receipt: *mut *mut u16) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let to_given = unsafe { obvia::rt::wide(to).unwrap_or_default() };
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let from_given = unsafe { obvia::rt::text(from) };
                match this.Send(to_given, from_given) {
                    Ok(receipt_value) => {
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { receipt.write(obvia::rt::give_wide(receipt_value)) };
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn Wait<Identity: IOffice_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, reader: *mut obvia::rt::c_void, before: *mut *mut obvia::rt::c_void) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let reader_given = unsafe { obvia::Interface::from_raw_borrowed(&reader) };
                match this.Wait(reader_given) {
                    Ok(before_value) => {
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { before.write(obvia::Interface::into_raw(before_value)) };
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn Find<Identity: IOffice_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, iid: *const obvia::GUID, found: *mut *mut obvia::rt::c_void) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let iid_given = unsafe { &*iid };
                match this.Find(iid_given) {
                    Ok(found_value) => {
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { found.write(obvia::Interface::into_raw(found_value)) };
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        Self {
            base__: obvia::rt::IUnknown_Vtbl::new::<Identity, OFFSET>(),
            Cost: Cost::<Identity, OFFSET>,
            Print: Print::<Identity, OFFSET>,
            Frank: Frank::<Identity, OFFSET>,
            Fetch: Fetch::<Identity, OFFSET>,
            List: List::<Identity, OFFSET>,
            Send: Send::<Identity, OFFSET>,
            Wait: Wait::<Identity, OFFSET>,
            Find: Find::<Identity, OFFSET>,
        }
    }
    /// Whether a query for this IID is for this vtable.
    pub fn matches(iid: &obvia::GUID) -> bool {
        *iid == <IOffice as obvia::Interface>::IID || *iid == obvia::rt::IID_CHECKED
    }
}
impl obvia::rt::windows_core::RuntimeName for IOffice {}

// SAFETY: vtable and stubs below were made for this interface.
unsafe impl obvia::Remote for IOffice {
    const INFO: &'static obvia::rt::InterfaceInfo = &IOffice_INFO;
}
// SAFETY: vtable and stubs below were made for this interface.
static IOffice_INFO: obvia::rt::InterfaceInfo = unsafe {
    obvia::rt::InterfaceInfo::new(obvia::rt::Description {
        name: "IOffice",
        iid: <IOffice as obvia::Interface>::IID,
        version: (1, 1),
        fingerprint: 0x8ba68e5dc40e98942c34b186aaeaa67b,
        plain: false,
        endpoints: &[],
        base: None,
        proxy: obvia::rt::VtablePointer((&raw const IOffice_PROXY).cast()),
        stubs: obvia::rt::Stubs::new(&obvia::rt::pad::<16>(&[IOffice_Cost_stub, IOffice_Print_stub, IOffice_Frank_stub, IOffice_Fetch_stub, IOffice_List_stub, IOffice_Send_stub, IOffice_Wait_stub, IOffice_Find_stub])),
        idl: "interface IReader;\ntypedef enum {\n    LETTER = 0,\n    PARCEL = 4,\n    FREIGHT = 5\n} Class;\nstruct Stamp;\nstruct Stamp {\n    Class class;\n    boolean used;\n    hyper number;\n    double cost[2];\n};\n[object, uuid(8b1c5a10-2f6e-4c55-9a51-6a0d3f7e2002), version(1.1), pointer_default(unique)]\ninterface IOffice : IUnknown {\n    HRESULT Cost([in] Class class, [in, range(1, 20000)] long weight, [out, retval] double *cost);\n    HRESULT Print([in] struct Stamp *stamp, [in, out] hyper *number, [out] struct Stamp *printed);\n    HRESULT Frank([in] unsigned long count, [in, size_is(count)] struct Stamp *stamps, [in] byte seal[16]);\n    HRESULT Fetch([in] unsigned long room, [out, size_is(room), length_is(*got)] short *letters, [out] unsigned long *got);\n    HRESULT List([out] unsigned long *count, [out, size_is(, *count)] struct Stamp **stamps);\n    HRESULT Send([in, string] wchar_t *to, [in, unique, string] char *from, [out, retval, string] wchar_t **receipt);\n    HRESULT Wait([in] IReader *reader, [out] IReader **before);\n    HRESULT Find([in] GUID *iid, [out, retval, iid_is(iid)] IUnknown **found);\n}\n",
        ndr: &[14, 2, 1, 0, 8, 4, 2, 2, 5, 32, 4, 0, 0, 4, 1, 8, 2, 16, 3, 0, 0, 2, 0, 4, 0, 1, 4, 16, 7, 7, 1, 1, 16, 1, 0, 5, 0, 7, 1, 2, 7, 1, 3, 7, 1, 4, 3, 2, 4, 5, 8, 3, 1, 8, 2, 0, 0, 0, 4, 0, 6, 8, 1, 0, 0, 2, 0, 4, 1, 40, 2, 0, 0, 4, 32, 0, 2, 40, 2, 0, 0, 2, 8, 0, 4, 0, 5, 1, 32, 3, 0, 0, 6, 8, 1, 1, 16, 1, 0, 5, 0, 16, 0, 8, 0, 0, 0, 6, 1, 4, 1, 0, 0, 6, 12, 2, 0, 1, 1, 17, 2, 0, 1, 1, 8, 5, 8, 0, 6, 1, 0, 5, 7, 1, 0, 0, 16, 2, 0, 0, 6, 8, 0, 9, 0, 8, 1, 16, 2, 0, 1, 3, 8, 0, 10, 8, 1, 0, 0, 11, 0, 9, 1, 8, 1, 0, 0, 12, 8, 1, 0, 0, 12, 0, 10, 1, 16, 1, 0, 0, 13, 8, 1, 0, 0, 12, 0],
        module: INTERFACES,
    })
};
static IOffice_PROXY: IOffice_Vtbl = IOffice_Vtbl { base__: obvia::rt::UNKNOWN, Cost: IOffice_Cost_proxy, Print: IOffice_Print_proxy, Frank: IOffice_Frank_proxy, Fetch: IOffice_Fetch_proxy, List: IOffice_List_proxy, Send: IOffice_Send_proxy, Wait: IOffice_Wait_proxy, Find: IOffice_Find_proxy };

// Cost: opnum 3
//   request   8 bytes: 0 class Class, 4 weight i32
//   reply     8 bytes: 0 cost f64
unsafe extern "system" fn IOffice_Cost_proxy(this: *mut obvia::rt::c_void, class: Class, weight: i32, cost: *mut f64) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    // SAFETY: the call is made at once.
    let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {
        // SAFETY: what this function was called with.
        return unsafe { IOffice_Cost_prepare(this, class, weight, cost) };
    };
    call.make(|call| {
        obvia::rt::given_in_range(weight as i64, 1, 20000)?;
        let frame = call.inline_request()?;
        obvia::rt::Value::store(&class, frame, 0);
        obvia::rt::Value::store(&weight, frame, 4);
        let reply = call.send(3, 8)?;
        let frame = reply.block(8)?;
        let cost_value: f64 = obvia::rt::value(frame, 0)?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { cost.write(cost_value) };
        Ok(reply.result())
    })
}

#[cold]
unsafe extern "system" fn IOffice_Cost_prepare(this: *mut obvia::rt::c_void, class: Class, weight: i32, cost: *mut f64) -> obvia::HRESULT {
    // SAFETY: as for the proxy.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    if let Some(failed) = proxy.prepare() {
        return failed;
    }
    // SAFETY: what this function was called with.
    unsafe { IOffice_Cost_proxy(this, class, weight, cost) }
}

unsafe extern "C-unwind" fn IOffice_Cost_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.block(8)?;
        let class: Class = obvia::rt::argument(frame, 0)?;
        let weight: i32 = obvia::rt::argument(frame, 4)?;
        obvia::rt::argument_in_range(weight as i64, 1, 20000)?;
        let mut cost: f64 = obvia::rt::zero();
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<IOffice_Vtbl>(object).Cost)(object, class, weight, &mut cost) };
        let frame = call.inline_reply();
        obvia::rt::Value::store(&cost, frame, 0);
        Ok(obvia::rt::results(result, 8))
    })
}

// Print: opnum 4
//   request  40 bytes: 0 stamp Stamp, 32 number i64
//   reply    40 bytes: 0 number i64, 8 printed Stamp
unsafe extern "system" fn IOffice_Print_proxy(this: *mut obvia::rt::c_void, stamp: *const Stamp, number: *mut i64, printed: *mut Stamp) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    // SAFETY: the call is made at once.
    let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {
        // SAFETY: what this function was called with.
        return unsafe { IOffice_Print_prepare(this, stamp, number, printed) };
    };
    call.make(|call| {
        let frame = call.inline_request()?;
        // SAFETY: by COM's rules the caller's pointer is readable.
        obvia::rt::Value::store(unsafe { &*stamp }, frame, 0);
        // SAFETY: by COM's rules the caller's pointer is readable.
        obvia::rt::Value::store(unsafe { &*number }, frame, 32);
        let reply = call.send(4, 40)?;
        let frame = reply.block(40)?;
        let number_value: i64 = obvia::rt::value(frame, 0)?;
        let printed_value: Stamp = obvia::rt::value(frame, 8)?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { number.write(number_value) };
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { printed.write(printed_value) };
        Ok(reply.result())
    })
}

#[cold]
unsafe extern "system" fn IOffice_Print_prepare(this: *mut obvia::rt::c_void, stamp: *const Stamp, number: *mut i64, printed: *mut Stamp) -> obvia::HRESULT {
    // SAFETY: as for the proxy.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    if let Some(failed) = proxy.prepare() {
        return failed;
    }
    // SAFETY: what this function was called with.
    unsafe { IOffice_Print_proxy(this, stamp, number, printed) }
}

unsafe extern "C-unwind" fn IOffice_Print_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.block(40)?;
        let stamp: Stamp = obvia::rt::argument(frame, 0)?;
        let mut number: i64 = obvia::rt::argument(frame, 32)?;
        let mut printed: Stamp = obvia::rt::zero();
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<IOffice_Vtbl>(object).Print)(object, &stamp, &mut number, &mut printed) };
        let frame = call.inline_reply();
        obvia::rt::Value::store(&number, frame, 0);
        obvia::rt::Value::store(&printed, frame, 8);
        Ok(obvia::rt::results(result, 40))
    })
}

// Frank: opnum 5
//   request  32 bytes: 0 count u32, 8 stamps ->, 16 seal [u8; 16]
//   reply     0 bytes: nothing
unsafe extern "system" fn IOffice_Frank_proxy(this: *mut obvia::rt::c_void, count: u32, stamps: *const Stamp, seal: *const [u8; 16]) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    // SAFETY: the call is made at once.
    let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {
        // SAFETY: what this function was called with.
        return unsafe { IOffice_Frank_prepare(this, count, stamps, seal) };
    };
    call.make(|call| {
        let stamps_count = obvia::rt::elements(count).ok_or(obvia::rt::code::E_INVALIDARG)?;
        let measure = obvia::rt::Measure::block(32)
        .array(stamps_count, 32)?
        ;
        let length = measure.length();
        let frame = call.request(measure)?;
        obvia::rt::Value::store(&count, frame, 0);
        // SAFETY: by COM's rules the caller's pointer is readable.
        obvia::rt::Value::store(unsafe { &*seal }, frame, 16);
        let mut arrays = obvia::rt::Arrays::behind(32);
        // SAFETY: by COM's rules the caller's array has as many elements as it says.
        unsafe { obvia::rt::put_values(frame, &mut arrays, 8, 16, stamps_count, stamps) };
        let reply = call.send(5, length)?;
        reply.block(0)?;
        Ok(reply.result())
    })
}

#[cold]
unsafe extern "system" fn IOffice_Frank_prepare(this: *mut obvia::rt::c_void, count: u32, stamps: *const Stamp, seal: *const [u8; 16]) -> obvia::HRESULT {
    // SAFETY: as for the proxy.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    if let Some(failed) = proxy.prepare() {
        return failed;
    }
    // SAFETY: what this function was called with.
    unsafe { IOffice_Frank_proxy(this, count, stamps, seal) }
}

unsafe extern "C-unwind" fn IOffice_Frank_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.frame(32)?;
        let count: u32 = obvia::rt::argument(frame, 0)?;
        let seal: [u8; 16] = obvia::rt::argument(frame, 16)?;
        let mut request = obvia::rt::Arrays::behind(32);
        let stamps_count = obvia::rt::elements(count).ok_or(obvia::rt::Status::BAD_STUB_DATA)?;
        let stamps_data: Vec<Stamp> = call.values_in(&mut request, 8, 16, stamps_count)?;
        call.end(request)?;
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<IOffice_Vtbl>(object).Frank)(object, count, stamps_data.as_ptr(), &seal) };
        Ok(obvia::rt::no_results(result))
    })
}

// Fetch: opnum 6
//   request   4 bytes: 0 room u32
//   reply    12 bytes: 0 letters ->, 8 got u32
unsafe extern "system" fn IOffice_Fetch_proxy(this: *mut obvia::rt::c_void, room: u32, letters: *mut i16, got: *mut u32) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    // SAFETY: the call is made at once.
    let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {
        // SAFETY: what this function was called with.
        return unsafe { IOffice_Fetch_prepare(this, room, letters, got) };
    };
    call.make(|call| {
        let frame = call.inline_request()?;
        obvia::rt::Value::store(&room, frame, 0);
        let reply = call.send(6, 4)?;
        let frame = reply.frame(12)?;
        let got_value: u32 = obvia::rt::value(frame, 8)?;
        let mut arrays = obvia::rt::Arrays::behind(12);
        let letters_count = obvia::rt::elements(room).ok_or(obvia::rt::code::E_INVALIDARG)?;
        // SAFETY: by COM's rules the caller's array has room for as many elements as it says.
        unsafe { reply.copy_out(&mut arrays, 0, 17, obvia::rt::at_most(obvia::rt::elements(got_value), letters_count)?, letters) }?;
        reply.end(arrays)?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { got.write(got_value) };
        Ok(reply.result())
    })
}

#[cold]
unsafe extern "system" fn IOffice_Fetch_prepare(this: *mut obvia::rt::c_void, room: u32, letters: *mut i16, got: *mut u32) -> obvia::HRESULT {
    // SAFETY: as for the proxy.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    if let Some(failed) = proxy.prepare() {
        return failed;
    }
    // SAFETY: what this function was called with.
    unsafe { IOffice_Fetch_proxy(this, room, letters, got) }
}

unsafe extern "C-unwind" fn IOffice_Fetch_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.block(4)?;
        let room: u32 = obvia::rt::argument(frame, 0)?;
        let letters_count = obvia::rt::elements(room).ok_or(obvia::rt::Status::BAD_STUB_DATA)?;
        let measure = obvia::rt::Measure::block(12)
        .array(letters_count, 2).map_err(|_| obvia::rt::Status::REMOTE_NO_MEMORY)?
        ;
        let length = measure.length();
        let mut reply = call.reply(measure)?;
        let mut arrays = obvia::rt::Arrays::behind(12);
        let letters_data = reply.array::<i16>(&mut arrays, 0, 17, letters_count);
        let mut got: u32 = obvia::rt::zero();
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<IOffice_Vtbl>(object).Fetch)(object, room, letters_data, &mut got) };
        let frame = reply.bytes();
        obvia::rt::Value::store(&got, frame, 8);
        let used = obvia::rt::at_most(obvia::rt::elements(got), letters_count).map_err(|_| obvia::rt::Status::BAD_STUB_DATA);
        let length = if result.0 < 0 {
            0
        } else {
            reply.shorten(letters_data.cast(), used?, 2)
        };
        Ok(obvia::rt::results(result, length))
    })
}

// List: opnum 7
//   request   0 bytes: nothing
//   reply    16 bytes: 0 count u32, 8 stamps ->
unsafe extern "system" fn IOffice_List_proxy(this: *mut obvia::rt::c_void, count: *mut u32, stamps: *mut *mut Stamp) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    // SAFETY: the call is made at once.
    let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {
        // SAFETY: what this function was called with.
        return unsafe { IOffice_List_prepare(this, count, stamps) };
    };
    call.make(|call| {
        let _frame = call.inline_request()?;
        let reply = call.send(7, 0)?;
        let frame = reply.frame(16)?;
        let count_value: u32 = obvia::rt::value(frame, 0)?;
        let mut arrays = obvia::rt::Arrays::behind(16);
        let stamps_value = reply.take_array::<Stamp>(&mut arrays, 8, 16, obvia::rt::elements(count_value))?;
        reply.end(arrays)?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { count.write(count_value) };
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { stamps.write(stamps_value.into_raw()) };
        Ok(reply.result())
    })
}

#[cold]
unsafe extern "system" fn IOffice_List_prepare(this: *mut obvia::rt::c_void, count: *mut u32, stamps: *mut *mut Stamp) -> obvia::HRESULT {
    // SAFETY: as for the proxy.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    if let Some(failed) = proxy.prepare() {
        return failed;
    }
    // SAFETY: what this function was called with.
    unsafe { IOffice_List_proxy(this, count, stamps) }
}

unsafe extern "C-unwind" fn IOffice_List_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        call.block(0)?;
        let mut count: u32 = obvia::rt::zero();
        let mut stamps = std::ptr::null_mut();
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<IOffice_Vtbl>(object).List)(object, &mut count, &mut stamps) };
        // SAFETY: by COM's rules the method gave an array that it allocated, with as many elements as it says.
        let stamps_data = unsafe { obvia::rt::OwnedArray::<Stamp>::adopt(stamps, obvia::rt::elements(count).unwrap_or(0)) };
        if result.0 < 0 {
            return Ok(obvia::rt::no_results(result));
        }
        let measure = obvia::rt::Measure::block(16)
        .optional(!stamps_data.is_null(), stamps_data.count() * 32).map_err(|_| obvia::rt::Status::REMOTE_NO_MEMORY)?
        ;
        let length = measure.length();
        let mut reply = call.reply(measure)?;
        let frame = reply.bytes();
        obvia::rt::Value::store(&count, frame, 0);
        let mut arrays = obvia::rt::Arrays::behind(16);
        stamps_data.place(frame, &mut arrays, 8, 16);
        Ok(obvia::rt::results(result, length))
    })
}

// Send: opnum 8
//   request  16 bytes: 0 to ->, 8 from ->
//   reply     8 bytes: 0 receipt ->
unsafe extern "system" fn IOffice_Send_proxy(this: *mut obvia::rt::c_void, to: *const u16, from: *const u8, receipt: *mut *mut u16) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    // SAFETY: the call is made at once.
    let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {
        // SAFETY: what this function was called with.
        return unsafe { IOffice_Send_prepare(this, to, from, receipt) };
    };
    call.make(|call| {
        // SAFETY: by COM's rules a string is null or ends in a zero.
        let to_count = unsafe { obvia::rt::text_count(to, false) }?;
        // SAFETY: by COM's rules a string is null or ends in a zero.
        let from_count = unsafe { obvia::rt::text_count(from, true) }?;
        let measure = obvia::rt::Measure::block(16)
        .optional(to_count != 0, to_count * 2)?
        .optional(from_count != 0, from_count * 1)?
        ;
        let length = measure.length();
        let frame = call.request(measure)?;
        let mut arrays = obvia::rt::Arrays::behind(16);
        // SAFETY: by COM's rules the caller's array has as many elements as it says.
        unsafe { obvia::rt::put_text(frame, &mut arrays, 0, 3, to_count, to) };
        // SAFETY: by COM's rules the caller's array has as many elements as it says.
        unsafe { obvia::rt::put_text(frame, &mut arrays, 8, 2, from_count, from) };
        let reply = call.send(8, length)?;
        let frame = reply.frame(8)?;
        let mut arrays = obvia::rt::Arrays::behind(8);
        let receipt_value = reply.take_text::<u16>(&mut arrays, 0, 3)?;
        reply.end(arrays)?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { receipt.write(receipt_value.into_raw()) };
        Ok(reply.result())
    })
}

#[cold]
unsafe extern "system" fn IOffice_Send_prepare(this: *mut obvia::rt::c_void, to: *const u16, from: *const u8, receipt: *mut *mut u16) -> obvia::HRESULT {
    // SAFETY: as for the proxy.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    if let Some(failed) = proxy.prepare() {
        return failed;
    }
    // SAFETY: what this function was called with.
    unsafe { IOffice_Send_proxy(this, to, from, receipt) }
}

unsafe extern "C-unwind" fn IOffice_Send_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.frame(16)?;
        let mut request = obvia::rt::Arrays::behind(16);
        let to_data = call.text_in::<u16>(&mut request, 0, 3)?;
        if to_data.is_null() {
            return Err(obvia::rt::Status::BAD_STUB_DATA);
        }
        let from_data = call.text_in::<u8>(&mut request, 8, 2)?;
        call.end(request)?;
        let mut receipt = std::ptr::null_mut();
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<IOffice_Vtbl>(object).Send)(object, to_data, from_data, &mut receipt) };
        // SAFETY: by COM's rules the method gave a string that it allocated, or null.
        let receipt_data = unsafe { obvia::rt::OwnedText::<u16>::adopt(receipt) };
        if result.0 < 0 {
            return Ok(obvia::rt::no_results(result));
        }
        let measure = obvia::rt::Measure::block(8)
        .optional(!receipt_data.is_null(), receipt_data.count() * 2).map_err(|_| obvia::rt::Status::REMOTE_NO_MEMORY)?
        ;
        let length = measure.length();
        let mut reply = call.reply(measure)?;
        let frame = reply.bytes();
        let mut arrays = obvia::rt::Arrays::behind(8);
        receipt_data.place(frame, &mut arrays, 0, 3);
        Ok(obvia::rt::results(result, length))
    })
}

// Wait: opnum 9
//   request   8 bytes: 0 reader ->
//   reply     8 bytes: 0 before ->
unsafe extern "system" fn IOffice_Wait_proxy(this: *mut obvia::rt::c_void, reader: *mut obvia::rt::c_void, before: *mut *mut obvia::rt::c_void) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    obvia::rt::ProxyCall::make(proxy, |call| {
        // SAFETY: by COM's rules an interface pointer is null or alive.
        let reader_reference = unsafe { obvia::rt::reference_for_peer(reader, obvia::rt::Wanted::Known(<IReader as obvia::Remote>::INFO), call) }?;
        let measure = obvia::rt::Measure::block(8)
        .optional(!reader_reference.is_empty(), reader_reference.len())?
        ;
        let length = measure.length();
        let frame = call.request(measure)?;
        let mut arrays = obvia::rt::Arrays::behind(8);
        obvia::rt::put_reference(frame, &mut arrays, 0, 1, &reader_reference);
        let reply = call.send(9, length)?;
        let frame = reply.frame(8)?;
        let mut arrays = obvia::rt::Arrays::behind(8);
        let before_value = reply.take_object(&mut arrays, 0, 1, obvia::rt::Wanted::Known(<IReader as obvia::Remote>::INFO))?;
        reply.end(arrays)?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { before.write(before_value.into_raw()) };
        Ok(reply.result())
    })
}

unsafe extern "C-unwind" fn IOffice_Wait_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.frame(8)?;
        let mut request = obvia::rt::Arrays::behind(8);
        let reader_data = call.object_in(&mut request, 0, 1, obvia::rt::Wanted::Known(<IReader as obvia::Remote>::INFO))?;
        call.end(request)?;
        let mut before = std::ptr::null_mut();
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<IOffice_Vtbl>(object).Wait)(object, reader_data.as_raw(), &mut before) };
        // SAFETY: by COM's rules the method gave an interface pointer of the caller's, or null.
        let before_reference = unsafe { obvia::rt::reference_for_caller(before, obvia::rt::Wanted::Known(<IReader as obvia::Remote>::INFO), result) }?;
        if result.0 < 0 {
            return Ok(obvia::rt::no_results(result));
        }
        let measure = obvia::rt::Measure::block(8)
        .optional(!before_reference.is_empty(), before_reference.len()).map_err(|_| obvia::rt::Status::REMOTE_NO_MEMORY)?
        ;
        let length = measure.length();
        let mut reply = call.reply(measure)?;
        let frame = reply.bytes();
        let mut arrays = obvia::rt::Arrays::behind(8);
        obvia::rt::put_reference(frame, &mut arrays, 0, 1, &before_reference);
        Ok(obvia::rt::results(result, length))
    })
}

// Find: opnum 10
//   request  16 bytes: 0 iid obvia::GUID
//   reply     8 bytes: 0 found ->
unsafe extern "system" fn IOffice_Find_proxy(this: *mut obvia::rt::c_void, iid: *const obvia::GUID, found: *mut *mut obvia::rt::c_void) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    obvia::rt::ProxyCall::make(proxy, |call| {
        let frame = call.inline_request()?;
        // SAFETY: by COM's rules the caller's pointer is readable.
        obvia::rt::Value::store(unsafe { &*iid }, frame, 0);
        let reply = call.send(10, 16)?;
        let frame = reply.frame(8)?;
        let mut arrays = obvia::rt::Arrays::behind(8);
        let found_value = reply.take_object(&mut arrays, 0, 1, obvia::rt::Wanted::Iid(unsafe { *iid }))?;
        reply.end(arrays)?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { found.write(found_value.into_raw()) };
        Ok(reply.result())
    })
}

unsafe extern "C-unwind" fn IOffice_Find_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.block(16)?;
        let iid: obvia::GUID = obvia::rt::argument(frame, 0)?;
        let mut found = std::ptr::null_mut();
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<IOffice_Vtbl>(object).Find)(object, &iid, &mut found) };
        // SAFETY: by COM's rules the method gave an interface pointer of the caller's, or null.
        let found_reference = unsafe { obvia::rt::reference_for_caller(found, obvia::rt::Wanted::Iid(iid), result) }?;
        if result.0 < 0 {
            return Ok(obvia::rt::no_results(result));
        }
        let measure = obvia::rt::Measure::block(8)
        .optional(!found_reference.is_empty(), found_reference.len()).map_err(|_| obvia::rt::Status::REMOTE_NO_MEMORY)?
        ;
        let length = measure.length();
        let mut reply = call.reply(measure)?;
        let frame = reply.bytes();
        let mut arrays = obvia::rt::Arrays::behind(8);
        obvia::rt::put_reference(frame, &mut arrays, 0, 1, &found_reference);
        Ok(obvia::rt::results(result, length))
    })
}

/// Every interface of this file and of those that it imports.
pub static INTERFACES: &[&obvia::rt::InterfaceInfo] = &[&IReader_INFO, &IOffice_INFO];
static DECLARED__: obvia::rt::Declared =
obvia::rt::Declared::new(module_path!(), &[obvia::rt::Meaning::new("IReader", 0x8b1c5a102f6e4c559a516a0d3f7e2001, 0x80c1bcea2e8f944c500621c9b9aa1852), obvia::rt::Meaning::new("IOffice", 0x8b1c5a102f6e4c559a516a0d3f7e2002, 0x8ba68e5dc40e98942c34b186aaeaa67b)]);
#[cfg(not(miri))]
const _: () = {
    extern "C" fn declare() {
        obvia::rt::declare(&DECLARED__);
    }
    // SAFETY: what stands there are functions that are called when the program is loaded.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static DECLARE: extern "C" fn() = declare;
};
