// Objects that implement all methods by value, and forward the calls by value to other objects.
// Thus each forwarded call uses both forms of a method by value: the form for implementers and the
// form for callers.
#ifndef MATRIX_BY_VALUE_HPP
#define MATRIX_BY_VALUE_HPP

#include "deep_values.hpp"
#include "shapes_values.hpp"
#include "values_values.hpp"

namespace by_value {

class Values final : public obvia::implementation<IValues> {
public:
    explicit Values(obvia::object<IValues> other) : other_(std::move(other)) {}

    void Integers(int8_t &a, int16_t &b, int32_t &c, int64_t &d) override { other_.Integers(a, b, c, d); }
    void Unsigned(uint8_t &a, uint16_t &b, uint32_t &c, uint64_t &d) override { other_.Unsigned(a, b, c, d); }
    IBaseValues_Others_results Others(bool a, char b, obvia_wchar c, float d, double e, HRESULT f, const GUID &g) override
    {
        return other_.Others(a, b, c, d, e, f, g);
    }
    Line Structure(const Line &given, const Line &pointed, const Line *maybe) override
    {
        return other_.Structure(given, pointed, maybe);
    }
    void Modes(obvia::span<const Mode> modes, obvia::span<Mode> turned) override { other_.Modes(modes, turned); }
    void Lines(obvia::span<Line> lines) override { other_.Lines(lines); }
    std::array<std::array<int32_t, 3>, 2> Matrix(const int32_t (&m)[3][2]) override { return other_.Matrix(m); }
    uint32_t Fill(int32_t first, obvia::span<int16_t> values) override { return other_.Fill(first, values); }
    obvia::array<double> Made(int32_t n) override { return other_.Made(n); }
    int64_t Expression(int32_t rows, int32_t columns, obvia::span<const uint8_t> cells) override
    {
        return other_.Expression(rows, columns, cells);
    }
    IValues_Texts_results Texts(std::string_view narrow, std::u16string_view wide, std::optional<std::u16string_view> maybe) override
    {
        return other_.Texts(narrow, wide, maybe);
    }
    int32_t Ranged(int32_t digit) override { return other_.Ranged(digit); }
    obvia::object<IUnknown> Same(const GUID &iid, const obvia::object<IUnknown> &object) override { return other_.Same(iid, object); }
    void Fail(HRESULT code) override { other_.Fail(code); }
    IValues_Greet_results Greet(std::string_view name, std::optional<std::string_view> title) override
    {
        return other_.Greet(name, title);
    }
    std::string Sign(std::string_view text, const obvia::object<IUnknown> &by) override { return other_.Sign(text, by); }
    void Caption(obvia::span<obvia_wchar> wide, uint32_t &m, obvia::span<char> narrow, obvia_wchar fill) override
    {
        other_.Caption(wide, m, narrow, fill);
    }
    int32_t Negate(int32_t *one, Point *point) override { return other_.Negate(one, point); }
    void Halve(obvia::span<int16_t> values, bool &given) override { other_.Halve(values, given); }

private:
    obvia::object<IValues> other_;
};

class Shapes final : public obvia::implementation<IShapes> {
public:
    explicit Shapes(obvia::object<IShapes> other) : other_(std::move(other)) {}

    IShapes_Sum_results Sum(const Item *list) override { return other_.Sum(list); }
    obvia::owned<Item> Range(int32_t first, int32_t count) override { return other_.Range(first, count); }
    void Reverse(obvia::owned<Item> &list) override { other_.Reverse(list); }
    void Bump(obvia::filled<Item> &item, int32_t by) override { other_.Bump(item, by); }
    obvia::owned<Tree> Insert(const Tree &tree, int64_t key) override { return other_.Insert(tree, key); }
    obvia::owned<Node> Ring(int32_t count) override { return other_.Ring(count); }
    int32_t Walk(const Node *start, int32_t steps) override { return other_.Walk(start, steps); }
    bool Shared(const Node *a, const Node *b) override { return other_.Shared(a, b); }
    double Average(const Samples &samples) override { return other_.Average(samples); }
    obvia::filled<Samples> Sampled(uint32_t count) override { return other_.Sampled(count); }
    std::u16string Describe(int32_t kind, const Any &value) override { return other_.Describe(kind, value); }
    int64_t Choose(const Choice &choice) override { return other_.Choose(choice); }
    obvia::filled<Box> Flip(const Box &box) override { return other_.Flip(box); }
    void Put(obvia::span<const Entry> entries) override { other_.Put(entries); }
    obvia::array<Entry> List() override { return other_.List(); }
    uint32_t Some(uint32_t room, obvia::span<obvia::filled<Entry>> entries) override { return other_.Some(room, entries); }
    HRESULT Words(uint32_t count, obvia_wchar **words, uint32_t *lines, obvia_wchar ***upper) override
    {
        return other_->Words(count, words, lines, upper);
    }
    int32_t Meet(const Pair &pair) override { return other_.Meet(pair); }
    obvia::filled<Pair> Peers(obvia::span<const obvia::object<IPeer>> peers) override { return other_.Peers(peers); }
    void Note(const Item *list) override { other_.Note(list); }
    int32_t Noted() override { return other_.Noted(); }
    void Take(uint32_t &count, obvia::span<obvia::filled<Item>> items) override { other_.Take(count, items); }

private:
    obvia::object<IShapes> other_;
};

class Deep final : public obvia::implementation<IDeep> {
public:
    explicit Deep(obvia::object<IDeep> other) : other_(std::move(other)) {}

    void Swap(obvia::object<IPeer> &left, obvia::object<IPeer> &right) override { other_.Swap(left, right); }
    void Rename(obvia::memory<obvia_wchar> &name, std::u16string_view suffix) override { other_.Rename(name, suffix); }
    void Sort(obvia::span<obvia::filled<Item>> items) override { other_.Sort(items); }
    void Trim(uint32_t &count, obvia::span<obvia::filled<Item>> items, int32_t by) override { other_.Trim(count, items, by); }
    void Part(int32_t &used, obvia::span<obvia::filled<Item>> items) override { other_.Part(used, items); }
    void Objects(obvia::span<obvia::object<IPeer>> peers) override { other_.Objects(peers); }
    IDeep_Find_results Find(const GUID &iid, const Names &names) override { return other_.Find(iid, names); }
    obvia::owned<Record> Store(const Record &record) override { return other_.Store(record); }
    obvia::filled<Bunch> Turn(const Bunch &bunch) override { return other_.Turn(bunch); }
    HRESULT Pick(int32_t kind, const Any *value, int32_t *other, Any *picked, Choice *choice) override
    {
        return other_->Pick(kind, value, other, picked, choice);
    }
    int64_t Partly(int32_t n, obvia::span<const int32_t> values) override { return other_.Partly(n, values); }
    int32_t Maybe(const int32_t *value) override { return other_.Maybe(value); }
    std::string Both(int32_t from, obvia::span<int32_t> numbers) override { return other_.Both(from, numbers); }
    obvia::filled<Samples> Fail(obvia::owned<Item> &list, obvia::memory<obvia_wchar> &text, HRESULT code) override
    {
        return other_.Fail(list, text, code);
    }

private:
    obvia::object<IDeep> other_;
};

} // namespace by_value

#endif
