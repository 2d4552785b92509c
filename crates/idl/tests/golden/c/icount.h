/* Made by obvia-idl 0.1.0 from icount.idl. Change the IDL, not this. */
#ifndef OBVIA_IDL_ICOUNT_H
#define OBVIA_IDL_ICOUNT_H

#include "obvia.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct IStubs IStubs;

#if defined(__cplusplus) && !defined(CINTERFACE)
/* The methods that `cargo xtask icount` counts: those of the papers, and one that does nothing. */
struct IStubs : IUnknown {
    virtual HRESULT null() = 0;
    virtual HRESULT pfs_open(int32_t client, int32_t fobj, int32_t flags, int32_t mode, int32_t *handle) = 0;
    virtual HRESULT pfs_write(int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data) = 0;
    virtual HRESULT pfs_get_direntries(int32_t handle, int32_t *pos, int32_t count, int32_t *data_size, int32_t **data) = 0;
    virtual HRESULT MoveData(uint32_t ArraySize, uint32_t *pArray) = 0;
    /* The methods above with copies. */
    virtual HRESULT copy_in(int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data) = 0;
    virtual HRESULT copy_out(int32_t handle, int32_t *pos, int32_t count, int32_t room, int32_t *data_size, int32_t *data) = 0;
    virtual HRESULT copy_both(uint32_t ArraySize, uint32_t *pArray) = 0;
};
#else
/* The methods that `cargo xtask icount` counts: those of the papers, and one that does nothing. */
typedef struct IStubsVtbl {
    HRESULT (*QueryInterface)(IStubs *self, const IID *iid, void **object);
    uint32_t (*AddRef)(IStubs *self);
    uint32_t (*Release)(IStubs *self);
    HRESULT (*null)(IStubs *self);
    HRESULT (*pfs_open)(IStubs *self, int32_t client, int32_t fobj, int32_t flags, int32_t mode, int32_t *handle);
    HRESULT (*pfs_write)(IStubs *self, int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data);
    HRESULT (*pfs_get_direntries)(IStubs *self, int32_t handle, int32_t *pos, int32_t count, int32_t *data_size, int32_t **data);
    HRESULT (*MoveData)(IStubs *self, uint32_t ArraySize, uint32_t *pArray);
    /* The methods above with copies. */
    HRESULT (*copy_in)(IStubs *self, int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data);
    HRESULT (*copy_out)(IStubs *self, int32_t handle, int32_t *pos, int32_t count, int32_t room, int32_t *data_size, int32_t *data);
    HRESULT (*copy_both)(IStubs *self, uint32_t ArraySize, uint32_t *pArray);
} IStubsVtbl;
struct IStubs {
    const IStubsVtbl *lpVtbl;
};
#define IStubs_QueryInterface(self, iid, object) ((self)->lpVtbl->QueryInterface)((self), (iid), (object))
#define IStubs_AddRef(self) ((self)->lpVtbl->AddRef)((self))
#define IStubs_Release(self) ((self)->lpVtbl->Release)((self))
#define IStubs_null(self) ((self)->lpVtbl->null)((self))
#define IStubs_pfs_open(self, client, fobj, flags, mode, handle) ((self)->lpVtbl->pfs_open)((self), (client), (fobj), (flags), (mode), (handle))
#define IStubs_pfs_write(self, handle, pos, len, data_size, data) ((self)->lpVtbl->pfs_write)((self), (handle), (pos), (len), (data_size), (data))
#define IStubs_pfs_get_direntries(self, handle, pos, count, data_size, data) ((self)->lpVtbl->pfs_get_direntries)((self), (handle), (pos), (count), (data_size), (data))
#define IStubs_MoveData(self, ArraySize, pArray) ((self)->lpVtbl->MoveData)((self), (ArraySize), (pArray))
#define IStubs_copy_in(self, handle, pos, len, data_size, data) ((self)->lpVtbl->copy_in)((self), (handle), (pos), (len), (data_size), (data))
#define IStubs_copy_out(self, handle, pos, count, room, data_size, data) ((self)->lpVtbl->copy_out)((self), (handle), (pos), (count), (room), (data_size), (data))
#define IStubs_copy_both(self, ArraySize, pArray) ((self)->lpVtbl->copy_both)((self), (ArraySize), (pArray))
#endif
extern const IID IID_IStubs;
extern const obvia_interface IStubs_INFO;
#if defined(__cplusplus) && !defined(CINTERFACE)
extern "C++" {
    template <> struct obvia_interface_of<IStubs> {
        using base = IUnknown;
        static const IID &iid() noexcept { return IID_IStubs; }
        static const obvia_interface *info() noexcept { return &IStubs_INFO; }
    };
}
#endif

#ifdef __cplusplus
}
#endif

#endif
