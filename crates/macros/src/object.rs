//! The expansion of `obvia::object`.
//!
//! The tokens of the generated unsafe code have the attribute's span, so that the compiler
//! attributes the code to this macro. The caller's crate can therefore forbid `unsafe_code`.
//!
//! The names of the fields of `Name_Impl` begin with `__obvia_`. Without this prefix, a field of
//! `Name_Impl` would hide a field of `Name` with the same name in the program's methods.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{DeriveInput, Path, Result, Token};

/// The properties of the attributed type from which code is generated.
struct Object<'a> {
    item: &'a DeriveInput,
    /// The type with the vtables and the reference count.
    outer: Ident,
    interfaces: Vec<Interface>,
}

/// An interface of the object.
struct Interface {
    path: Path,
    vtable: TokenStream,
    /// The field with the pointer to the vtable. Interface pointers point to this field.
    field: Ident,
    /// The constant with the vtable.
    constant: Ident,
    /// The offset from the field to the object, in pointers.
    offset: isize,
}

/// Returns the item, followed by the implementation of its interfaces.
pub(crate) fn expand(interfaces: TokenStream, item: &TokenStream) -> Result<TokenStream> {
    let paths = Punctuated::<Path, Token![,]>::parse_terminated.parse2(interfaces)?;
    let item: DeriveInput = syn::parse2(item.clone())?;
    let interfaces = (1..).zip(paths).map(|(number, path)| Interface {
        vtable: quote! { <#path as ::obvia::Interface>::Vtable },
        field: format_ident!("__obvia_interface{number}"),
        constant: format_ident!("__OBVIA_INTERFACE{number}"),
        offset: -number,
        path,
    });
    let object = Object { outer: format_ident!("{}_Impl", item.ident), interfaces: interfaces.collect(), item: &item };
    let (outer, unknown, conversions) = (object.outer(), object.unknown(), object.conversions());
    Ok(quote! { #item #outer #unknown #conversions })
}

impl Object<'_> {
    /// Returns the outer type and its vtables.
    fn outer(&self) -> TokenStream {
        let Self { item, outer, .. } = self;
        let (visibility, name, generics) = (&item.vis, &item.ident, &item.generics);
        let (parameters, arguments, conditions) = generics.split_for_impl();
        let fields = self.interfaces.iter().map(|Interface { field, vtable, .. }| {
            quote! { #field: &'static #vtable, }
        });
        let vtables = self.interfaces.iter().map(|Interface { path, constant, vtable, offset, .. }| {
            // With this span, an error such as a missing implementation of the trait points to the
            // interface.
            quote_spanned! { path.span() =>
                const #constant: #vtable = <#vtable>::new::<Self, #offset>();
            }
        });
        quote! {
            #[doc(hidden)]
            #[allow(non_camel_case_types)]
            #[repr(C)]
            #visibility struct #outer #generics #conditions {
                __obvia_identity: &'static ::obvia::rt::object::IUnknown_Vtbl,
                #(#fields)*
                __obvia_this: #name #arguments,
                __obvia_count: ::obvia::rt::object::Count,
            }

            impl #parameters #outer #arguments #conditions {
                const __OBVIA_IDENTITY: ::obvia::rt::object::IUnknown_Vtbl = ::obvia::rt::object::IUnknown_Vtbl::new::<#outer #arguments, 0>();
                #(#vtables)*
            }

            impl #parameters ::core::ops::Deref for #outer #arguments #conditions {
                type Target = #name #arguments;

                #[inline(always)]
                fn deref(&self) -> &Self::Target {
                    &self.__obvia_this
                }
            }
        }
    }

    /// Returns the implementation of IUnknown.
    fn unknown(&self) -> TokenStream {
        let Self { item, outer, .. } = self;
        let name = &item.ident;
        let (parameters, arguments, conditions) = item.generics.split_for_impl();
        let queries = self.interfaces.iter().map(|Interface { field, vtable, .. }| {
            quote! { else if <#vtable>::matches(iid) { (&raw const self.#field).cast() } }
        });
        quote! {
            impl #parameters ::obvia::rt::object::IUnknownImpl for #outer #arguments #conditions {
                type Impl = #name #arguments;

                #[inline(always)]
                fn get_impl(&self) -> &Self::Impl {
                    &self.__obvia_this
                }

                #[inline(always)]
                fn get_impl_mut(&mut self) -> &mut Self::Impl {
                    &mut self.__obvia_this
                }

                #[inline(always)]
                fn into_inner(self) -> Self::Impl {
                    self.__obvia_this
                }

                unsafe fn QueryInterface(
                    &self,
                    iid: *const ::obvia::GUID,
                    interface: *mut *mut ::core::ffi::c_void,
                ) -> ::obvia::HRESULT {
                    let identity = (&raw const self.__obvia_identity).cast();
                    // SAFETY: the caller keeps the contract of QueryInterface. The pointers to
                    // return lead to this object.
                    unsafe {
                        ::obvia::rt::object::query(self, &self.__obvia_count, identity, iid, interface, |iid| {
                            if ::obvia::rt::object::is_identity(iid) { identity } #(#queries)* else { ::core::ptr::null() }
                        })
                    }
                }

                #[inline(always)]
                fn AddRef(&self) -> u32 {
                    self.__obvia_count.add_ref()
                }

                #[inline(always)]
                unsafe fn Release(this: *mut Self) -> u32 {
                    // SAFETY: the caller owns the reference to release, and the object is in a box
                    // of its own.
                    unsafe { ::obvia::rt::object::release(this, |this| &this.__obvia_count) }
                }

                #[inline(always)]
                fn is_reference_count_one(&self) -> bool {
                    self.__obvia_count.is_one()
                }

                unsafe fn GetTrustLevel(&self, _: *mut i32) -> ::obvia::HRESULT {
                    ::obvia::code::E_NOTIMPL
                }

                fn to_object(&self) -> ::obvia::rt::object::ComObject<Self::Impl> {
                    self.__obvia_count.add_ref();
                    // SAFETY: the object is in a box of its own, and the reference was just added.
                    unsafe { ::obvia::rt::object::ComObject::from_raw(::core::ptr::NonNull::from(self)) }
                }
            }
        }
    }

    /// Returns the conversions from a value to its interface pointers.
    fn conversions(&self) -> TokenStream {
        let Self { item, outer, .. } = self;
        let name = &item.ident;
        let (parameters, arguments, conditions) = item.generics.split_for_impl();
        let values = self.interfaces.iter().map(|Interface { field, constant, .. }| {
            quote! { #field: &<#outer #arguments>::#constant, }
        });
        let identity = (quote! { ::obvia::IUnknown }, quote! { __obvia_identity });
        let each = self.interfaces.iter().map(|Interface { path, field, .. }| (quote! { #path }, quote! { #field }));
        let pointers = std::iter::once(identity).chain(each).map(|(interface, field)| {
            quote! {
                impl #parameters ::core::convert::From<#name #arguments> for #interface #conditions {
                    #[inline(always)]
                    fn from(this: #name #arguments) -> Self {
                        ::obvia::rt::object::ComObject::new(this).into_interface()
                    }
                }

                impl #parameters ::obvia::rt::object::ComObjectInterface<#interface> for #outer #arguments #conditions {
                    #[inline(always)]
                    fn as_interface_ref(&self) -> ::obvia::rt::object::InterfaceRef<'_, #interface> {
                        // SAFETY: an interface pointer points to the field with its vtable.
                        unsafe { ::obvia::rt::object::pointer_to((&raw const self.#field).cast()) }
                    }
                }
            }
        });
        quote! {
            impl #parameters ::obvia::rt::object::ComObjectInner for #name #arguments #conditions {
                type Outer = #outer #arguments;

                fn into_object(self) -> ::obvia::rt::object::ComObject<Self> {
                    // SAFETY: the object has a new count, whose only reference the result owns.
                    unsafe {
                        ::obvia::rt::object::boxed(#outer {
                            __obvia_identity: &<#outer #arguments>::__OBVIA_IDENTITY,
                            #(#values)*
                            __obvia_this: self,
                            __obvia_count: ::obvia::rt::object::Count::new(),
                        })
                    }
                }
            }

            #(#pointers)*
        }
    }
}
