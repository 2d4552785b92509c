// Made by obvia-idl 0.1.0 from rpcecho.idl. Change the IDL, not this.


#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Enum1(pub i32);
impl Enum1 {
    pub const ECHO_ENUM1: Self = Self(1);
    pub const ECHO_ENUM2: Self = Self(2);
}
// SAFETY: zero is a value of its type, and the bytes are an i32's.
unsafe impl obvia::rt::Value for Enum1 {
    const SIZE: usize = 4;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        obvia::rt::Value::store(&self.0, frame, at);
    }
    #[inline]
    fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {
        <i32 as obvia::rt::Value>::load(frame, at).filter(|value| matches!(value, 0..=32767)).map(Self)
    }
}

#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Enum1_32(pub i32);
impl Enum1_32 {
    pub const ECHO_ENUM1_32: Self = Self(1);
    pub const ECHO_ENUM2_32: Self = Self(2);
}
// SAFETY: zero is a value of its type, and the bytes are an i32's.
unsafe impl obvia::rt::Value for Enum1_32 {
    const SIZE: usize = 4;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        obvia::rt::Value::store(&self.0, frame, at);
    }
    #[inline]
    fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {
        <i32 as obvia::rt::Value>::load(frame, at).filter(|value| matches!(value, 1 | 2)).map(Self)
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info1 {
    pub v: u8,
}
const _: () = assert!(size_of::<Info1>() == 1);
impl Default for Info1 {
    fn default() -> Self {
        obvia::rt::zero()
    }
}
// SAFETY: every member's type says that zero is a value of it.
unsafe impl obvia::rt::Value for Info1 {
    const SIZE: usize = 1;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        frame[at..at + 1].fill(0);
        obvia::rt::Value::store(&self.v, frame, at + 0);
    }
    #[inline]
    fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {
        Some(Self {
            v: obvia::rt::Value::load(frame, at + 0)?,
        })
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info2 {
    pub v: u16,
}
const _: () = assert!(size_of::<Info2>() == 2);
impl Default for Info2 {
    fn default() -> Self {
        obvia::rt::zero()
    }
}
// SAFETY: every member's type says that zero is a value of it.
unsafe impl obvia::rt::Value for Info2 {
    const SIZE: usize = 2;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        frame[at..at + 2].fill(0);
        obvia::rt::Value::store(&self.v, frame, at + 0);
    }
    #[inline]
    fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {
        Some(Self {
            v: obvia::rt::Value::load(frame, at + 0)?,
        })
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info3 {
    pub v: u32,
}
const _: () = assert!(size_of::<Info3>() == 4);
impl Default for Info3 {
    fn default() -> Self {
        obvia::rt::zero()
    }
}
// SAFETY: every member's type says that zero is a value of it.
unsafe impl obvia::rt::Value for Info3 {
    const SIZE: usize = 4;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        frame[at..at + 4].fill(0);
        obvia::rt::Value::store(&self.v, frame, at + 0);
    }
    #[inline]
    fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {
        Some(Self {
            v: obvia::rt::Value::load(frame, at + 0)?,
        })
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info4 {
    pub v: u64,
}
const _: () = assert!(size_of::<Info4>() == 8);
impl Default for Info4 {
    fn default() -> Self {
        obvia::rt::zero()
    }
}
// SAFETY: every member's type says that zero is a value of it.
unsafe impl obvia::rt::Value for Info4 {
    const SIZE: usize = 8;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        frame[at..at + 8].fill(0);
        obvia::rt::Value::store(&self.v, frame, at + 0);
    }
    #[inline]
    fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {
        Some(Self {
            v: obvia::rt::Value::load(frame, at + 0)?,
        })
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info5 {
    pub v1: u8,
    pub v2: u64,
}
const _: () = assert!(size_of::<Info5>() == 16);
impl Default for Info5 {
    fn default() -> Self {
        obvia::rt::zero()
    }
}
// SAFETY: every member's type says that zero is a value of it.
unsafe impl obvia::rt::Value for Info5 {
    const SIZE: usize = 16;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        frame[at..at + 16].fill(0);
        obvia::rt::Value::store(&self.v1, frame, at + 0);
        obvia::rt::Value::store(&self.v2, frame, at + 8);
    }
    #[inline]
    fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {
        Some(Self {
            v1: obvia::rt::Value::load(frame, at + 0)?,
            v2: obvia::rt::Value::load(frame, at + 8)?,
        })
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info6 {
    pub v1: u8,
    pub info1: Info1,
}
const _: () = assert!(size_of::<Info6>() == 2);
impl Default for Info6 {
    fn default() -> Self {
        obvia::rt::zero()
    }
}
// SAFETY: every member's type says that zero is a value of it.
unsafe impl obvia::rt::Value for Info6 {
    const SIZE: usize = 2;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        frame[at..at + 2].fill(0);
        obvia::rt::Value::store(&self.v1, frame, at + 0);
        obvia::rt::Value::store(&self.info1, frame, at + 1);
    }
    #[inline]
    fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {
        Some(Self {
            v1: obvia::rt::Value::load(frame, at + 0)?,
            info1: obvia::rt::Value::load(frame, at + 1)?,
        })
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info7 {
    pub v1: u8,
    pub info4: Info4,
}
const _: () = assert!(size_of::<Info7>() == 16);
impl Default for Info7 {
    fn default() -> Self {
        obvia::rt::zero()
    }
}
// SAFETY: every member's type says that zero is a value of it.
unsafe impl obvia::rt::Value for Info7 {
    const SIZE: usize = 16;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        frame[at..at + 16].fill(0);
        obvia::rt::Value::store(&self.v1, frame, at + 0);
        obvia::rt::Value::store(&self.info4, frame, at + 8);
    }
    #[inline]
    fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {
        Some(Self {
            v1: obvia::rt::Value::load(frame, at + 0)?,
            info4: obvia::rt::Value::load(frame, at + 8)?,
        })
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enum2 {
    pub e1: Enum1,
    pub e2: Enum1_32,
}
const _: () = assert!(size_of::<Enum2>() == 8);
impl Default for Enum2 {
    fn default() -> Self {
        obvia::rt::zero()
    }
}
// SAFETY: every member's type says that zero is a value of it.
unsafe impl obvia::rt::Value for Enum2 {
    const SIZE: usize = 8;
    #[inline]
    fn store(&self, frame: &mut [u8], at: usize) {
        frame[at..at + 8].fill(0);
        obvia::rt::Value::store(&self.e1, frame, at + 0);
        obvia::rt::Value::store(&self.e2, frame, at + 4);
    }
    #[inline]
    fn load(frame: obvia::rt::RegionView<'_>, at: usize) -> Option<Self> {
        Some(Self {
            e1: obvia::rt::Value::load(frame, at + 0)?,
            e2: obvia::rt::Value::load(frame, at + 4)?,
        })
    }
}

/// `struct Surrounding`, which ends in elements. It is borrowed, or [`obvia::Owned`].
#[repr(C)]
pub struct Surrounding {
    x: u32,
    surrounding: [u16; 0],
}
const _: () = assert!(size_of::<Surrounding>() == 4);
impl Surrounding {
    /// Fails when there are more elements than the structure can say, or other than it says.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(surrounding: &[u16]) -> obvia::Result<obvia::Owned<Self>> {
        let x: u32 = obvia::rt::count(surrounding.len())?;
        // SAFETY: the members say how many elements follow them.
        unsafe { obvia::rt::open(Self { x, surrounding: [] }, 4, surrounding) }
    }
    pub fn x(&self) -> u32 {
        self.x
    }
    pub fn surrounding(&self) -> &[u16] {
        let count = obvia::rt::elements_of((|| Some(i64::try_from(self.x).ok()?))()).unwrap_or(0);
        // SAFETY: as many follow: `new` and the check of frames see to it.
        unsafe { obvia::rt::behind(self, 4, count) }
    }
}
impl std::fmt::Debug for Surrounding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surrounding").field("x", &self.x()).field("surrounding", &self.surrounding()).finish()
    }
}

/// `union Info`
#[derive(Clone, Copy, Debug)]
pub enum Info<'a> {
    Info1(Info1),
    Info2(Info2),
    Info3(Info3),
    Info4(Info4),
    Info5(Info5),
    Info6(Info6),
    Info7(Info7),
    #[doc(hidden)]
    Borrowed__(std::convert::Infallible, std::marker::PhantomData<&'a ()>),
}
#[doc(hidden)]
#[repr(C)]
pub union InfoRaw<'a> {
    info1: std::mem::ManuallyDrop<Info1>,
    info2: std::mem::ManuallyDrop<Info2>,
    info3: std::mem::ManuallyDrop<Info3>,
    info4: std::mem::ManuallyDrop<Info4>,
    info5: std::mem::ManuallyDrop<Info5>,
    info6: std::mem::ManuallyDrop<Info6>,
    info7: std::mem::ManuallyDrop<Info7>,
    nothing__: std::marker::PhantomData<&'a ()>,
}
const _: () = assert!(size_of::<InfoRaw<'static>>() == 16);
impl Clone for InfoRaw<'_> {
    fn clone(&self) -> Self {
        // SAFETY: nothing in it owns anything, so a copy of the bytes is as good.
        unsafe { std::ptr::read(self) }
    }
}
impl<'a> Info<'a> {
    /// The discriminant.
    pub fn tag(&self) -> u16 {
        match self {
            Self::Info1(_) => 1,
            Self::Info2(_) => 2,
            Self::Info3(_) => 3,
            Self::Info4(_) => 4,
            Self::Info5(_) => 5,
            Self::Info6(_) => 6,
            Self::Info7(_) => 7,
            Self::Borrowed__(never, _) => match *never {},
        }
    }
    /// Whether this is the arm of a discriminant, and says so itself.
    fn fits(&self, tag: i64) -> bool {
        match self {
            Self::Info1(_) => tag == 1,
            Self::Info2(_) => tag == 2,
            Self::Info3(_) => tag == 3,
            Self::Info4(_) => tag == 4,
            Self::Info5(_) => tag == 5,
            Self::Info6(_) => tag == 6,
            Self::Info7(_) => tag == 7,
            Self::Borrowed__(never, _) => match *never {},
        }
    }
    fn raw(self) -> InfoRaw<'a> {
        match self {
            Self::Info1(value) => InfoRaw { info1: std::mem::ManuallyDrop::new(value) },
            Self::Info2(value) => InfoRaw { info2: std::mem::ManuallyDrop::new(value) },
            Self::Info3(value) => InfoRaw { info3: std::mem::ManuallyDrop::new(value) },
            Self::Info4(value) => InfoRaw { info4: std::mem::ManuallyDrop::new(value) },
            Self::Info5(value) => InfoRaw { info5: std::mem::ManuallyDrop::new(value) },
            Self::Info6(value) => InfoRaw { info6: std::mem::ManuallyDrop::new(value) },
            Self::Info7(value) => InfoRaw { info7: std::mem::ManuallyDrop::new(value) },
            Self::Borrowed__(never, _) => match never {},
        }
    }
}
impl<'a> InfoRaw<'a> {
    /// # Safety
    ///
    /// The arm must be the discriminant's, and what it points to live for `'a`.
    unsafe fn get<'s>(&self, tag: i64) -> Info<'s> {
        match tag {
            1 => Info::Info1(*(&**unsafe { &self.info1 })),
            2 => Info::Info2(*(&**unsafe { &self.info2 })),
            3 => Info::Info3(*(&**unsafe { &self.info3 })),
            4 => Info::Info4(*(&**unsafe { &self.info4 })),
            5 => Info::Info5(*(&**unsafe { &self.info5 })),
            6 => Info::Info6(*(&**unsafe { &self.info6 })),
            7 => Info::Info7(*(&**unsafe { &self.info7 })),
            _ => unreachable!("the discriminant was checked"),
        }
    }
}

/// `union Enum3`
#[derive(Clone, Copy, Debug)]
pub enum Enum3<'a> {
    E1(Enum1),
    E2(Enum2),
    #[doc(hidden)]
    Borrowed__(std::convert::Infallible, std::marker::PhantomData<&'a ()>),
}
#[doc(hidden)]
#[repr(C)]
pub union Enum3Raw<'a> {
    e1: std::mem::ManuallyDrop<Enum1>,
    e2: std::mem::ManuallyDrop<Enum2>,
    nothing__: std::marker::PhantomData<&'a ()>,
}
const _: () = assert!(size_of::<Enum3Raw<'static>>() == 8);
impl Clone for Enum3Raw<'_> {
    fn clone(&self) -> Self {
        // SAFETY: nothing in it owns anything, so a copy of the bytes is as good.
        unsafe { std::ptr::read(self) }
    }
}
impl<'a> Enum3<'a> {
    /// The discriminant.
    pub fn tag(&self) -> u16 {
        match self {
            Self::E1(_) => 1,
            Self::E2(_) => 2,
            Self::Borrowed__(never, _) => match *never {},
        }
    }
    /// Whether this is the arm of a discriminant, and says so itself.
    fn fits(&self, tag: i64) -> bool {
        match self {
            Self::E1(_) => tag == 1,
            Self::E2(_) => tag == 2,
            Self::Borrowed__(never, _) => match *never {},
        }
    }
    fn raw(self) -> Enum3Raw<'a> {
        match self {
            Self::E1(value) => Enum3Raw { e1: std::mem::ManuallyDrop::new(value) },
            Self::E2(value) => Enum3Raw { e2: std::mem::ManuallyDrop::new(value) },
            Self::Borrowed__(never, _) => match never {},
        }
    }
}
impl<'a> Enum3Raw<'a> {
    /// # Safety
    ///
    /// The arm must be the discriminant's, and what it points to live for `'a`.
    unsafe fn get<'s>(&self, tag: i64) -> Enum3<'s> {
        match tag {
            1 => Enum3::E1(*(&**unsafe { &self.e1 })),
            2 => Enum3::E2(*(&**unsafe { &self.e2 })),
            _ => unreachable!("the discriminant was checked"),
        }
    }
}

static TYPES__: [obvia::rt::shape::ElementType; 11] = {
    use obvia::rt::shape::*;
    [
        ElementType { size: 1, shape: Shape { runs: &[(0, 1)], parts: &[] }, tail: None },
        ElementType { size: 2, shape: Shape { runs: &[(0, 2)], parts: &[] }, tail: None },
        ElementType { size: 4, shape: Shape { runs: &[(0, 4)], parts: &[] }, tail: None },
        ElementType { size: 8, shape: Shape { runs: &[(0, 8)], parts: &[] }, tail: None },
        ElementType { size: 16, shape: Shape { runs: &[(0, 1), (8, 8)], parts: &[] }, tail: None },
        ElementType { size: 2, shape: Shape { runs: &[(0, 2)], parts: &[] }, tail: None },
        ElementType { size: 16, shape: Shape { runs: &[(0, 1), (8, 8)], parts: &[] }, tail: None },
        ElementType { size: 8, shape: Shape { runs: &[(0, 8)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }, Part { at: 4, what: What::Enum(&[1, 2]) }] }, tail: None },
        ElementType { size: 4, shape: Shape { runs: &[(0, 4)], parts: &[] }, tail: Some(Tail { at: 4, size: 2, shape: Shape { runs: &[(0, 2)], parts: &[] }, count: Expr::Member(0, Int::U32), length: None }) },
        ElementType { size: 4, shape: Shape { runs: &[(0, 4)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }] }, tail: None },
        ElementType { size: 4, shape: Shape { runs: &[(0, 4)], parts: &[Part { at: 0, what: What::Enum(&[1, 2]) }] }, tail: None },
    ]
};
// SAFETY: the table was made for it.
unsafe impl obvia::Graph for Info1 {
    type Item<'a> = Self;
    const TYPES: &'static [obvia::rt::shape::ElementType] = &TYPES__;
    const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own(0);
    const CAN_CHANGE: bool = false;
}
// SAFETY: the table was made for it.
unsafe impl obvia::Graph for Info2 {
    type Item<'a> = Self;
    const TYPES: &'static [obvia::rt::shape::ElementType] = &TYPES__;
    const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own(1);
    const CAN_CHANGE: bool = false;
}
// SAFETY: the table was made for it.
unsafe impl obvia::Graph for Info3 {
    type Item<'a> = Self;
    const TYPES: &'static [obvia::rt::shape::ElementType] = &TYPES__;
    const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own(2);
    const CAN_CHANGE: bool = false;
}
// SAFETY: the table was made for it.
unsafe impl obvia::Graph for Info4 {
    type Item<'a> = Self;
    const TYPES: &'static [obvia::rt::shape::ElementType] = &TYPES__;
    const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own(3);
    const CAN_CHANGE: bool = false;
}
// SAFETY: the table was made for it.
unsafe impl obvia::Graph for Info5 {
    type Item<'a> = Self;
    const TYPES: &'static [obvia::rt::shape::ElementType] = &TYPES__;
    const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own(4);
    const CAN_CHANGE: bool = false;
}
// SAFETY: the table was made for it.
unsafe impl obvia::Graph for Info6 {
    type Item<'a> = Self;
    const TYPES: &'static [obvia::rt::shape::ElementType] = &TYPES__;
    const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own(5);
    const CAN_CHANGE: bool = false;
}
// SAFETY: the table was made for it.
unsafe impl obvia::Graph for Info7 {
    type Item<'a> = Self;
    const TYPES: &'static [obvia::rt::shape::ElementType] = &TYPES__;
    const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own(6);
    const CAN_CHANGE: bool = false;
}
// SAFETY: the table was made for it.
unsafe impl obvia::Graph for Enum2 {
    type Item<'a> = Self;
    const TYPES: &'static [obvia::rt::shape::ElementType] = &TYPES__;
    const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own(7);
    const CAN_CHANGE: bool = false;
}
// SAFETY: the table was made for it.
unsafe impl obvia::Graph for Surrounding {
    type Item<'a> = Self;
    const TYPES: &'static [obvia::rt::shape::ElementType] = &TYPES__;
    const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own(8);
    const CAN_CHANGE: bool = false;
}
// SAFETY: the table was made for it.
unsafe impl obvia::Graph for Enum1 {
    type Item<'a> = Self;
    const TYPES: &'static [obvia::rt::shape::ElementType] = &TYPES__;
    const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own(9);
    const CAN_CHANGE: bool = false;
}
// SAFETY: the table was made for it.
unsafe impl obvia::Graph for Enum1_32 {
    type Item<'a> = Self;
    const TYPES: &'static [obvia::rt::shape::ElementType] = &TYPES__;
    const ELEMENT: obvia::rt::shape::Element = obvia::rt::shape::Element::Own(10);
    const CAN_CHANGE: bool = false;
}

/// `interface rpcecho`
#[repr(transparent)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct rpcecho(obvia::IUnknown);
// SAFETY: a transparent wrapper of an interface pointer whose vtable is the one below.
unsafe impl obvia::Interface for rpcecho {
    type Vtable = rpcecho_Vtbl;
    const IID: obvia::GUID = obvia::GUID::from_u128(0x60a15ec54de811d7a637005056a20182);
}
obvia::rt::windows_core::imp::interface_hierarchy!(rpcecho, obvia::IUnknown);
impl std::ops::Deref for rpcecho {
    type Target = obvia::IUnknown;
    fn deref(&self) -> &Self::Target {
        std::convert::Into::into(self)
    }
}

#[repr(C)]
#[doc(hidden)]
pub struct rpcecho_Vtbl {
    pub base__: obvia::rt::IUnknown_Vtbl,
    pub AddOne: unsafe extern "system" fn(this: *mut obvia::rt::c_void, in_data_: u32, out_data_: *mut u32) -> obvia::HRESULT,
    pub EchoData: unsafe extern "system" fn(this: *mut obvia::rt::c_void, len: u32, in_data_: *const u8, out_data_: *mut u8) -> obvia::HRESULT,
    pub SinkData: unsafe extern "system" fn(this: *mut obvia::rt::c_void, len: u32, data: *const u8) -> obvia::HRESULT,
    pub SourceData: unsafe extern "system" fn(this: *mut obvia::rt::c_void, len: u32, data: *mut u8) -> obvia::HRESULT,
    pub TestCall: unsafe extern "system" fn(this: *mut obvia::rt::c_void, s1: *const u16, s2: *mut *mut u16) -> obvia::HRESULT,
    pub TestCall2: unsafe extern "system" fn(this: *mut obvia::rt::c_void, level: u16, info: *mut obvia::rt::c_void, returned: *mut u32) -> obvia::HRESULT,
    pub TestSleep: unsafe extern "system" fn(this: *mut obvia::rt::c_void, seconds: u32, returned: *mut u32) -> obvia::HRESULT,
    pub TestEnum: unsafe extern "system" fn(this: *mut obvia::rt::c_void, foo1: *mut Enum1, foo2: *mut Enum2, foo3: *mut obvia::rt::c_void) -> obvia::HRESULT,
    pub TestSurrounding: unsafe extern "system" fn(this: *mut obvia::rt::c_void, data: *mut obvia::rt::c_void) -> obvia::HRESULT,
    pub TestDoublePointer: unsafe extern "system" fn(this: *mut obvia::rt::c_void, data: *const obvia::rt::c_void, returned: *mut u16) -> obvia::HRESULT,
}

impl rpcecho {
    /// Opnum 0: one more than what came.
    pub fn AddOne(&self, in_data_: u32) -> obvia::Result<u32> {
        let mut out_data_ = obvia::rt::zero();
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).AddOne)(obvia::Interface::as_raw(self), in_data_, &mut out_data_) };
        obvia::rt::check(result)?;
        Ok(out_data_)
    }
    /// Opnum 1: what came.
    pub fn EchoData(&self, in_data_: &[u8], out_data_: &mut [u8]) -> obvia::Result<()> {
        let len = obvia::rt::count(in_data_.len())?;
        obvia::rt::check_length(out_data_.len(), Some(in_data_.len()))?;
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).EchoData)(obvia::Interface::as_raw(self), len, in_data_.as_ptr(), out_data_.as_mut_ptr()) };
        obvia::rt::check(result)
    }
    /// Opnum 2: takes what came.
    pub fn SinkData(&self, data: &[u8]) -> obvia::Result<()> {
        let len = obvia::rt::count(data.len())?;
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).SinkData)(obvia::Interface::as_raw(self), len, data.as_ptr()) };
        obvia::rt::check(result)
    }
    /// Opnum 3: bytes that count up from 0.
    pub fn SourceData(&self, data: &mut [u8]) -> obvia::Result<()> {
        let len = obvia::rt::count(data.len())?;
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).SourceData)(obvia::Interface::as_raw(self), len, data.as_mut_ptr()) };
        obvia::rt::check(result)
    }
    /// Opnum 4: a text for a text.
    pub fn TestCall(&self, s1: &obvia::U16CStr) -> obvia::Result<obvia::U16CString> {
        let mut s2 = std::ptr::null_mut();
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).TestCall)(obvia::Interface::as_raw(self), s1.as_ptr().cast(), &mut s2) };
        obvia::rt::check(result)?;
        // SAFETY: the method succeeded, so by COM's rules what it returned is the caller's.
        Ok(unsafe { obvia::rt::take_wide(s2) })
    }
    /// Opnum 5: the information of a level between 1 and 7.
    pub fn TestCall2(&self, level: u16) -> obvia::Result<(Info<'static>, u32)> {
        let mut returned = obvia::rt::zero();
        let mut info_memory = std::mem::MaybeUninit::<InfoRaw<'static>>::zeroed();
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).TestCall2)(obvia::Interface::as_raw(self), level, info_memory.as_mut_ptr().cast(), &mut returned) };
        obvia::rt::check(result)?;
        // SAFETY: the method succeeded, so by COM's rules what it returned is the caller's.
        Ok((unsafe { (*info_memory.as_ptr()).get(obvia::rt::discriminant(level)) }, returned))
    }
    /// Opnum 6: sleeps so long, and returns that.
    pub fn TestSleep(&self, seconds: u32) -> obvia::Result<u32> {
        let mut returned = obvia::rt::zero();
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).TestSleep)(obvia::Interface::as_raw(self), seconds, &mut returned) };
        obvia::rt::check(result)?;
        Ok(returned)
    }
    /// Opnum 7: what came.
    pub fn TestEnum(&self, foo1: &mut Enum1, foo2: &mut Enum2, foo3: &mut Enum3<'static>) -> obvia::Result<()> {
        if !foo3.fits(obvia::rt::discriminant((*foo1).0)) {
            return Err(obvia::rt::wrong_arm());
        }
        let mut foo3_memory = std::mem::MaybeUninit::new(Enum3::raw(*foo3));
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).TestEnum)(obvia::Interface::as_raw(self), foo1, foo2, foo3_memory.as_mut_ptr().cast()) };
        if result.0 >= 0 {
            // SAFETY: the method succeeded, so the union is what its discriminant says.
            *foo3 = unsafe { (*foo3_memory.as_ptr()).get(obvia::rt::discriminant((*foo1).0)) };
        }
        obvia::rt::check(result)
    }
    /// Opnum 8: an array that is twice as long.
    pub fn TestSurrounding(&self, data: &mut obvia::Owned<Surrounding>) -> obvia::Result<()> {
        let mut data_raw = data.as_ptr();
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).TestSurrounding)(obvia::Interface::as_raw(self), (&raw mut data_raw).cast()) };
        // SAFETY: by COM's rules what the method left there is the caller's, in place of what was there.
        unsafe { obvia::rt::put_owned(data, data_raw) };
        obvia::rt::check(result)
    }
    /// Opnum 9: the number at the end of the pointers, or 0 where there is none.
    pub fn TestDoublePointer(&self, data: &Option<&'_ Option<&'_ u16>>) -> obvia::Result<u16> {
        let mut returned = obvia::rt::zero();
        // SAFETY: an interface pointer's vtable is its interface's; what is passed lives until the call returns.
        let result = unsafe { (obvia::Interface::vtable(self).TestDoublePointer)(obvia::Interface::as_raw(self), std::ptr::from_ref(data).cast(), &mut returned) };
        obvia::rt::check(result)?;
        Ok(returned)
    }
}

/// What an object that has [`rpcecho`] implements.
///
/// Its methods are called by several threads at once, and it is dropped by any.
pub trait rpcecho_Impl: obvia::rt::IUnknownImpl<Impl: Send + Sync + 'static> {
    /// Opnum 0: one more than what came.
    fn AddOne(&self, in_data: u32) -> obvia::Result<u32>;
    /// Opnum 1: what came.
    fn EchoData(&self, in_data: &[u8], out_data: &mut [u8]) -> obvia::Result<()>;
    /// Opnum 2: takes what came.
    fn SinkData(&self, data: &[u8]) -> obvia::Result<()>;
    /// Opnum 3: bytes that count up from 0.
    fn SourceData(&self, data: &mut [u8]) -> obvia::Result<()>;
    /// Opnum 4: a text for a text.
    fn TestCall(&self, s1: &obvia::U16CStr) -> obvia::Result<obvia::U16CString>;
    /// Opnum 5: the information of a level between 1 and 7.
    fn TestCall2(&self, level: u16) -> obvia::Result<(Info<'static>, u32)>;
    /// Opnum 6: sleeps so long, and returns that.
    fn TestSleep(&self, seconds: u32) -> obvia::Result<u32>;
    /// Opnum 7: what came.
    fn TestEnum(&self, foo1: &mut Enum1, foo2: &mut Enum2, foo3: &mut Enum3<'static>) -> obvia::Result<()>;
    /// Opnum 8: an array that is twice as long.
    fn TestSurrounding(&self, data: &mut obvia::Owned<Surrounding>) -> obvia::Result<()>;
    /// Opnum 9: the number at the end of the pointers, or 0 where there is none.
    fn TestDoublePointer(&self, data: &Option<&'_ Option<&'_ u16>>) -> obvia::Result<u16>;
}

impl rpcecho_Vtbl {
    /// The vtable of an implementation.
    pub const fn new<Identity: rpcecho_Impl + Send + Sync + 'static, const OFFSET: isize>() -> Self {
        unsafe extern "system" fn AddOne<Identity: rpcecho_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, in_data_: u32, out_data_: *mut u32) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                match this.AddOne(in_data_) {
                    Ok(out_data_value) => {
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { out_data_.write(out_data_value) };
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn EchoData<Identity: rpcecho_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, len: u32, in_data_: *const u8, out_data_: *mut u8) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let in_data_given = unsafe { obvia::rt::slice(in_data_, obvia::rt::elements(len).unwrap_or(0)) };
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let out_data_given = unsafe { obvia::rt::slice_mut(out_data_, obvia::rt::elements(len).unwrap_or(0)) };
                match this.EchoData(in_data_given, out_data_given) {
                    Ok(()) => {
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn SinkData<Identity: rpcecho_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, len: u32, data: *const u8) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let data_given = unsafe { obvia::rt::slice(data, obvia::rt::elements(len).unwrap_or(0)) };
                match this.SinkData(data_given) {
                    Ok(()) => {
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn SourceData<Identity: rpcecho_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, len: u32, data: *mut u8) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let data_given = unsafe { obvia::rt::slice_mut(data, obvia::rt::elements(len).unwrap_or(0)) };
                match this.SourceData(data_given) {
                    Ok(()) => {
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn TestCall<Identity: rpcecho_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, s1: *const u16, s2: *mut *mut u16) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let s1_given = unsafe { obvia::rt::wide(s1).unwrap_or_default() };
                match this.TestCall(s1_given) {
                    Ok(s2_value) => {
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { s2.write(obvia::rt::give_wide(s2_value)) };
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn TestCall2<Identity: rpcecho_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, level: u16, info: *mut obvia::rt::c_void, returned: *mut u32) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                match this.TestCall2(level) {
                    Ok((info_value, returned_value)) => {
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { returned.write(returned_value) };
                        if !info_value.fits(obvia::rt::discriminant(level)) {
                            return obvia::rt::fail(obvia::rt::wrong_arm());
                        }
                        let info_memory = Info::raw(info_value);
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { info.cast::<InfoRaw<'_>>().write(info_memory) };
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn TestSleep<Identity: rpcecho_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, seconds: u32, returned: *mut u32) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                match this.TestSleep(seconds) {
                    Ok(returned_value) => {
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { returned.write(returned_value) };
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        unsafe extern "system" fn TestEnum<Identity: rpcecho_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, foo1: *mut Enum1, foo2: *mut Enum2, foo3: *mut obvia::rt::c_void) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let mut foo3_given = unsafe { (&*foo3.cast::<Enum3Raw<'_>>()).get(obvia::rt::discriminant((unsafe { *foo1 }).0)) };
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let foo1_given = unsafe { &mut *foo1 };
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let foo2_given = unsafe { &mut *foo2 };
                let result = match this.TestEnum(foo1_given, foo2_given, &mut foo3_given) {
                    Ok(()) => {
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                };
                if result.0 >= 0 {
                    if !foo3_given.fits(obvia::rt::discriminant((unsafe { *foo1 }).0)) {
                        return obvia::rt::fail(obvia::rt::wrong_arm());
                    }
                    let foo3_memory = Enum3::raw(foo3_given);
                    // SAFETY: by COM's rules the caller's pointer is writable.
                    unsafe { foo3.cast::<Enum3Raw<'_>>().write(foo3_memory) };
                }
                result
            })
        }
        unsafe extern "system" fn TestSurrounding<Identity: rpcecho_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, data: *mut obvia::rt::c_void) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let mut data_given = unsafe { match obvia::rt::Held::<Surrounding>::new(data.cast()) { Some(item) => item, None => return obvia::rt::code::E_POINTER } };
                let result = match this.TestSurrounding(&mut data_given) {
                    Ok(()) => {
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                };
                result
            })
        }
        unsafe extern "system" fn TestDoublePointer<Identity: rpcecho_Impl, const OFFSET: isize>(this: *mut obvia::rt::c_void, data: *const obvia::rt::c_void, returned: *mut u16) -> obvia::HRESULT {
            // SAFETY: the vtable is an Identity's, OFFSET pointers from its start, and its holder calls.
            let this = unsafe { obvia::rt::identity::<Identity, OFFSET>(this) };
            obvia::rt::guard(|| {
                // SAFETY: by COM's rules pointer parameters are as the interface says.
                let data_given = unsafe { &*data.cast::<Option<&'_ Option<&'_ u16>>>() };
                match this.TestDoublePointer(data_given) {
                    Ok(returned_value) => {
                        // SAFETY: by COM's rules the caller's pointer is writable.
                        unsafe { returned.write(returned_value) };
                        obvia::rt::code::S_OK
                    }
                    Err(error) => obvia::rt::fail(error),
                }
            })
        }
        Self {
            base__: obvia::rt::IUnknown_Vtbl::new::<Identity, OFFSET>(),
            AddOne: AddOne::<Identity, OFFSET>,
            EchoData: EchoData::<Identity, OFFSET>,
            SinkData: SinkData::<Identity, OFFSET>,
            SourceData: SourceData::<Identity, OFFSET>,
            TestCall: TestCall::<Identity, OFFSET>,
            TestCall2: TestCall2::<Identity, OFFSET>,
            TestSleep: TestSleep::<Identity, OFFSET>,
            TestEnum: TestEnum::<Identity, OFFSET>,
            TestSurrounding: TestSurrounding::<Identity, OFFSET>,
            TestDoublePointer: TestDoublePointer::<Identity, OFFSET>,
        }
    }
    /// Whether a query for this IID is for this vtable.
    pub fn matches(iid: &obvia::GUID) -> bool {
        *iid == <rpcecho as obvia::Interface>::IID || *iid == obvia::rt::IID_CHECKED
    }
}
impl obvia::rt::windows_core::RuntimeName for rpcecho {}

// SAFETY: vtable and stubs below were made for this interface.
unsafe impl obvia::Remote for rpcecho {
    const INFO: &'static obvia::rt::InterfaceInfo = &rpcecho_INFO;
}
// SAFETY: vtable and stubs below were made for this interface.
static rpcecho_INFO: obvia::rt::InterfaceInfo = unsafe {
    obvia::rt::InterfaceInfo::new(obvia::rt::Description {
        name: "rpcecho",
        iid: <rpcecho as obvia::Interface>::IID,
        version: (1, 0),
        fingerprint: 0xfbcfaeb8d8c082509e3c48d9f524b9e7,
        plain: true,
        endpoints: &["ncacn_np:[\\pipe\\rpcecho]", "ncacn_ip_tcp:", "ncalrpc:"],
        base: None,
        proxy: obvia::rt::VtablePointer((&raw const rpcecho_PROXY).cast()),
        stubs: obvia::rt::Stubs::new(&obvia::rt::pad::<16>(&[rpcecho_AddOne_stub, rpcecho_EchoData_stub, rpcecho_SinkData_stub, rpcecho_SourceData_stub, rpcecho_TestCall_stub, rpcecho_TestCall2_stub, rpcecho_TestSleep_stub, rpcecho_TestEnum_stub, rpcecho_TestSurrounding_stub, rpcecho_TestDoublePointer_stub])),
        idl: "typedef [open] enum {\n    ECHO_ENUM1 = 1,\n    ECHO_ENUM2 = 2\n} Enum1;\ntypedef [v1_enum] enum {\n    ECHO_ENUM1_32 = 1,\n    ECHO_ENUM2_32 = 2\n} Enum1_32;\nstruct Enum2;\nstruct Info1;\nstruct Info2;\nstruct Info3;\nstruct Info4;\nstruct Info5;\nstruct Info6;\nstruct Info7;\nstruct Surrounding;\nstruct Enum2 {\n    Enum1 e1;\n    Enum1_32 e2;\n};\nstruct Info1 {\n    char v;\n};\nstruct Info2 {\n    unsigned short v;\n};\nstruct Info3 {\n    unsigned long v;\n};\nstruct Info4 {\n    unsigned hyper v;\n};\nstruct Info5 {\n    char v1;\n    unsigned hyper v2;\n};\nstruct Info6 {\n    char v1;\n    struct Info1 info1;\n};\nstruct Info7 {\n    char v1;\n    struct Info4 info4;\n};\nstruct Surrounding {\n    unsigned long x;\n    [size_is(x)] unsigned short surrounding[];\n};\n[switch_type(unsigned short)] union Enum3 {\n    case 1: Enum1 e1;\n    case 2: struct Enum2 e2;\n};\n[switch_type(unsigned short)] union Info {\n    case 1: struct Info1 info1;\n    case 2: struct Info2 info2;\n    case 3: struct Info3 info3;\n    case 4: struct Info4 info4;\n    case 5: struct Info5 info5;\n    case 6: struct Info6 info6;\n    case 7: struct Info7 info7;\n};\n[uuid(60a15ec5-4de8-11d7-a637-005056a20182), version(1.0), pointer_default(unique)]\ninterface rpcecho {\n    void AddOne([in] unsigned long in_data, [out] unsigned long *out_data);\n    void EchoData([in] unsigned long len, [in, size_is(len)] char *in_data, [out, size_is(len)] char *out_data);\n    void SinkData([in] unsigned long len, [in, size_is(len)] char *data);\n    void SourceData([in] unsigned long len, [out, size_is(len)] char *data);\n    void TestCall([in, string] wchar_t *s1, [out, string] wchar_t **s2);\n    unsigned long TestCall2([in] unsigned short level, [out, switch_is(level)] union Info *info);\n    unsigned long TestSleep([in] unsigned long seconds);\n    void TestEnum([in, out] Enum1 *foo1, [in, out] struct Enum2 *foo2, [in, out, switch_is(*foo1)] union Enum3 *foo3);\n    void TestSurrounding([in, out] struct Surrounding *data);\n    unsigned short TestDoublePointer([in] unsigned short ***data);\n}\n",
        ndr: &[19, 0, 1, 0, 4, 0, 2, 5, 4, 1, 0, 1, 1, 4, 2, 1, 0, 5, 0, 7, 1, 0, 19, 7, 1, 3, 5, 1, 1, 0, 0, 0, 5, 2, 1, 0, 2, 0, 5, 4, 1, 0, 1, 0, 0, 8, 5, 8, 1, 0, 9, 0, 5, 16, 2, 0, 0, 8, 9, 0, 5, 2, 2, 0, 0, 1, 6, 0, 5, 16, 2, 0, 0, 8, 10, 0, 6, 16, 2, 3, 1, 2, 0, 0, 7, 1, 1, 1, 6, 1, 2, 1, 7, 1, 3, 1, 8, 1, 4, 1, 10, 1, 5, 1, 11, 1, 6, 1, 12, 1, 7, 1, 13, 0, 2, 5, 8, 2, 0, 15, 4, 1, 0, 6, 8, 2, 3, 1, 1, 0, 4, 0, 2, 1, 1, 1, 15, 1, 2, 1, 16, 0, 7, 1, 0, 18, 4, 0, 3, 4, 2, 10, 3, 2, 4, 1, 0, 0, 1, 4, 1, 0, 0, 1, 0, 4, 0, 16, 2, 0, 0, 1, 8, 1, 1, 16, 1, 0, 5, 0, 8, 1, 0, 1, 1, 16, 2, 0, 0, 1, 0, 5, 5, 0, 16, 2, 0, 0, 1, 8, 1, 1, 16, 1, 0, 5, 0, 0, 0, 0, 6, 0, 4, 1, 0, 0, 1, 8, 1, 0, 1, 1, 16, 2, 0, 0, 1, 0, 5, 7, 0, 8, 1, 0, 1, 3, 8, 1, 0, 0, 5, 0, 8, 0, 2, 1, 0, 0, 2, 20, 2, 0, 0, 14, 16, 0, 1, 1, 0, 3, 9, 0, 4, 1, 0, 0, 1, 4, 1, 0, 0, 1, 0, 10, 0, 20, 3, 0, 0, 15, 4, 0, 16, 12, 0, 17, 20, 3, 0, 0, 15, 4, 0, 16, 12, 0, 17, 0, 11, 0, 8, 1, 0, 1, 0, 17, 8, 1, 0, 1, 0, 17, 0, 12, 0, 8, 1, 0, 0, 18, 2, 1, 0, 0, 2, 0],
        module: INTERFACES,
    })
};
static rpcecho_PROXY: rpcecho_Vtbl = rpcecho_Vtbl { base__: obvia::rt::UNKNOWN, AddOne: rpcecho_AddOne_proxy, EchoData: rpcecho_EchoData_proxy, SinkData: rpcecho_SinkData_proxy, SourceData: rpcecho_SourceData_proxy, TestCall: rpcecho_TestCall_proxy, TestCall2: rpcecho_TestCall2_proxy, TestSleep: rpcecho_TestSleep_proxy, TestEnum: rpcecho_TestEnum_proxy, TestSurrounding: rpcecho_TestSurrounding_proxy, TestDoublePointer: rpcecho_TestDoublePointer_proxy };

static rpcecho_TYPES: [obvia::rt::shape::ElementType; 4] = {
    use obvia::rt::shape::*;
    [
        ElementType { size: 1, shape: Shape { runs: &[(0, 1)], parts: &[] }, tail: None },
        ElementType { size: 4, shape: Shape { runs: &[(0, 4)], parts: &[] }, tail: Some(Tail { at: 4, size: 2, shape: Shape { runs: &[(0, 2)], parts: &[] }, count: Expr::Member(0, Int::U32), length: None }) },
        ElementType { size: 8, shape: Shape { runs: &[], parts: &[Part { at: 0, what: What::Pointer { class: Class::Unique, to: Element::Own(3), extent: Extent::One } }] }, tail: None },
        ElementType { size: 2, shape: Shape { runs: &[(0, 2)], parts: &[] }, tail: None },
    ]
};

// AddOne: opnum 3
//   request   4 bytes: 0 in_data u32
//   reply     4 bytes: 0 out_data u32
unsafe extern "system" fn rpcecho_AddOne_proxy(this: *mut obvia::rt::c_void, in_data_: u32, out_data_: *mut u32) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    // SAFETY: the call is made at once.
    let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {
        // SAFETY: what this function was called with.
        return unsafe { rpcecho_AddOne_prepare(this, in_data_, out_data_) };
    };
    call.make(|call| {
        let frame = call.inline_request()?;
        obvia::rt::Value::store(&in_data_, frame, 0);
        let reply = call.send(3, 4)?;
        let frame = reply.block(4)?;
        let out_data_value: u32 = obvia::rt::value(frame, 0)?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { out_data_.write(out_data_value) };
        Ok(reply.result())
    })
}

#[cold]
unsafe extern "system" fn rpcecho_AddOne_prepare(this: *mut obvia::rt::c_void, in_data_: u32, out_data_: *mut u32) -> obvia::HRESULT {
    // SAFETY: as for the proxy.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    if let Some(failed) = proxy.prepare() {
        return failed;
    }
    // SAFETY: what this function was called with.
    unsafe { rpcecho_AddOne_proxy(this, in_data_, out_data_) }
}

unsafe extern "C-unwind" fn rpcecho_AddOne_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.block(4)?;
        let in_data_: u32 = obvia::rt::argument(frame, 0)?;
        let mut out_data_: u32 = obvia::rt::zero();
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<rpcecho_Vtbl>(object).AddOne)(object, in_data_, &mut out_data_) };
        let frame = call.inline_reply();
        obvia::rt::Value::store(&out_data_, frame, 0);
        Ok(obvia::rt::results(result, 4))
    })
}

// EchoData: opnum 4
//   request  16 bytes: 0 len u32, 8 in_data ->
//   reply     8 bytes: 0 out_data ->
unsafe extern "system" fn rpcecho_EchoData_proxy(this: *mut obvia::rt::c_void, len: u32, in_data_: *const u8, out_data_: *mut u8) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    // SAFETY: the call is made at once.
    let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {
        // SAFETY: what this function was called with.
        return unsafe { rpcecho_EchoData_prepare(this, len, in_data_, out_data_) };
    };
    call.make(|call| {
        let in_data_count = obvia::rt::elements(len).ok_or(obvia::rt::code::E_INVALIDARG)?;
        let measure = obvia::rt::Measure::block(16)
        .array(in_data_count, 1)?
        ;
        let length = measure.length();
        let frame = call.request(measure)?;
        obvia::rt::Value::store(&len, frame, 0);
        let mut arrays = obvia::rt::Arrays::behind(16);
        // SAFETY: by COM's rules the caller's array has as many elements as it says.
        unsafe { obvia::rt::put_array(frame, &mut arrays, 8, 16, in_data_count, in_data_) };
        let reply = call.send(4, length)?;
        let frame = reply.frame(8)?;
        let mut arrays = obvia::rt::Arrays::behind(8);
        let out_data_count = obvia::rt::elements(len).ok_or(obvia::rt::code::E_INVALIDARG)?;
        // SAFETY: by COM's rules the caller's array has room for as many elements as it says.
        unsafe { reply.copy_out(&mut arrays, 0, 16, out_data_count, out_data_) }?;
        reply.end(arrays)?;
        Ok(reply.result())
    })
}

#[cold]
unsafe extern "system" fn rpcecho_EchoData_prepare(this: *mut obvia::rt::c_void, len: u32, in_data_: *const u8, out_data_: *mut u8) -> obvia::HRESULT {
    // SAFETY: as for the proxy.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    if let Some(failed) = proxy.prepare() {
        return failed;
    }
    // SAFETY: what this function was called with.
    unsafe { rpcecho_EchoData_proxy(this, len, in_data_, out_data_) }
}

unsafe extern "C-unwind" fn rpcecho_EchoData_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.frame(16)?;
        let len: u32 = obvia::rt::argument(frame, 0)?;
        let mut request = obvia::rt::Arrays::behind(16);
        let in_data_count = obvia::rt::elements(len).ok_or(obvia::rt::Status::BAD_STUB_DATA)?;
        let in_data_data = call.copy_in::<u8>(&mut request, 8, 16, in_data_count)?;
        let out_data_count = obvia::rt::elements(len).ok_or(obvia::rt::Status::BAD_STUB_DATA)?;
        let measure = obvia::rt::Measure::block(8)
        .array(out_data_count, 1).map_err(|_| obvia::rt::Status::REMOTE_NO_MEMORY)?
        ;
        let length = measure.length();
        let mut reply = call.reply(measure)?;
        let mut arrays = obvia::rt::Arrays::behind(8);
        let out_data_data = reply.array::<u8>(&mut arrays, 0, 16, out_data_count);
        call.end(request)?;
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<rpcecho_Vtbl>(object).EchoData)(object, len, in_data_data, out_data_data) };
        let frame = reply.bytes();
        Ok(obvia::rt::results(result, length))
    })
}

// SinkData: opnum 5
//   request  16 bytes: 0 len u32, 8 data ->
//   reply     0 bytes: nothing
unsafe extern "system" fn rpcecho_SinkData_proxy(this: *mut obvia::rt::c_void, len: u32, data: *const u8) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    // SAFETY: the call is made at once.
    let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {
        // SAFETY: what this function was called with.
        return unsafe { rpcecho_SinkData_prepare(this, len, data) };
    };
    call.make(|call| {
        let data_count = obvia::rt::elements(len).ok_or(obvia::rt::code::E_INVALIDARG)?;
        let measure = obvia::rt::Measure::block(16)
        .array(data_count, 1)?
        ;
        let length = measure.length();
        let frame = call.request(measure)?;
        obvia::rt::Value::store(&len, frame, 0);
        let mut arrays = obvia::rt::Arrays::behind(16);
        // SAFETY: by COM's rules the caller's array has as many elements as it says.
        unsafe { obvia::rt::put_array(frame, &mut arrays, 8, 16, data_count, data) };
        let reply = call.send(5, length)?;
        reply.block(0)?;
        Ok(reply.result())
    })
}

#[cold]
unsafe extern "system" fn rpcecho_SinkData_prepare(this: *mut obvia::rt::c_void, len: u32, data: *const u8) -> obvia::HRESULT {
    // SAFETY: as for the proxy.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    if let Some(failed) = proxy.prepare() {
        return failed;
    }
    // SAFETY: what this function was called with.
    unsafe { rpcecho_SinkData_proxy(this, len, data) }
}

unsafe extern "C-unwind" fn rpcecho_SinkData_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.frame(16)?;
        let len: u32 = obvia::rt::argument(frame, 0)?;
        let mut request = obvia::rt::Arrays::behind(16);
        let data_count = obvia::rt::elements(len).ok_or(obvia::rt::Status::BAD_STUB_DATA)?;
        let data_data = call.copy_in::<u8>(&mut request, 8, 16, data_count)?;
        call.end(request)?;
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<rpcecho_Vtbl>(object).SinkData)(object, len, data_data) };
        Ok(obvia::rt::no_results(result))
    })
}

// SourceData: opnum 6
//   request   4 bytes: 0 len u32
//   reply     8 bytes: 0 data ->
unsafe extern "system" fn rpcecho_SourceData_proxy(this: *mut obvia::rt::c_void, len: u32, data: *mut u8) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    // SAFETY: the call is made at once.
    let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {
        // SAFETY: what this function was called with.
        return unsafe { rpcecho_SourceData_prepare(this, len, data) };
    };
    call.make(|call| {
        let frame = call.inline_request()?;
        obvia::rt::Value::store(&len, frame, 0);
        let reply = call.send(6, 4)?;
        let frame = reply.frame(8)?;
        let mut arrays = obvia::rt::Arrays::behind(8);
        let data_count = obvia::rt::elements(len).ok_or(obvia::rt::code::E_INVALIDARG)?;
        // SAFETY: by COM's rules the caller's array has room for as many elements as it says.
        unsafe { reply.copy_out(&mut arrays, 0, 16, data_count, data) }?;
        reply.end(arrays)?;
        Ok(reply.result())
    })
}

#[cold]
unsafe extern "system" fn rpcecho_SourceData_prepare(this: *mut obvia::rt::c_void, len: u32, data: *mut u8) -> obvia::HRESULT {
    // SAFETY: as for the proxy.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    if let Some(failed) = proxy.prepare() {
        return failed;
    }
    // SAFETY: what this function was called with.
    unsafe { rpcecho_SourceData_proxy(this, len, data) }
}

unsafe extern "C-unwind" fn rpcecho_SourceData_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.block(4)?;
        let len: u32 = obvia::rt::argument(frame, 0)?;
        let data_count = obvia::rt::elements(len).ok_or(obvia::rt::Status::BAD_STUB_DATA)?;
        let measure = obvia::rt::Measure::block(8)
        .array(data_count, 1).map_err(|_| obvia::rt::Status::REMOTE_NO_MEMORY)?
        ;
        let length = measure.length();
        let mut reply = call.reply(measure)?;
        let mut arrays = obvia::rt::Arrays::behind(8);
        let data_data = reply.array::<u8>(&mut arrays, 0, 16, data_count);
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<rpcecho_Vtbl>(object).SourceData)(object, len, data_data) };
        let frame = reply.bytes();
        Ok(obvia::rt::results(result, length))
    })
}

// TestCall: opnum 7
//   request   8 bytes: 0 s1 ->
//   reply     8 bytes: 0 s2 ->
unsafe extern "system" fn rpcecho_TestCall_proxy(this: *mut obvia::rt::c_void, s1: *const u16, s2: *mut *mut u16) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    // SAFETY: the call is made at once.
    let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {
        // SAFETY: what this function was called with.
        return unsafe { rpcecho_TestCall_prepare(this, s1, s2) };
    };
    call.make(|call| {
        // SAFETY: by COM's rules a string is null or ends in a zero.
        let s1_count = unsafe { obvia::rt::text_count(s1, false) }?;
        let measure = obvia::rt::Measure::block(8)
        .optional(s1_count != 0, s1_count * 2)?
        ;
        let length = measure.length();
        let frame = call.request(measure)?;
        let mut arrays = obvia::rt::Arrays::behind(8);
        // SAFETY: by COM's rules the caller's array has as many elements as it says.
        unsafe { obvia::rt::put_text(frame, &mut arrays, 0, 3, s1_count, s1) };
        let reply = call.send(7, length)?;
        let frame = reply.frame(8)?;
        let mut arrays = obvia::rt::Arrays::behind(8);
        let s2_value = reply.take_text::<u16>(&mut arrays, 0, 3)?;
        reply.end(arrays)?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { s2.write(s2_value.into_raw()) };
        Ok(reply.result())
    })
}

#[cold]
unsafe extern "system" fn rpcecho_TestCall_prepare(this: *mut obvia::rt::c_void, s1: *const u16, s2: *mut *mut u16) -> obvia::HRESULT {
    // SAFETY: as for the proxy.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    if let Some(failed) = proxy.prepare() {
        return failed;
    }
    // SAFETY: what this function was called with.
    unsafe { rpcecho_TestCall_proxy(this, s1, s2) }
}

unsafe extern "C-unwind" fn rpcecho_TestCall_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.frame(8)?;
        let mut request = obvia::rt::Arrays::behind(8);
        let s1_data = call.text_in::<u16>(&mut request, 0, 3)?;
        if s1_data.is_null() {
            return Err(obvia::rt::Status::BAD_STUB_DATA);
        }
        call.end(request)?;
        let mut s2 = std::ptr::null_mut();
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<rpcecho_Vtbl>(object).TestCall)(object, s1_data, &mut s2) };
        // SAFETY: by COM's rules the method gave a string that it allocated, or null.
        let s2_data = unsafe { obvia::rt::OwnedText::<u16>::adopt(s2) };
        if result.0 < 0 {
            return Ok(obvia::rt::no_results(result));
        }
        let measure = obvia::rt::Measure::block(8)
        .optional(!s2_data.is_null(), s2_data.count() * 2).map_err(|_| obvia::rt::Status::REMOTE_NO_MEMORY)?
        ;
        let length = measure.length();
        let mut reply = call.reply(measure)?;
        let frame = reply.bytes();
        let mut arrays = obvia::rt::Arrays::behind(8);
        s2_data.place(frame, &mut arrays, 0, 3);
        Ok(obvia::rt::results(result, length))
    })
}

// TestCall2: opnum 8
//   request   2 bytes: 0 level u16
//   reply    20 bytes: 0 info ->, 16 returned u32
static rpcecho_TestCall2_REQUEST: obvia::rt::shape::Block = {
    use obvia::rt::shape::*;
    Block { size: 2, shape: Shape { runs: &[(0, 2)], parts: &[] } }
};
static rpcecho_TestCall2_REPLY: obvia::rt::shape::Block = {
    use obvia::rt::shape::*;
    Block { size: 20, shape: Shape { runs: &[(16, 4)], parts: &[Part { at: 0, what: What::Union { tag: Expr::Outer(0), arms: &[(&[1], Shape { runs: &[(0, 1)], parts: &[] }), (&[2], Shape { runs: &[(0, 2)], parts: &[] }), (&[3], Shape { runs: &[(0, 4)], parts: &[] }), (&[4], Shape { runs: &[(0, 8)], parts: &[] }), (&[5], Shape { runs: &[], parts: &[Part { at: 0, what: What::Inner { count: 1, stride: 16, shape: Shape { runs: &[(0, 1), (8, 8)], parts: &[] } } }] }), (&[6], Shape { runs: &[(0, 2)], parts: &[] }), (&[7], Shape { runs: &[], parts: &[Part { at: 0, what: What::Inner { count: 1, stride: 16, shape: Shape { runs: &[(0, 1), (8, 8)], parts: &[] } } }] })], default: None } }] } }
};
unsafe extern "system" fn rpcecho_TestCall2_proxy(this: *mut obvia::rt::c_void, level: u16, info: *mut obvia::rt::c_void, returned: *mut u32) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    obvia::rt::ProxyCall::make(proxy, |call| {
        let mut image = obvia::rt::Image::new(obvia::rt::Layout { block: &rpcecho_TestCall2_REQUEST, types: &rpcecho_TYPES });
        image.put(0, level);
        // SAFETY: by COM's rules parameters are what the interface says.
        let reply = unsafe { call.send_graph(8, &image, obvia::rt::Layout { block: &rpcecho_TestCall2_REQUEST, types: &rpcecho_TYPES }) }?;
        if reply.failed() {
            return Ok(reply.result());
        }
        let mut results = reply.graph(obvia::rt::Layout { block: &rpcecho_TestCall2_REPLY, types: &rpcecho_TYPES }, &[i64::try_from(level).unwrap_or(i64::MAX)])?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { results.give(0, info, 16) }?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { results.give(16, returned, 4) }?;
        results.keep();
        Ok(reply.result())
    })
}

unsafe extern "C-unwind" fn rpcecho_TestCall2_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let mut arguments = call.arguments(obvia::rt::Layout { block: &rpcecho_TestCall2_REQUEST, types: &rpcecho_TYPES })?;
        let mut image = obvia::rt::Image::new(obvia::rt::Layout { block: &rpcecho_TestCall2_REPLY, types: &rpcecho_TYPES });
        // SAFETY: checked: of this type.
        let level: u16 = unsafe { arguments.get(0) };
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<rpcecho_Vtbl>(object).TestCall2)(object, level, image.place(0), image.place(16)) };
        // SAFETY: by COM's rules results are what the interface says, and the caller's.
        unsafe { call.respond_graph(result, &image, obvia::rt::Layout { block: &rpcecho_TestCall2_REPLY, types: &rpcecho_TYPES }, &[i64::try_from(level).unwrap_or(i64::MAX)]) }
    })
}

// TestSleep: opnum 9
//   request   4 bytes: 0 seconds u32
//   reply     4 bytes: 0 returned u32
unsafe extern "system" fn rpcecho_TestSleep_proxy(this: *mut obvia::rt::c_void, seconds: u32, returned: *mut u32) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    // SAFETY: the call is made at once.
    let Some(call) = (unsafe { obvia::rt::PlainCall::begin(proxy) }) else {
        // SAFETY: what this function was called with.
        return unsafe { rpcecho_TestSleep_prepare(this, seconds, returned) };
    };
    call.make(|call| {
        let frame = call.inline_request()?;
        obvia::rt::Value::store(&seconds, frame, 0);
        let reply = call.send(9, 4)?;
        let frame = reply.block(4)?;
        let returned_value: u32 = obvia::rt::value(frame, 0)?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { returned.write(returned_value) };
        Ok(reply.result())
    })
}

#[cold]
unsafe extern "system" fn rpcecho_TestSleep_prepare(this: *mut obvia::rt::c_void, seconds: u32, returned: *mut u32) -> obvia::HRESULT {
    // SAFETY: as for the proxy.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    if let Some(failed) = proxy.prepare() {
        return failed;
    }
    // SAFETY: what this function was called with.
    unsafe { rpcecho_TestSleep_proxy(this, seconds, returned) }
}

unsafe extern "C-unwind" fn rpcecho_TestSleep_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let frame = call.block(4)?;
        let seconds: u32 = obvia::rt::argument(frame, 0)?;
        let mut returned: u32 = obvia::rt::zero();
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<rpcecho_Vtbl>(object).TestSleep)(object, seconds, &mut returned) };
        let frame = call.inline_reply();
        obvia::rt::Value::store(&returned, frame, 0);
        Ok(obvia::rt::results(result, 4))
    })
}

// TestEnum: opnum 10
//   request  20 bytes: 0 foo1 Enum1, 4 foo2 Enum2, 12 foo3 ->
//   reply    20 bytes: 0 foo1 Enum1, 4 foo2 Enum2, 12 foo3 ->
static rpcecho_TestEnum_REQUEST: obvia::rt::shape::Block = {
    use obvia::rt::shape::*;
    Block { size: 20, shape: Shape { runs: &[(0, 4)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }, Part { at: 4, what: What::Inner { count: 1, stride: 8, shape: Shape { runs: &[(0, 8)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }, Part { at: 4, what: What::Enum(&[1, 2]) }] } } }, Part { at: 12, what: What::Union { tag: Expr::Member(0, Int::I32), arms: &[(&[1], Shape { runs: &[(0, 4)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }] }), (&[2], Shape { runs: &[], parts: &[Part { at: 0, what: What::Inner { count: 1, stride: 8, shape: Shape { runs: &[(0, 8)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }, Part { at: 4, what: What::Enum(&[1, 2]) }] } } }] })], default: None } }] } }
};
static rpcecho_TestEnum_REPLY: obvia::rt::shape::Block = {
    use obvia::rt::shape::*;
    Block { size: 20, shape: Shape { runs: &[(0, 4)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }, Part { at: 4, what: What::Inner { count: 1, stride: 8, shape: Shape { runs: &[(0, 8)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }, Part { at: 4, what: What::Enum(&[1, 2]) }] } } }, Part { at: 12, what: What::Union { tag: Expr::Member(0, Int::I32), arms: &[(&[1], Shape { runs: &[(0, 4)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }] }), (&[2], Shape { runs: &[], parts: &[Part { at: 0, what: What::Inner { count: 1, stride: 8, shape: Shape { runs: &[(0, 8)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }, Part { at: 4, what: What::Enum(&[1, 2]) }] } } }] })], default: None } }] } }
};
static rpcecho_TestEnum_KEPT: obvia::rt::shape::Block = {
    use obvia::rt::shape::*;
    Block { size: 20, shape: Shape { runs: &[], parts: &[] } }
};
static rpcecho_TestEnum_GIVEN: obvia::rt::shape::Block = {
    use obvia::rt::shape::*;
    Block { size: 20, shape: Shape { runs: &[(0, 4)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }, Part { at: 4, what: What::Inner { count: 1, stride: 8, shape: Shape { runs: &[(0, 8)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }, Part { at: 4, what: What::Enum(&[1, 2]) }] } } }, Part { at: 12, what: What::Union { tag: Expr::Member(0, Int::I32), arms: &[(&[1], Shape { runs: &[(0, 4)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }] }), (&[2], Shape { runs: &[], parts: &[Part { at: 0, what: What::Inner { count: 1, stride: 8, shape: Shape { runs: &[(0, 8)], parts: &[Part { at: 0, what: What::Range(Int::I32, 0, 32767) }, Part { at: 4, what: What::Enum(&[1, 2]) }] } } }] })], default: None } }] } }
};
unsafe extern "system" fn rpcecho_TestEnum_proxy(this: *mut obvia::rt::c_void, foo1: *mut Enum1, foo2: *mut Enum2, foo3: *mut obvia::rt::c_void) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    obvia::rt::ProxyCall::make(proxy, |call| {
        let mut image = obvia::rt::Image::new(obvia::rt::Layout { block: &rpcecho_TestEnum_REQUEST, types: &rpcecho_TYPES });
        // SAFETY: by COM's rules the caller's pointer is readable.
        unsafe { image.put_from(0, foo1, 4) }?;
        // SAFETY: by COM's rules the caller's pointer is readable.
        unsafe { image.put_from(4, foo2, 8) }?;
        // SAFETY: by COM's rules the caller's pointer is readable.
        unsafe { image.put_from(12, foo3, 8) }?;
        // SAFETY: by COM's rules parameters are what the interface says.
        let reply = unsafe { call.send_graph(10, &image, obvia::rt::Layout { block: &rpcecho_TestEnum_REQUEST, types: &rpcecho_TYPES }) }?;
        if reply.failed() {
            return Ok(reply.result());
        }
        let mut results = reply.graph(obvia::rt::Layout { block: &rpcecho_TestEnum_REPLY, types: &rpcecho_TYPES }, &[])?;
        // SAFETY: by COM's rules what is passed [in, out] is the method's to free.
        unsafe { image.free(obvia::rt::Layout { block: &rpcecho_TestEnum_GIVEN, types: &rpcecho_TYPES }, &[]) };
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { results.give(0, foo1, 4) }?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { results.give(4, foo2, 8) }?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { results.give(12, foo3, 8) }?;
        results.keep();
        Ok(reply.result())
    })
}

unsafe extern "C-unwind" fn rpcecho_TestEnum_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let mut arguments = call.arguments_to_change(obvia::rt::Layout { block: &rpcecho_TestEnum_REQUEST, types: &rpcecho_TYPES }, obvia::rt::Layout { block: &rpcecho_TestEnum_KEPT, types: &rpcecho_TYPES })?;
        let mut image = obvia::rt::Image::new(obvia::rt::Layout { block: &rpcecho_TestEnum_REPLY, types: &rpcecho_TYPES });
        // SAFETY: the block was checked.
        unsafe { image.put_from(0, arguments.place::<u8>(0), 4) }.map_err(|_| obvia::rt::Status::BAD_STUB_DATA)?;
        // SAFETY: checked: of this type.
        let foo1: Enum1 = unsafe { arguments.get(0) };
        // SAFETY: the block was checked.
        unsafe { image.put_from(4, arguments.place::<u8>(4), 8) }.map_err(|_| obvia::rt::Status::BAD_STUB_DATA)?;
        // SAFETY: checked: of this type.
        let foo2: Enum2 = unsafe { arguments.get(4) };
        // SAFETY: the block was checked.
        unsafe { image.put_from(12, arguments.place::<u8>(12), 8) }.map_err(|_| obvia::rt::Status::BAD_STUB_DATA)?;
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<rpcecho_Vtbl>(object).TestEnum)(object, image.place(0), image.place(4), image.place(12)) };
        // SAFETY: by COM's rules results are what the interface says, and the caller's.
        unsafe { call.respond_graph(result, &image, obvia::rt::Layout { block: &rpcecho_TestEnum_REPLY, types: &rpcecho_TYPES }, &[]) }
    })
}

// TestSurrounding: opnum 11
//   request   8 bytes: 0 data ->
//   reply     8 bytes: 0 data ->
static rpcecho_TestSurrounding_REQUEST: obvia::rt::shape::Block = {
    use obvia::rt::shape::*;
    Block { size: 8, shape: Shape { runs: &[], parts: &[Part { at: 0, what: What::Pointer { class: Class::Ref, to: Element::Own(1), extent: Extent::One } }] } }
};
static rpcecho_TestSurrounding_REPLY: obvia::rt::shape::Block = {
    use obvia::rt::shape::*;
    Block { size: 8, shape: Shape { runs: &[], parts: &[Part { at: 0, what: What::Pointer { class: Class::Ref, to: Element::Own(1), extent: Extent::One } }] } }
};
static rpcecho_TestSurrounding_KEPT: obvia::rt::shape::Block = {
    use obvia::rt::shape::*;
    Block { size: 8, shape: Shape { runs: &[], parts: &[] } }
};
static rpcecho_TestSurrounding_GIVEN: obvia::rt::shape::Block = {
    use obvia::rt::shape::*;
    Block { size: 8, shape: Shape { runs: &[], parts: &[Part { at: 0, what: What::Pointer { class: Class::Ref, to: Element::Own(1), extent: Extent::One } }] } }
};
unsafe extern "system" fn rpcecho_TestSurrounding_proxy(this: *mut obvia::rt::c_void, data: *mut obvia::rt::c_void) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    obvia::rt::ProxyCall::make(proxy, |call| {
        let mut image = obvia::rt::Image::new(obvia::rt::Layout { block: &rpcecho_TestSurrounding_REQUEST, types: &rpcecho_TYPES });
        // SAFETY: by COM's rules the caller's pointer is readable.
        unsafe { image.put_from(0, data, 8) }?;
        // SAFETY: by COM's rules parameters are what the interface says.
        let reply = unsafe { call.send_graph(11, &image, obvia::rt::Layout { block: &rpcecho_TestSurrounding_REQUEST, types: &rpcecho_TYPES }) }?;
        if reply.failed() {
            return Ok(reply.result());
        }
        let mut results = reply.graph(obvia::rt::Layout { block: &rpcecho_TestSurrounding_REPLY, types: &rpcecho_TYPES }, &[])?;
        // SAFETY: by COM's rules what is passed [in, out] is the method's to free.
        unsafe { image.free(obvia::rt::Layout { block: &rpcecho_TestSurrounding_GIVEN, types: &rpcecho_TYPES }, &[]) };
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { results.give(0, data, 8) }?;
        results.keep();
        Ok(reply.result())
    })
}

unsafe extern "C-unwind" fn rpcecho_TestSurrounding_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let mut arguments = call.arguments_to_change(obvia::rt::Layout { block: &rpcecho_TestSurrounding_REQUEST, types: &rpcecho_TYPES }, obvia::rt::Layout { block: &rpcecho_TestSurrounding_KEPT, types: &rpcecho_TYPES })?;
        let mut image = obvia::rt::Image::new(obvia::rt::Layout { block: &rpcecho_TestSurrounding_REPLY, types: &rpcecho_TYPES });
        // SAFETY: the block was checked.
        unsafe { image.put_from(0, arguments.place::<u8>(0), 8) }.map_err(|_| obvia::rt::Status::BAD_STUB_DATA)?;
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<rpcecho_Vtbl>(object).TestSurrounding)(object, image.place(0)) };
        // SAFETY: by COM's rules results are what the interface says, and the caller's.
        unsafe { call.respond_graph(result, &image, obvia::rt::Layout { block: &rpcecho_TestSurrounding_REPLY, types: &rpcecho_TYPES }, &[]) }
    })
}

// TestDoublePointer: opnum 12
//   request   8 bytes: 0 data ->
//   reply     2 bytes: 0 returned u16
static rpcecho_TestDoublePointer_REQUEST: obvia::rt::shape::Block = {
    use obvia::rt::shape::*;
    Block { size: 8, shape: Shape { runs: &[], parts: &[Part { at: 0, what: What::Pointer { class: Class::Unique, to: Element::Own(2), extent: Extent::One } }] } }
};
static rpcecho_TestDoublePointer_REPLY: obvia::rt::shape::Block = {
    use obvia::rt::shape::*;
    Block { size: 2, shape: Shape { runs: &[(0, 2)], parts: &[] } }
};
unsafe extern "system" fn rpcecho_TestDoublePointer_proxy(this: *mut obvia::rt::c_void, data: *const obvia::rt::c_void, returned: *mut u16) -> obvia::HRESULT {
    // SAFETY: in the vtable of proxies only, so `this` is one, and its holder calls.
    let proxy = unsafe { obvia::rt::Proxy::from_raw(this) };
    obvia::rt::ProxyCall::make(proxy, |call| {
        let mut image = obvia::rt::Image::new(obvia::rt::Layout { block: &rpcecho_TestDoublePointer_REQUEST, types: &rpcecho_TYPES });
        // SAFETY: by COM's rules the caller's pointer is readable.
        unsafe { image.put_from(0, data, 8) }?;
        // SAFETY: by COM's rules parameters are what the interface says.
        let reply = unsafe { call.send_graph(12, &image, obvia::rt::Layout { block: &rpcecho_TestDoublePointer_REQUEST, types: &rpcecho_TYPES }) }?;
        if reply.failed() {
            return Ok(reply.result());
        }
        let mut results = reply.graph(obvia::rt::Layout { block: &rpcecho_TestDoublePointer_REPLY, types: &rpcecho_TYPES }, &[])?;
        // SAFETY: by COM's rules the caller's pointer is writable.
        unsafe { results.give(0, returned, 2) }?;
        results.keep();
        Ok(reply.result())
    })
}

unsafe extern "C-unwind" fn rpcecho_TestDoublePointer_stub(object: *mut obvia::rt::c_void, call: &mut obvia::rt::ServerCall<'_>) -> obvia::rt::Answer {
    obvia::rt::serve(call, |call| {
        let mut arguments = call.arguments(obvia::rt::Layout { block: &rpcecho_TestDoublePointer_REQUEST, types: &rpcecho_TYPES })?;
        let mut image = obvia::rt::Image::new(obvia::rt::Layout { block: &rpcecho_TestDoublePointer_REPLY, types: &rpcecho_TYPES });
        // SAFETY: the object has this interface; pointers are to what was checked above.
        let result = unsafe { (obvia::rt::vtable::<rpcecho_Vtbl>(object).TestDoublePointer)(object, arguments.place(0), image.place(0)) };
        // SAFETY: by COM's rules results are what the interface says, and the caller's.
        unsafe { call.respond_graph(result, &image, obvia::rt::Layout { block: &rpcecho_TestDoublePointer_REPLY, types: &rpcecho_TYPES }, &[]) }
    })
}

/// Every interface of this file and of those that it imports.
pub static INTERFACES: &[&obvia::rt::InterfaceInfo] = &[&rpcecho_INFO];
static DECLARED__: obvia::rt::Declared =
obvia::rt::Declared::new(module_path!(), &[obvia::rt::Meaning::new("rpcecho", 0x60a15ec54de811d7a637005056a20182, 0xfbcfaeb8d8c082509e3c48d9f524b9e7)]);
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
