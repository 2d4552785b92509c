// An object whose methods work on structures with pointers.
#ifndef MATRIX_SHAPES_HPP
#define MATRIX_SHAPES_HPP

#include "texts.hpp"

#include "obvia.hpp"
#include "shapes.h"

#include <atomic>
#include <cctype>
#include <cstring>
#include <mutex>
#include <vector>

// An object that multiplies by its factor.
class Peer final : public obvia::implements<Peer, IPeer> {
public:
    explicit Peer(int32_t factor) noexcept : factor_(factor) {}

    HRESULT Twice(int32_t value, int32_t *answer) override
    {
        *answer = value * factor_;
        return S_OK;
    }

private:
    int32_t factor_;
};

// An object that keeps entries, and no other state. Results are made on the stack and copied, or
// allocated for the caller to free.
class Shapes final : public obvia::implements<Shapes, IShapes> {
public:
    HRESULT Sum(const Item *list, int64_t *sum, obvia_wchar **names) override
    {
        return obvia::guard([&] {
            std::string text;
            int marked = 0;
            *sum = 0;
            for (const Item *item = list; item; item = item->next) {
                *sum += item->value;
                marked += item->marked;
                if (item->name) {
                    text += (text.empty() ? "" : ", ") + narrow(item->name);
                }
            }
            return give(text + "; " + std::to_string(marked) + " marked", names);
        });
    }

    HRESULT Range(int32_t first, int32_t count, Item **list) override
    {
        return obvia::guard([&] {
            std::vector<int32_t> values;
            for (int32_t at = 0; at < count; at++) {
                values.push_back(first + at);
            }
            return list_of(values, list);
        });
    }

    HRESULT Reverse(Item **list) override
    {
        return obvia::guard([&] {
            obvia::owned<Item> given;
            std::swap(*given.in_out(), *list);
            std::vector<int32_t> values;
            for (const Item *item = given.get(); item; item = item->next) {
                values.insert(values.begin(), item->value);
                if (item->value == -1) {
                    // A method that fails may have freed its [in, out] parameter.
                    return E_INVALIDARG;
                }
            }
            return list_of(values, list);
        });
    }

    HRESULT Bump(Item *item, int32_t by) override
    {
        return obvia::guard([&] {
            item->value += by;
            item->marked = !item->marked;
            if (item->name) {
                const std::string name = narrow(item->name) + "+" + std::to_string(by);
                obvia_free(item->name);
                return give(name, &item->name);
            }
            return S_OK;
        });
    }

    HRESULT Insert(const Tree *tree, int64_t key, Tree **grown) override
    {
        obvia::owned<Tree> copy;
        const HRESULT result = obvia::owned<Tree>::try_copy(*tree, copy);
        if (result < 0) {
            return result;
        }
        Tree **place = copy.in_out();
        while (*place) {
            place = key < (*place)->key ? &(*place)->left : &(*place)->right;
        }
        const Tree leaf = {key, nullptr, nullptr};
        const HRESULT made = Tree_copy(&leaf, 1, place);
        *grown = made < 0 ? nullptr : copy.detach();
        return made;
    }

    HRESULT Ring(int32_t count, Node **ring) override
    {
        return obvia::guard([&] {
            if (count <= 0) {
                return S_OK;
            }
            std::vector<Node> nodes(static_cast<size_t>(count));
            for (size_t at = 0; at < nodes.size(); at++) {
                nodes[at] = {static_cast<int32_t>(at), &nodes[(at + 1) % nodes.size()], &nodes[0]};
            }
            return Node_copy(&nodes[0], 1, ring);
        });
    }

    HRESULT Walk(const Node *start, int32_t steps, int32_t *number) override
    {
        const Node *node = start;
        for (int32_t step = 0; node && step < steps; step++) {
            node = node->first;
        }
        if (!node) {
            return E_POINTER;
        }
        *number = node->number;
        return S_OK;
    }

    HRESULT Shared(const Node *a, const Node *b, uint8_t *same) override
    {
        *same = a && a == b;
        return S_OK;
    }

    HRESULT Average(const Samples *samples, double *average) override
    {
        double sum = 0;
        int flagged = 0, rest = 0;
        for (uint32_t at = 0; samples->values && samples->flags && at < samples->count; at++) {
            sum += samples->flags[at] ? samples->values[at] : 0;
            flagged += samples->flags[at] != 0;
        }
        for (int at = 0; samples->table && at < samples->rows * samples->columns + 1; at++) {
            rest += samples->table[at];
        }
        for (int at = 0; at < samples->used; at++) {
            rest += samples->tail[at];
        }
        *average = sum / (flagged ? flagged : 1) + rest;
        return S_OK;
    }

    HRESULT Sampled(uint32_t count, Samples *samples) override
    {
        return obvia::guard([&] {
            std::vector<double> values;
            for (uint32_t at = 0; at < count; at++) {
                values.push_back(at);
            }
            std::vector<uint8_t> flags(count, 1);
            int16_t table[] = {1, 2, 3, 4, 5, 6, 7};
            int32_t tail[8] = {1, 2, 3};
            const Samples made = {count, values.data(), flags.data(), 2, 3, table, 3, tail};
            return place_copy(made, samples);
        });
    }

    HRESULT Describe(int32_t kind, const Any *value, obvia_wchar **text) override
    {
        return obvia::guard([&] { return give(std::to_string(kind) + ": " + described(kind, *value), text); });
    }

    HRESULT Choose(const Choice *choice, int64_t *sum) override
    {
        switch (choice->which) {
        case RED:
            *sum = choice->body.number;
            return S_OK;
        case GREEN:
            *sum = sum_of(&choice->body.tree);
            return S_OK;
        default:
            *sum = -1;
            return S_OK;
        }
    }

    HRESULT Flip(const Box *box, Box *flipped) override
    {
        Box turned = *box;
        std::swap(turned.items[0], turned.items[1]);
        std::swap(turned.trees[0], turned.trees[2]);
        turned.digit = 10 - turned.digit;
        return place_copy(turned, flipped);
    }

    HRESULT Put(uint32_t count, const Entry *entries) override
    {
        return obvia::guard([&] {
            const std::lock_guard<std::mutex> guard(lock_);
            for (uint32_t at = 0; at < count; at++) {
                Entry kept = entries[at];
                if (kept.kind == 4) {
                    // Only the length of a list is stored.
                    int32_t items = 0;
                    for (const Item *item = kept.value.list; item; item = item->next) {
                        items++;
                    }
                    kept.kind = 1;
                    kept.value.number = items;
                }
                entries_.push_back(obvia::owned<Entry>::copy(kept));
            }
        });
    }

    HRESULT List(uint32_t *count, Entry **entries) override
    {
        return obvia::guard([&] {
            const std::vector<Entry> all = kept(SIZE_MAX);
            *count = static_cast<uint32_t>(all.size());
            return Entry_copy(all.data(), all.size(), entries);
        });
    }

    HRESULT Some(uint32_t room, Entry *entries, uint32_t *got) override
    {
        return obvia::guard([&] {
            const std::vector<Entry> some = kept(room);
            *got = 0;
            for (const Entry &entry : some) {
                const HRESULT result = place_copy(entry, &entries[*got]);
                if (result < 0) {
                    Entry_clear(entries, *got);
                    return result;
                }
                ++*got;
            }
            return S_OK;
        });
    }

    HRESULT Words(uint32_t count, obvia_wchar **words, uint32_t *lines, obvia_wchar ***upper) override
    {
        return obvia::guard([&] {
            obvia_wchar **made = static_cast<obvia_wchar **>(obvia_alloc((count + 1) * sizeof *made));
            for (uint32_t at = 0; made && at < count; at++) {
                std::u16string word = words[at] ? words[at] : u"";
                for (char16_t &one : word) {
                    one = static_cast<char16_t>(std::toupper(one));
                }
                made[at] = words[at] ? obvia::copy_text<obvia_wchar>(word) : nullptr;
            }
            *lines = count;
            *upper = made;
            return made ? S_OK : E_OUTOFMEMORY;
        });
    }

    HRESULT Meet(const Pair *pair, int32_t *answer) override
    {
        const int32_t word = pair->word ? static_cast<int32_t>(std::strlen(pair->word)) : 0;
        int32_t left = 0, right = 0;
        HRESULT result = pair->left ? pair->left->Twice(word, &left) : S_OK;
        if (result >= 0 && pair->right) {
            result = pair->right->Twice(word, &right);
        }
        *answer = left * 100 + right;
        return result;
    }

    HRESULT Peers(uint32_t count, IPeer **peers, Pair *pair) override
    {
        return obvia::guard([&] {
            const obvia::com_ptr<IPeer> mine = obvia::make<Peer>(7);
            std::string word = "last and mine";
            const Pair made = {count ? peers[count - 1] : nullptr, &word[0], mine.get()};
            return place_copy(made, pair);
        });
    }

    HRESULT Note(const Item *list) override
    {
        for (const Item *item = list; item; item = item->next) {
            noted_++;
        }
        return S_OK;
    }

    HRESULT Noted(int32_t *values) override
    {
        *values = noted_;
        return S_OK;
    }

    HRESULT Take(uint32_t *count, Item *items) override
    {
        return obvia::guard([&] {
            if (*count == 0) {
                return E_INVALIDARG;
            }
            for (uint32_t at = 0; at < *count && at < 3; at++) {
                items[at] = {static_cast<int32_t>(at) + 1, 0, nullptr, nullptr};
                const HRESULT result = give("item " + std::to_string(at + 1), &items[at].name);
                if (result < 0) {
                    Item_clear(items, at);
                    return result;
                }
            }
            *count = 3;
            return S_OK;
        });
    }

private:
    static HRESULT give(const std::string &text, obvia_wchar **place)
    {
        *place = obvia::copy_text<obvia_wchar>(wide(text));
        return *place ? S_OK : E_OUTOFMEMORY;
    }

    // Copies a structure to the caller's memory. The objects to which the structure's pointers lead
    // belong to the caller.
    template <class T> static HRESULT place_copy(const T &made, T *place)
    {
        T *copy = nullptr;
        const HRESULT result = obvia_structure_of<T>::copy(&made, 1, &copy);
        if (result >= 0) {
            *place = *copy;
            obvia_free(copy);
        }
        return result;
    }

    static HRESULT list_of(const std::vector<int32_t> &values, Item **list)
    {
        std::vector<std::u16string> names;
        std::vector<Item> items(values.size());
        for (const int32_t value : values) {
            names.push_back(wide("item " + std::to_string(value)));
        }
        for (size_t at = 0; at < values.size(); at++) {
            Item *next = at + 1 < values.size() ? &items[at + 1] : nullptr;
            items[at] = {values[at], values[at] % 2 == 0, &names[at][0], next};
        }
        return Item_copy(items.data(), items.empty() ? 0 : 1, list);
    }

    static int64_t sum_of(const Tree *tree)
    {
        return tree ? tree->key + sum_of(tree->left) + sum_of(tree->right) : 0;
    }

    static std::string described(int32_t kind, const Any &value)
    {
        int items = 0;
        switch (kind) {
        case 1:
            return "Number(" + std::to_string(value.number) + ")";
        case 2: {
            std::string real = std::to_string(value.real);
            return "Real(" + real.substr(0, real.find_last_not_of('0') + 1) + ")";
        }
        case 3:
            return value.text ? "Text(Some(\"" + narrow(value.text) + "\\0\"))" : "Text(None)";
        case 4:
            for (const Item *item = value.list; item; item = item->next) {
                items++;
            }
            return "Items(" + std::to_string(items) + ")";
        case 5:
        case 6:
            return "Color(" + std::to_string(kind) + ", Color(" + std::to_string(value.color) + "))";
        default:
            return "Other(" + std::to_string(kind) + ")";
        }
    }

    // Returns the first entries, with pointers into the stored entries.
    std::vector<Entry> kept(size_t most)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        std::vector<Entry> all;
        for (const obvia::owned<Entry> &entry : entries_) {
            if (all.size() < most) {
                all.push_back(*entry);
            }
        }
        return all;
    }

    std::mutex lock_;
    std::vector<obvia::owned<Entry>> entries_;
    std::atomic<int32_t> noted_{0};
};

#endif
