/* Made by obvia-idl 0.1.0 from plain.idl. Change the IDL, not this. */
/*
 * What callers have: obvia::object<INTERFACE>, whose methods are those of INTERFACE_calls.
 * What objects have: the methods of INTERFACE_methods, by way of obvia::implementation<INTERFACE>.
 */
#ifndef OBVIA_IDL_PLAIN_VALUES_HPP
#define OBVIA_IDL_PLAIN_VALUES_HPP

#include "obvia_values.hpp"
#include "plain.h"
#include "basis_values.hpp"
#include "obvia_stub.h"

template <class obvia_holder> struct IPlain_calls;
struct IPlain_methods;
template <class Made_, class Raw_> struct IPlain_adapter;
struct IPlain_Numbers_results;
struct IPlain_Checked_results;
struct IPlain_Stamps_results;
struct IPlain_Fixed_results;
struct IPlain_Receipt_results;
template <class obvia_holder> struct IEmpty_calls;
struct IEmpty_methods;
template <class Made_, class Raw_> struct IEmpty_adapter;

/* One method for each way
 * that a value goes / * and * / comes.
 */
template <class obvia_holder>
struct IPlain_calls : IBasis_calls<obvia_holder> {
    void Nothing() const;
    void Tell(int16_t what, int32_t level) const;
    /* Numbers of every size. */
    IPlain_Numbers_results Numbers(uint8_t a, char b, int8_t c, uint16_t d, obvia_wchar e, float f, uint64_t g, HRESULT h) const;
    IPlain_Checked_results Checked(bool on, Kind kind, Level level, uint32_t weight) const;
    void Changed(int32_t &number, bool &flag, Stamp &stamp, GUID &id) const;
    IPlain_Stamps_results Stamps(const Pair &by_value, const Stamp &stamp, const GUID &id) const;
    IPlain_Fixed_results Fixed(const uint8_t (&seal)[16], const uint8_t (&flags)[3], int32_t (&grid)[2][3]) const;
    std::array<int64_t, 20> Large(int32_t first, const int64_t (&many)[20]) const;
    Sheet Sheets(const Sheet &sheet) const;
    int64_t Total(obvia::span<const int32_t> values) const;
    int32_t Two(int32_t n, obvia::span<const int16_t> a, obvia::span<const uint8_t> b) const;
    int32_t Flags(obvia::span<const uint8_t> flags, obvia::span<const Stamp> stamps) const;
    void Fill(obvia::span<int32_t> values, int32_t start) const;
    uint32_t Fetch(obvia::span<int16_t> letters, obvia::span<int32_t> rest) const;
    void Double(obvia::span<double> values, obvia::span<Kind> kinds) const;
    void Print(int32_t &count, obvia::span<Stamp> stamps, obvia::span<Stamp> more, obvia::span<uint8_t> flags) const;
    int32_t Odd(int32_t self_, int32_t new_, int32_t request_, obvia::span<const int32_t> values) const;
    int32_t Send(std::u16string_view to, obvia::span<const uint8_t> seal, std::optional<std::string_view> from) const;
    IPlain_Receipt_results Receipt(std::string_view what, int32_t &number, Stamp &stamp) const;
};

/* One method for each way
 * that a value goes / * and * / comes.
 */
struct IPlain_methods : IBasis_methods {
    virtual void Nothing() = 0;
    virtual void Tell(int16_t what, int32_t level) = 0;
    /* Numbers of every size. */
    virtual IPlain_Numbers_results Numbers(uint8_t a, char b, int8_t c, uint16_t d, obvia_wchar e, float f, uint64_t g, HRESULT h) = 0;
    virtual IPlain_Checked_results Checked(bool on, Kind kind, Level level, uint32_t weight) = 0;
    virtual void Changed(int32_t &number, bool &flag, Stamp &stamp, GUID &id) = 0;
    virtual IPlain_Stamps_results Stamps(const Pair &by_value, const Stamp &stamp, const GUID &id) = 0;
    virtual IPlain_Fixed_results Fixed(const uint8_t (&seal)[16], const uint8_t (&flags)[3], int32_t (&grid)[2][3]) = 0;
    virtual std::array<int64_t, 20> Large(int32_t first, const int64_t (&many)[20]) = 0;
    virtual Sheet Sheets(const Sheet &sheet) = 0;
    virtual int64_t Total(obvia::span<const int32_t> values) = 0;
    virtual int32_t Two(int32_t n, obvia::span<const int16_t> a, obvia::span<const uint8_t> b) = 0;
    virtual int32_t Flags(obvia::span<const uint8_t> flags, obvia::span<const Stamp> stamps) = 0;
    virtual void Fill(obvia::span<int32_t> values, int32_t start) = 0;
    virtual uint32_t Fetch(obvia::span<int16_t> letters, obvia::span<int32_t> rest) = 0;
    virtual void Double(obvia::span<double> values, obvia::span<Kind> kinds) = 0;
    virtual void Print(int32_t &count, obvia::span<Stamp> stamps, obvia::span<Stamp> more, obvia::span<uint8_t> flags) = 0;
    virtual int32_t Odd(int32_t self_, int32_t new_, int32_t request_, obvia::span<const int32_t> values) = 0;
    virtual int32_t Send(std::u16string_view to, obvia::span<const uint8_t> seal, std::optional<std::string_view> from) = 0;
    virtual IPlain_Receipt_results Receipt(std::string_view what, int32_t &number, Stamp &stamp) = 0;
protected:
    ~IPlain_methods() = default;
};

template <> struct obvia_values_of<IPlain> {
    template <class obvia_holder> using calls = IPlain_calls<obvia_holder>;
    using methods = IPlain_methods;
    template <class Made_, class Raw_> using adapter = IPlain_adapter<Made_, Raw_>;
};

template <class obvia_holder>
struct IEmpty_calls : obvia::no_calls<obvia_holder> {
};

struct IEmpty_methods : obvia::no_methods {
protected:
    ~IEmpty_methods() = default;
};

template <> struct obvia_values_of<IEmpty> {
    template <class obvia_holder> using calls = IEmpty_calls<obvia_holder>;
    using methods = IEmpty_methods;
    template <class Made_, class Raw_> using adapter = IEmpty_adapter<Made_, Raw_>;
};

/* What IPlain::Numbers returns. */
struct IPlain_Numbers_results {
    uint8_t i;
    obvia_wchar j;
    double k;
};

/* What IPlain::Checked returns. */
struct IPlain_Checked_results {
    bool off;
    Kind other;
    int32_t digit;
};

/* What IPlain::Stamps returns. */
struct IPlain_Stamps_results {
    Stamp printed;
    Pair pair;
};

/* What IPlain::Fixed returns. */
struct IPlain_Fixed_results {
    std::array<Kind, 2> kinds;
    std::array<Pair, 2> pairs;
};

/* What IPlain::Receipt returns. */
struct IPlain_Receipt_results {
    std::u16string first;
    bool done;
    std::string second;
};

template <class obvia_holder>
void IPlain_calls<obvia_holder>::Nothing() const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check(self->Nothing());
}

template <class obvia_holder>
void IPlain_calls<obvia_holder>::Tell(int16_t what, int32_t level) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check(self->Tell(what, level));
}

template <class obvia_holder>
IPlain_Numbers_results IPlain_calls<obvia_holder>::Numbers(uint8_t a, char b, int8_t c, uint16_t d, obvia_wchar e, float f, uint64_t g, HRESULT h) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    uint8_t i{};
    obvia_wchar j{};
    double k{};
    obvia::check(self->Numbers(a, b, c, d, e, f, g, h, &i, &j, &k));
    return {i, j, k};
}

template <class obvia_holder>
IPlain_Checked_results IPlain_calls<obvia_holder>::Checked(bool on, Kind kind, Level level, uint32_t weight) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    uint8_t off{};
    Kind other{};
    int32_t digit{};
    obvia::check(self->Checked(on, kind, level, weight, &off, &other, &digit));
    return {off != 0, other, digit};
}

template <class obvia_holder>
void IPlain_calls<obvia_holder>::Changed(int32_t &number, bool &flag, Stamp &stamp, GUID &id) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    uint8_t flag_raw = flag;
    obvia::check(self->Changed(&number, &flag_raw, &stamp, &id));
    flag = flag_raw != 0;
}

template <class obvia_holder>
IPlain_Stamps_results IPlain_calls<obvia_holder>::Stamps(const Pair &by_value, const Stamp &stamp, const GUID &id) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    Stamp printed{};
    Pair pair{};
    obvia::check(self->Stamps(by_value, &stamp, &id, &printed, &pair));
    return {printed, pair};
}

template <class obvia_holder>
IPlain_Fixed_results IPlain_calls<obvia_holder>::Fixed(const uint8_t (&seal)[16], const uint8_t (&flags)[3], int32_t (&grid)[2][3]) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    std::array<Kind, 2> kinds{};
    std::array<Pair, 2> pairs{};
    obvia::check(self->Fixed(seal, flags, grid, kinds.data(), pairs.data()));
    return {kinds, pairs};
}

template <class obvia_holder>
std::array<int64_t, 20> IPlain_calls<obvia_holder>::Large(int32_t first, const int64_t (&many)[20]) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    std::array<int64_t, 20> back{};
    obvia::check(self->Large(first, many, back.data()));
    return back;
}

template <class obvia_holder>
Sheet IPlain_calls<obvia_holder>::Sheets(const Sheet &sheet) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    Sheet copy{};
    obvia::check(self->Sheets(&sheet, &copy));
    return copy;
}

template <class obvia_holder>
int64_t IPlain_calls<obvia_holder>::Total(obvia::span<const int32_t> values) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    const uint32_t count = obvia::count_of<uint32_t>(values.size());
    int64_t sum{};
    obvia::check(self->Total(count, values.data(), &sum));
    return sum;
}

template <class obvia_holder>
int32_t IPlain_calls<obvia_holder>::Two(int32_t n, obvia::span<const int16_t> a, obvia::span<const uint8_t> b) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check_length(a.size(), n);
    int b_count_wrong = 0;
    const uint64_t b_count = obvia_count(obvia_add(obvia_multiply((int64_t)n, INT64_C(2), &b_count_wrong), INT64_C(1), &b_count_wrong), &b_count_wrong);
    obvia::check_length(b.size(), b_count);
    int32_t sum{};
    obvia::check(self->Two(n, a.data(), b.data(), &sum));
    return sum;
}

template <class obvia_holder>
int32_t IPlain_calls<obvia_holder>::Flags(obvia::span<const uint8_t> flags, obvia::span<const Stamp> stamps) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    const uint16_t count = obvia::count_of<uint16_t>(flags.size());
    obvia::check_length(stamps.size(), flags.size());
    int32_t number{};
    obvia::check(self->Flags(count, flags.data(), stamps.data(), &number));
    return number;
}

template <class obvia_holder>
void IPlain_calls<obvia_holder>::Fill(obvia::span<int32_t> values, int32_t start) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    const int32_t room = obvia::count_of<int32_t>(values.size());
    obvia::check(self->Fill(room, values.data(), start));
}

template <class obvia_holder>
uint32_t IPlain_calls<obvia_holder>::Fetch(obvia::span<int16_t> letters, obvia::span<int32_t> rest) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    const uint32_t room = obvia::count_of<uint32_t>(letters.size());
    obvia::check_length(rest.size(), letters.size());
    uint32_t got{};
    obvia::check(self->Fetch(room, letters.data(), &got, rest.data()));
    return got;
}

template <class obvia_holder>
void IPlain_calls<obvia_holder>::Double(obvia::span<double> values, obvia::span<Kind> kinds) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    const int64_t count = obvia::count_of<int64_t>(values.size());
    obvia::check_length(kinds.size(), values.size());
    obvia::check(self->Double(count, values.data(), kinds.data()));
}

template <class obvia_holder>
void IPlain_calls<obvia_holder>::Print(int32_t &count, obvia::span<Stamp> stamps, obvia::span<Stamp> more, obvia::span<uint8_t> flags) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    obvia::check_length(stamps.size(), count);
    obvia::check_length(more.size(), 4);
    obvia::check_length(flags.size(), 3);
    obvia::check(self->Print(&count, stamps.data(), more.data(), flags.data()));
}

template <class obvia_holder>
int32_t IPlain_calls<obvia_holder>::Odd(int32_t self_, int32_t new_, int32_t request_, obvia::span<const int32_t> values) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    const int32_t values_count = obvia::count_of<int32_t>(values.size());
    int32_t Odd{};
    obvia::check(self->Odd(self_, new_, request_, values_count, values.data(), &Odd));
    return Odd;
}

template <class obvia_holder>
int32_t IPlain_calls<obvia_holder>::Send(std::u16string_view to, obvia::span<const uint8_t> seal, std::optional<std::string_view> from) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    const obvia::ended_text<obvia_wchar> to_ended(to);
    const int32_t n = obvia::count_of<int32_t>(seal.size());
    const obvia::ended_text<char> from_ended(from);
    int32_t length_{};
    obvia::check(self->Send(to_ended.get(), n, seal.data(), from_ended.get(), &length_));
    return length_;
}

template <class obvia_holder>
IPlain_Receipt_results IPlain_calls<obvia_holder>::Receipt(std::string_view what, int32_t &number, Stamp &stamp) const
{
    IPlain *const self = static_cast<const obvia_holder *>(this)->get();
    const obvia::ended_text<char> what_ended(what);
    obvia::memory<obvia_wchar> first;
    uint8_t done{};
    obvia::memory<char> second;
    obvia::check(self->Receipt(what_ended.get(), &number, &stamp, first.put(), &done, second.put()));
    return {obvia::text_of(first), done != 0, obvia::text_of(second)};
}

template <class Made_, class Raw_>
struct IPlain_adapter : IBasis_adapter<Made_, Raw_> {
    HRESULT Nothing() override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            object.Nothing();
        });
    }
    HRESULT Tell(int16_t what, int32_t level) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            object.Tell(what, level);
        });
    }
    HRESULT Numbers(uint8_t a, char b, int8_t c, uint16_t d, obvia_wchar e, float f, uint64_t g, HRESULT h, uint8_t *i, obvia_wchar *j, double *k) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            auto results = object.Numbers(a, b, c, d, e, f, g, h);
            *i = results.i;
            *j = results.j;
            *k = results.k;
        });
    }
    HRESULT Checked(uint8_t on, Kind kind, Level level, uint32_t weight, uint8_t *off, Kind *other, int32_t *digit) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            auto results = object.Checked(on != 0, kind, level, weight);
            *off = results.off;
            *other = results.other;
            *digit = results.digit;
        });
    }
    HRESULT Changed(int32_t *number, uint8_t *flag, Stamp *stamp, GUID *id) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            bool flag_raw = *flag != 0;
            object.Changed(*number, flag_raw, *stamp, *id);
            *flag = flag_raw;
        });
    }
    HRESULT Stamps(Pair by_value, const Stamp *stamp, const GUID *id, Stamp *printed, Pair *pair) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            auto results = object.Stamps(by_value, *stamp, *id);
            *printed = results.printed;
            *pair = results.pair;
        });
    }
    HRESULT Fixed(const uint8_t seal[16], const uint8_t flags[3], int32_t grid[2][3], Kind kinds[2], Pair pairs[2]) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            auto results = object.Fixed(*reinterpret_cast<const uint8_t (*)[16]>(seal), *reinterpret_cast<const uint8_t (*)[3]>(flags), *reinterpret_cast<int32_t (*)[2][3]>(grid));
            std::memcpy(kinds, results.kinds.data(), sizeof results.kinds);
            std::memcpy(pairs, results.pairs.data(), sizeof results.pairs);
        });
    }
    HRESULT Large(int32_t first, const int64_t many[20], int64_t back[20]) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            auto result = object.Large(first, *reinterpret_cast<const int64_t (*)[20]>(many));
            std::memcpy(back, result.data(), sizeof result);
        });
    }
    HRESULT Sheets(const Sheet *sheet, Sheet *copy) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            *copy = object.Sheets(*sheet);
        });
    }
    HRESULT Total(uint32_t count, const int32_t *values, int64_t *sum) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            *sum = object.Total(obvia::elements<const int32_t>(values, count));
        });
    }
    HRESULT Two(int32_t n, const int16_t *a, const uint8_t *b, int32_t *sum) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            int b_count_wrong = 0;
            const uint64_t b_count = obvia_count(obvia_add(obvia_multiply((int64_t)n, INT64_C(2), &b_count_wrong), INT64_C(1), &b_count_wrong), &b_count_wrong);
            *sum = object.Two(n, obvia::elements<const int16_t>(a, n), obvia::elements<const uint8_t>(b, b_count));
        });
    }
    HRESULT Flags(uint16_t count, const uint8_t *flags, const Stamp *stamps, int32_t *number) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            *number = object.Flags(obvia::elements<const uint8_t>(flags, count), obvia::elements<const Stamp>(stamps, count));
        });
    }
    HRESULT Fill(int32_t room, int32_t *values, int32_t start) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            object.Fill(obvia::elements<int32_t>(values, room), start);
        });
    }
    HRESULT Fetch(uint32_t room, int16_t *letters, uint32_t *got, int32_t *rest) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            *got = object.Fetch(obvia::elements<int16_t>(letters, room), obvia::elements<int32_t>(rest, room));
        });
    }
    HRESULT Double(int64_t count, double *values, Kind *kinds) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            object.Double(obvia::elements<double>(values, count), obvia::elements<Kind>(kinds, count));
        });
    }
    HRESULT Print(int32_t *count, Stamp *stamps, Stamp *more, uint8_t *flags) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            object.Print(*count, obvia::elements<Stamp>(stamps, *count), obvia::elements<Stamp>(more, 4), obvia::elements<uint8_t>(flags, 3));
        });
    }
    HRESULT Odd(int32_t self_, int32_t new_, int32_t request_, int32_t values_count, const int32_t *values, int32_t *Odd) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            *Odd = object.Odd(self_, new_, request_, obvia::elements<const int32_t>(values, values_count));
        });
    }
    HRESULT Send(const obvia_wchar *to, int32_t n, const uint8_t *seal, const char *from, int32_t *length_) override
    {
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            *length_ = object.Send(to, obvia::elements<const uint8_t>(seal, n), obvia::optional_view(from));
        });
    }
    HRESULT Receipt(const char *what, int32_t *number, Stamp *stamp, obvia_wchar **first, uint8_t *done, char **second) override
    {
        *first = nullptr;
        *second = nullptr;
        return obvia::guard([&] {
            IPlain_methods &object = this->obvia_object();
            auto results = object.Receipt(what, *number, *stamp);
            obvia::memory<obvia_wchar> first_made = obvia::memory_of(results.first);
            obvia::memory<char> second_made = obvia::memory_of(results.second);
            *first = first_made.detach();
            *done = results.done;
            *second = second_made.detach();
        });
    }
};

template <class Made_, class Raw_>
struct IEmpty_adapter : obvia::no_adapter<Made_, Raw_> {
};

#endif
