/* Made by obvia-idl 0.1.0 from icount.idl. Change the IDL, not this. */
/*
 * What callers have: obvia::object<INTERFACE>, whose methods are those of INTERFACE_calls.
 * What objects have: the methods of INTERFACE_methods, by way of obvia::implementation<INTERFACE>.
 */
#ifndef OBVIA_IDL_ICOUNT_VALUES_HPP
#define OBVIA_IDL_ICOUNT_VALUES_HPP

#include "obvia_values.hpp"
#include "icount.h"

template <class obvia_holder> struct IStubs_calls;
struct IStubs_methods;
template <class Made_, class Raw_> struct IStubs_adapter;

/* The methods that `cargo xtask icount` counts: those of the papers, and one that does nothing. */
template <class obvia_holder>
struct IStubs_calls : obvia::no_calls<obvia_holder> {
    void null() const;
    int32_t pfs_open(int32_t client, int32_t fobj, int32_t flags, int32_t mode) const;
    void pfs_write(int32_t handle, int32_t &pos, int32_t len, obvia::span<const int32_t> data) const;
    obvia::span<const int32_t> pfs_get_direntries(int32_t handle, int32_t &pos, int32_t count) const;
    void MoveData(obvia::span<uint32_t> pArray) const;
    /* The methods above with copies. */
    void copy_in(int32_t handle, int32_t &pos, int32_t len, obvia::span<const int32_t> data) const;
    int32_t copy_out(int32_t handle, int32_t &pos, int32_t count, obvia::span<int32_t> data) const;
    void copy_both(obvia::span<uint32_t> pArray) const;
};

/* The methods that `cargo xtask icount` counts: those of the papers, and one that does nothing. */
struct IStubs_methods : obvia::no_methods {
    virtual void null() = 0;
    virtual int32_t pfs_open(int32_t client, int32_t fobj, int32_t flags, int32_t mode) = 0;
    virtual void pfs_write(int32_t handle, int32_t &pos, int32_t len, obvia::span<const int32_t> data) = 0;
    virtual HRESULT pfs_get_direntries(int32_t handle, int32_t *pos, int32_t count, int32_t *data_size, int32_t **data) = 0;
    virtual void MoveData(obvia::span<uint32_t> pArray) = 0;
    /* The methods above with copies. */
    virtual void copy_in(int32_t handle, int32_t &pos, int32_t len, obvia::span<const int32_t> data) = 0;
    virtual int32_t copy_out(int32_t handle, int32_t &pos, int32_t count, obvia::span<int32_t> data) = 0;
    virtual void copy_both(obvia::span<uint32_t> pArray) = 0;
protected:
    ~IStubs_methods() = default;
};

template <> struct obvia_values_of<IStubs> {
    template <class obvia_holder> using calls = IStubs_calls<obvia_holder>;
    using methods = IStubs_methods;
    template <class Made_, class Raw_> using adapter = IStubs_adapter<Made_, Raw_>;
};

template <class obvia_holder>
void IStubs_calls<obvia_holder>::null() const
{
    IStubs *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check(self->null());
}

template <class obvia_holder>
int32_t IStubs_calls<obvia_holder>::pfs_open(int32_t client, int32_t fobj, int32_t flags, int32_t mode) const
{
    IStubs *const self = static_cast<const obvia_holder *>(this)->get();
    int32_t handle{};
    obvia::check(self->pfs_open(client, fobj, flags, mode, &handle));
    return handle;
}

template <class obvia_holder>
void IStubs_calls<obvia_holder>::pfs_write(int32_t handle, int32_t &pos, int32_t len, obvia::span<const int32_t> data) const
{
    IStubs *const self = static_cast<const obvia_holder *>(this)->get();
    const int32_t data_size = obvia::count_of<int32_t>(data.size());
    obvia::check(self->pfs_write(handle, &pos, len, data_size, data.data()));
}

template <class obvia_holder>
obvia::span<const int32_t> IStubs_calls<obvia_holder>::pfs_get_direntries(int32_t handle, int32_t &pos, int32_t count) const
{
    IStubs *const self = static_cast<const obvia_holder *>(this)->get();
    int32_t data_size{};
    int32_t *data{};
    obvia::check(self->pfs_get_direntries(handle, &pos, count, &data_size, &data));
    return obvia::span<const int32_t>(data, data_size);
}

template <class obvia_holder>
void IStubs_calls<obvia_holder>::MoveData(obvia::span<uint32_t> pArray) const
{
    IStubs *const self = static_cast<const obvia_holder *>(this)->get();
    const uint32_t ArraySize = obvia::count_of<uint32_t>(pArray.size());
    obvia::check(self->MoveData(ArraySize, pArray.data()));
}

template <class obvia_holder>
void IStubs_calls<obvia_holder>::copy_in(int32_t handle, int32_t &pos, int32_t len, obvia::span<const int32_t> data) const
{
    IStubs *const self = static_cast<const obvia_holder *>(this)->get();
    const int32_t data_size = obvia::count_of<int32_t>(data.size());
    obvia::check(self->copy_in(handle, &pos, len, data_size, data.data()));
}

template <class obvia_holder>
int32_t IStubs_calls<obvia_holder>::copy_out(int32_t handle, int32_t &pos, int32_t count, obvia::span<int32_t> data) const
{
    IStubs *const self = static_cast<const obvia_holder *>(this)->get();
    const int32_t room = obvia::count_of<int32_t>(data.size());
    int32_t data_size{};
    obvia::check(self->copy_out(handle, &pos, count, room, &data_size, data.data()));
    return data_size;
}

template <class obvia_holder>
void IStubs_calls<obvia_holder>::copy_both(obvia::span<uint32_t> pArray) const
{
    IStubs *const self = static_cast<const obvia_holder *>(this)->get();
    const uint32_t ArraySize = obvia::count_of<uint32_t>(pArray.size());
    obvia::check(self->copy_both(ArraySize, pArray.data()));
}

template <class Made_, class Raw_>
struct IStubs_adapter : obvia::no_adapter<Made_, Raw_> {
    HRESULT null() override
    {
        return obvia::guard([&] {
            IStubs_methods &object = this->obvia_object();
            object.null();
        });
    }
    HRESULT pfs_open(int32_t client, int32_t fobj, int32_t flags, int32_t mode, int32_t *handle) override
    {
        return obvia::guard([&] {
            IStubs_methods &object = this->obvia_object();
            *handle = object.pfs_open(client, fobj, flags, mode);
        });
    }
    HRESULT pfs_write(int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data) override
    {
        return obvia::guard([&] {
            IStubs_methods &object = this->obvia_object();
            object.pfs_write(handle, *pos, len, obvia::elements<const int32_t>(data, data_size));
        });
    }
    HRESULT pfs_get_direntries(int32_t handle, int32_t *pos, int32_t count, int32_t *data_size, int32_t **data) override
    {
        IStubs_methods &object = this->obvia_object();
        return object.pfs_get_direntries(handle, pos, count, data_size, data);
    }
    HRESULT MoveData(uint32_t ArraySize, uint32_t *pArray) override
    {
        return obvia::guard([&] {
            IStubs_methods &object = this->obvia_object();
            object.MoveData(obvia::elements<uint32_t>(pArray, ArraySize));
        });
    }
    HRESULT copy_in(int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data) override
    {
        return obvia::guard([&] {
            IStubs_methods &object = this->obvia_object();
            object.copy_in(handle, *pos, len, obvia::elements<const int32_t>(data, data_size));
        });
    }
    HRESULT copy_out(int32_t handle, int32_t *pos, int32_t count, int32_t room, int32_t *data_size, int32_t *data) override
    {
        return obvia::guard([&] {
            IStubs_methods &object = this->obvia_object();
            *data_size = object.copy_out(handle, *pos, count, obvia::elements<int32_t>(data, room));
        });
    }
    HRESULT copy_both(uint32_t ArraySize, uint32_t *pArray) override
    {
        return obvia::guard([&] {
            IStubs_methods &object = this->obvia_object();
            object.copy_both(obvia::elements<uint32_t>(pArray, ArraySize));
        });
    }
};

#endif
