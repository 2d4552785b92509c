/* Made by obvia-idl 0.1.0 from rpcecho.idl. Change the IDL, not this. */
/*
 * What callers have: obvia::object<INTERFACE>, whose methods are those of INTERFACE_calls.
 * What objects have: the methods of INTERFACE_methods, by way of obvia::implementation<INTERFACE>.
 */
#ifndef OBVIA_IDL_RPCECHO_VALUES_HPP
#define OBVIA_IDL_RPCECHO_VALUES_HPP

#include "obvia_values.hpp"
#include "rpcecho.h"

template <class obvia_holder> struct rpcecho_calls;
struct rpcecho_methods;
template <class Made_, class Raw_> struct rpcecho_adapter;

template <class obvia_holder>
struct rpcecho_calls : obvia::no_calls<obvia_holder> {
    /* Opnum 0: one more than what came. */
    uint32_t AddOne(uint32_t in_data) const;
    /* Opnum 1: what came. */
    void EchoData(obvia::span<const char> in_data, obvia::span<char> out_data) const;
    /* Opnum 2: takes what came. */
    void SinkData(obvia::span<const char> data) const;
    /* Opnum 3: bytes that count up from 0. */
    void SourceData(obvia::span<char> data) const;
    /* Opnum 4: a text for a text. */
    std::u16string TestCall(std::u16string_view s1) const;
    /* Opnum 5: the information of a level between 1 and 7. */
    /* TestCall2: call it by ->, as rpcecho has it; `info` is a union whose discriminant is elsewhere. */
    /* Opnum 6: sleeps so long, and returns that. */
    uint32_t TestSleep(uint32_t seconds) const;
    /* Opnum 7: what came. */
    /* TestEnum: call it by ->, as rpcecho has it; `foo3` is a union whose discriminant is elsewhere. */
    /* Opnum 8: an array that is twice as long. */
    void TestSurrounding(obvia::memory<Surrounding> &data) const;
    /* Opnum 9: the number at the end of the pointers, or 0 where there is none. */
    /* TestDoublePointer: call it by ->, as rpcecho has it; `data` leads to pointers. */
};

struct rpcecho_methods : obvia::no_methods {
    /* Opnum 0: one more than what came. */
    virtual uint32_t AddOne(uint32_t in_data) = 0;
    /* Opnum 1: what came. */
    virtual void EchoData(obvia::span<const char> in_data, obvia::span<char> out_data) = 0;
    /* Opnum 2: takes what came. */
    virtual void SinkData(obvia::span<const char> data) = 0;
    /* Opnum 3: bytes that count up from 0. */
    virtual void SourceData(obvia::span<char> data) = 0;
    /* Opnum 4: a text for a text. */
    virtual std::u16string TestCall(std::u16string_view s1) = 0;
    /* Opnum 5: the information of a level between 1 and 7. */
    virtual HRESULT TestCall2(uint16_t level, Info *info, uint32_t *returned) = 0;
    /* Opnum 6: sleeps so long, and returns that. */
    virtual uint32_t TestSleep(uint32_t seconds) = 0;
    /* Opnum 7: what came. */
    virtual HRESULT TestEnum(Enum1 *foo1, Enum2 *foo2, Enum3 *foo3) = 0;
    /* Opnum 8: an array that is twice as long. */
    virtual void TestSurrounding(obvia::memory<Surrounding> &data) = 0;
    /* Opnum 9: the number at the end of the pointers, or 0 where there is none. */
    virtual HRESULT TestDoublePointer(uint16_t ***data, uint16_t *returned) = 0;
protected:
    ~rpcecho_methods() = default;
};

template <> struct obvia_values_of<rpcecho> {
    template <class obvia_holder> using calls = rpcecho_calls<obvia_holder>;
    using methods = rpcecho_methods;
    template <class Made_, class Raw_> using adapter = rpcecho_adapter<Made_, Raw_>;
};

template <class obvia_holder>
uint32_t rpcecho_calls<obvia_holder>::AddOne(uint32_t in_data) const
{
    rpcecho *const self = static_cast<const obvia_holder *>(this)->get();
    uint32_t out_data{};
    obvia::check(self->AddOne(in_data, &out_data));
    return out_data;
}

template <class obvia_holder>
void rpcecho_calls<obvia_holder>::EchoData(obvia::span<const char> in_data, obvia::span<char> out_data) const
{
    rpcecho *const self = static_cast<const obvia_holder *>(this)->get();
    const uint32_t len = obvia::count_of<uint32_t>(in_data.size());
    obvia::check_length(out_data.size(), in_data.size());
    obvia::check(self->EchoData(len, in_data.data(), out_data.data()));
}

template <class obvia_holder>
void rpcecho_calls<obvia_holder>::SinkData(obvia::span<const char> data) const
{
    rpcecho *const self = static_cast<const obvia_holder *>(this)->get();
    const uint32_t len = obvia::count_of<uint32_t>(data.size());
    obvia::check(self->SinkData(len, data.data()));
}

template <class obvia_holder>
void rpcecho_calls<obvia_holder>::SourceData(obvia::span<char> data) const
{
    rpcecho *const self = static_cast<const obvia_holder *>(this)->get();
    const uint32_t len = obvia::count_of<uint32_t>(data.size());
    obvia::check(self->SourceData(len, data.data()));
}

template <class obvia_holder>
std::u16string rpcecho_calls<obvia_holder>::TestCall(std::u16string_view s1) const
{
    rpcecho *const self = static_cast<const obvia_holder *>(this)->get();
    const obvia::ended_text<obvia_wchar> s1_ended(s1);
    obvia::memory<obvia_wchar> s2;
    obvia::check(self->TestCall(s1_ended.get(), s2.put()));
    return obvia::text_of(s2);
}

template <class obvia_holder>
uint32_t rpcecho_calls<obvia_holder>::TestSleep(uint32_t seconds) const
{
    rpcecho *const self = static_cast<const obvia_holder *>(this)->get();
    uint32_t returned{};
    obvia::check(self->TestSleep(seconds, &returned));
    return returned;
}

template <class obvia_holder>
void rpcecho_calls<obvia_holder>::TestSurrounding(obvia::memory<Surrounding> &data) const
{
    rpcecho *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check(self->TestSurrounding(data.in_out()));
}

template <class Made_, class Raw_>
struct rpcecho_adapter : obvia::no_adapter<Made_, Raw_> {
    HRESULT AddOne(uint32_t in_data, uint32_t *out_data) override
    {
        return obvia::guard([&] {
            rpcecho_methods &object = this->obvia_object();
            *out_data = object.AddOne(in_data);
        });
    }
    HRESULT EchoData(uint32_t len, const char *in_data, char *out_data) override
    {
        return obvia::guard([&] {
            rpcecho_methods &object = this->obvia_object();
            object.EchoData(obvia::elements<const char>(in_data, len), obvia::elements<char>(out_data, len));
        });
    }
    HRESULT SinkData(uint32_t len, const char *data) override
    {
        return obvia::guard([&] {
            rpcecho_methods &object = this->obvia_object();
            object.SinkData(obvia::elements<const char>(data, len));
        });
    }
    HRESULT SourceData(uint32_t len, char *data) override
    {
        return obvia::guard([&] {
            rpcecho_methods &object = this->obvia_object();
            object.SourceData(obvia::elements<char>(data, len));
        });
    }
    HRESULT TestCall(const obvia_wchar *s1, obvia_wchar **s2) override
    {
        *s2 = nullptr;
        return obvia::guard([&] {
            rpcecho_methods &object = this->obvia_object();
            auto result = object.TestCall(s1);
            obvia::memory<obvia_wchar> s2_made = obvia::memory_of(result);
            *s2 = s2_made.detach();
        });
    }
    HRESULT TestCall2(uint16_t level, Info *info, uint32_t *returned) override
    {
        rpcecho_methods &object = this->obvia_object();
        return object.TestCall2(level, info, returned);
    }
    HRESULT TestSleep(uint32_t seconds, uint32_t *returned) override
    {
        return obvia::guard([&] {
            rpcecho_methods &object = this->obvia_object();
            *returned = object.TestSleep(seconds);
        });
    }
    HRESULT TestEnum(Enum1 *foo1, Enum2 *foo2, Enum3 *foo3) override
    {
        rpcecho_methods &object = this->obvia_object();
        return object.TestEnum(foo1, foo2, foo3);
    }
    HRESULT TestSurrounding(Surrounding **data) override
    {
        return obvia::guard([&] {
            rpcecho_methods &object = this->obvia_object();
            object.TestSurrounding(obvia::in_place<obvia::memory<Surrounding>>(data));
        });
    }
    HRESULT TestDoublePointer(uint16_t ***data, uint16_t *returned) override
    {
        rpcecho_methods &object = this->obvia_object();
        return object.TestDoublePointer(data, returned);
    }
};

#endif
