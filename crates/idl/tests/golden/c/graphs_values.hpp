/* Made by obvia-idl 0.1.0 from graphs.idl. Change the IDL, not this. */
/*
 * What callers have: obvia::object<INTERFACE>, whose methods are those of INTERFACE_calls.
 * What objects have: the methods of INTERFACE_methods, by way of obvia::implementation<INTERFACE>.
 */
#ifndef OBVIA_IDL_GRAPHS_VALUES_HPP
#define OBVIA_IDL_GRAPHS_VALUES_HPP

#include "obvia_values.hpp"
#include "graphs.h"

template <class obvia_holder> struct IBell_calls;
struct IBell_methods;
template <class Made_, class Raw_> struct IBell_adapter;
template <class obvia_holder> struct IGraphs_calls;
struct IGraphs_methods;
template <class Made_, class Raw_> struct IGraphs_adapter;

template <class obvia_holder>
struct IBell_calls : obvia::no_calls<obvia_holder> {
    void Ring(int32_t times) const;
};

struct IBell_methods : obvia::no_methods {
    virtual void Ring(int32_t times) = 0;
protected:
    ~IBell_methods() = default;
};

template <> struct obvia_values_of<IBell> {
    template <class obvia_holder> using calls = IBell_calls<obvia_holder>;
    using methods = IBell_methods;
    template <class Made_, class Raw_> using adapter = IBell_adapter<Made_, Raw_>;
};

template <class obvia_holder>
struct IGraphs_calls : obvia::no_calls<obvia_holder> {
    int32_t Plain(int32_t a) const;
    obvia::filled<Item> Walk(const Item *from, int32_t kind, const Any &value) const;
    void Grow(obvia::owned<Item> &list, obvia::filled<Choice> &choice, const Record &record) const;
    void Tell(const int32_t *value) const;
    obvia::object<IUnknown> Find(const GUID &iid, const obvia::object<IBell> &bell, int32_t arguments) const;
    std::string Fill(int32_t &used, obvia::span<obvia::filled<Item>> items, obvia::span<int32_t [3]> grid) const;
    /* List: call it by ->, as IGraphs has it; `names` leads to pointers. */
};

struct IGraphs_methods : obvia::no_methods {
    virtual int32_t Plain(int32_t a) = 0;
    virtual obvia::filled<Item> Walk(const Item *from, int32_t kind, const Any &value) = 0;
    virtual void Grow(obvia::owned<Item> &list, obvia::filled<Choice> &choice, const Record &record) = 0;
    virtual void Tell(const int32_t *value) = 0;
    virtual obvia::object<IUnknown> Find(const GUID &iid, const obvia::object<IBell> &bell, int32_t arguments) = 0;
    virtual std::string Fill(int32_t &used, obvia::span<obvia::filled<Item>> items, obvia::span<int32_t [3]> grid) = 0;
    virtual HRESULT List(char **names, int32_t *count, int64_t **values) = 0;
protected:
    ~IGraphs_methods() = default;
};

template <> struct obvia_values_of<IGraphs> {
    template <class obvia_holder> using calls = IGraphs_calls<obvia_holder>;
    using methods = IGraphs_methods;
    template <class Made_, class Raw_> using adapter = IGraphs_adapter<Made_, Raw_>;
};

template <class obvia_holder>
void IBell_calls<obvia_holder>::Ring(int32_t times) const
{
    IBell *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check(self->Ring(times));
}

template <class Made_, class Raw_>
struct IBell_adapter : obvia::no_adapter<Made_, Raw_> {
    HRESULT Ring(int32_t times) override
    {
        return obvia::guard([&] {
            IBell_methods &object = this->obvia_object();
            object.Ring(times);
        });
    }
};

template <class obvia_holder>
int32_t IGraphs_calls<obvia_holder>::Plain(int32_t a) const
{
    IGraphs *const self = static_cast<const obvia_holder *>(this)->get();
    int32_t b{};
    obvia::check(self->Plain(a, &b));
    return b;
}

template <class obvia_holder>
obvia::filled<Item> IGraphs_calls<obvia_holder>::Walk(const Item *from, int32_t kind, const Any &value) const
{
    IGraphs *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::filled<Item> copy;
    obvia::check(self->Walk(from, kind, &value, copy.put()));
    return copy;
}

template <class obvia_holder>
void IGraphs_calls<obvia_holder>::Grow(obvia::owned<Item> &list, obvia::filled<Choice> &choice, const Record &record) const
{
    IGraphs *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check(self->Grow(list.in_out(), choice.in_out(), &record));
}

template <class obvia_holder>
void IGraphs_calls<obvia_holder>::Tell(const int32_t *value) const
{
    IGraphs *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check(self->Tell(value));
}

template <class obvia_holder>
obvia::object<IUnknown> IGraphs_calls<obvia_holder>::Find(const GUID &iid, const obvia::object<IBell> &bell, int32_t arguments) const
{
    IGraphs *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::object<IUnknown> found;
    obvia::check(self->Find(&iid, bell.get(), arguments, found.put()));
    return found;
}

template <class obvia_holder>
std::string IGraphs_calls<obvia_holder>::Fill(int32_t &used, obvia::span<obvia::filled<Item>> items, obvia::span<int32_t [3]> grid) const
{
    IGraphs *const self = static_cast<const obvia_holder *>(this)->get();
    const int16_t room = obvia::count_of<int16_t>(items.size());
    obvia::check_length(grid.size(), items.size());
    obvia::memory<char> text;
    obvia::check(self->Fill(room, &used, obvia::raw<Item>(items), grid.data(), text.put()));
    return obvia::text_of(text);
}

template <class Made_, class Raw_>
struct IGraphs_adapter : obvia::no_adapter<Made_, Raw_> {
    HRESULT Plain(int32_t a, int32_t *b) override
    {
        return obvia::guard([&] {
            IGraphs_methods &object = this->obvia_object();
            *b = object.Plain(a);
        });
    }
    HRESULT Walk(const Item *from, int32_t kind, const Any *value, Item *copy) override
    {
        *copy = {};
        return obvia::guard([&] {
            IGraphs_methods &object = this->obvia_object();
            *copy = object.Walk(from, kind, *value).detach();
        });
    }
    HRESULT Grow(Item **list, Choice *choice, const Record *record) override
    {
        return obvia::guard([&] {
            IGraphs_methods &object = this->obvia_object();
            object.Grow(obvia::in_place<obvia::owned<Item>>(list), obvia::in_place<obvia::filled<Choice>>(choice), *record);
        });
    }
    HRESULT Tell(const int32_t *value) override
    {
        return obvia::guard([&] {
            IGraphs_methods &object = this->obvia_object();
            object.Tell(value);
        });
    }
    HRESULT Find(const GUID *iid, IBell *bell, int32_t arguments, IUnknown **found) override
    {
        *found = {};
        return obvia::guard([&] {
            IGraphs_methods &object = this->obvia_object();
            auto result = object.Find(*iid, obvia::object<IBell>(bell), arguments);
            result = obvia::asked(result, *iid);
            *found = result.detach();
        });
    }
    HRESULT Fill(int16_t room, int32_t *used, Item *items, int32_t (*grid)[3], char **text) override
    {
        *text = nullptr;
        return obvia::guard([&] {
            IGraphs_methods &object = this->obvia_object();
            auto result = object.Fill(*used, obvia::elements<obvia::filled<Item>>(items, room), obvia::elements<int32_t [3]>(grid, room));
            obvia::memory<char> text_made = obvia::memory_of(result);
            *text = text_made.detach();
        });
    }
    HRESULT List(char **names, int32_t *count, int64_t **values) override
    {
        IGraphs_methods &object = this->obvia_object();
        return object.List(names, count, values);
    }
};

#endif
