// An object whose methods take, change and return structures and arrays with pointers.
#ifndef MATRIX_DEEP_HPP
#define MATRIX_DEEP_HPP

#include "shapes.hpp"
#include "texts.hpp"

#include "deep.h"
#include "obvia.hpp"

#include <algorithm>

class Deep final : public obvia::implements<Deep, IDeep> {
public:
    HRESULT Swap(IPeer **left, IPeer **right) override
    {
        std::swap(*left, *right);
        if (!*left) {
            *left = obvia::make<Peer>(11).detach();
        }
        return S_OK;
    }

    HRESULT Rename(obvia_wchar **name, const obvia_wchar *suffix) override
    {
        return obvia::guard([&] {
            obvia::memory<obvia_wchar> given;
            std::swap(*given.in_out(), *name);
            if (*suffix) {
                *name = obvia::copy_text<obvia_wchar>((given ? given.get() : std::u16string(u"?")) + suffix);
            }
        });
    }

    HRESULT Sort(uint32_t count, Item *items) override
    {
        std::sort(items, items + count, [](const Item &one, const Item &other) { return one.value < other.value; });
        return S_OK;
    }

    HRESULT Trim(uint32_t *count, Item *items, int32_t by) override
    {
        const uint32_t left = *count - static_cast<uint32_t>(by);
        if (by > 0) {
            Item_clear(items + left, static_cast<size_t>(by));
        }
        *count = left;
        return S_OK;
    }

    HRESULT Part(int32_t room, int32_t *used, Item *items) override
    {
        if (*used < room) {
            items[*used].value = *used;
            items[*used].name = obvia::copy_text<obvia_wchar>(u"more");
            ++*used;
        }
        return S_OK;
    }

    HRESULT Objects(uint32_t count, IPeer **peers) override
    {
        std::reverse(peers, peers + count);
        if (count && peers[0]) {
            peers[0]->Release();
            peers[0] = nullptr;
        }
        return S_OK;
    }

    HRESULT Find(const GUID *iid, const Names *names, IUnknown **found, Names *rest) override
    {
        for (int32_t at = 0; at < names->count; at++) {
            if (names->peers && names->peers[at]) {
                const HRESULT result = names->peers[at]->QueryInterface(*iid, reinterpret_cast<void **>(found));
                if (result < 0) {
                    return result;
                }
                break;
            }
        }
        return place_copy(*names, rest);
    }

    HRESULT Store(const Record *record, Record **stored) override { return Record_copy(record, stored); }

    HRESULT Turn(const Bunch *bunch, Bunch *turned) override
    {
        Bunch made = *bunch;
        std::swap(made.peers[0], made.peers[1]);
        std::swap(made.tags[0], made.tags[1]);
        return place_copy(made, turned);
    }

    HRESULT Pick(int32_t kind, const Any *value, int32_t *other, Any *picked, Choice *choice) override
    {
        Choice_clear(choice, 1);
        if (kind == 3 && value->text) {
            *other = 4;
            const Item item = {5, 1, value->text, nullptr};
            choice->which = GREEN;
            choice->body.tree.key = 77;
            const Tree leaf = {78, nullptr, nullptr};
            const HRESULT result = Tree_copy(&leaf, 1, &choice->body.tree.right);
            return result < 0 ? result : Item_copy(&item, 1, &picked->list);
        }
        *other = 2;
        picked->real = kind == 1 ? value->number / 2.0 : -1;
        choice->which = RED;
        choice->body.number = kind;
        return S_OK;
    }

    HRESULT Partly(int32_t n, const int32_t *values, int64_t *sum) override
    {
        *sum = n;
        for (int32_t at = 0; at < 9; at++) {
            *sum += values[at];
        }
        return S_OK;
    }

    HRESULT Maybe(const int32_t *value, int32_t *twice) override
    {
        *twice = value ? *value * 2 : -1;
        return S_OK;
    }

    HRESULT Both(int32_t from, char **text, int32_t *numbers) override
    {
        for (int32_t at = 0; at < 4; at++) {
            numbers[at] = from + at;
        }
        *text = obvia::copy_text<char>("both");
        return *text ? S_OK : E_OUTOFMEMORY;
    }

    HRESULT Fail(Item **list, Samples *samples, obvia_wchar **text, HRESULT code) override
    {
        return obvia::guard([&] {
            Item_free(*list, 1);
            const Item other = {1, 1, *text, nullptr};
            const HRESULT result = Item_copy(&other, 1, list);
            obvia_free(*text);
            *text = obvia::copy_text<obvia_wchar>(u"another");
            if (result >= 0 && code >= 0) {
                // Structures that violate their declaration cannot be marshaled.
                samples->count = 2;
            }
            return result < 0 ? result : code;
        });
    }

private:
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
};

#endif
