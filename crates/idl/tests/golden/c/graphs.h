/* Made by obvia-idl 0.1.0 from graphs.idl. Change the IDL, not this. */
#ifndef OBVIA_IDL_GRAPHS_H
#define OBVIA_IDL_GRAPHS_H

#include "obvia.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct IBell IBell;
typedef struct IGraphs IGraphs;

enum Color OBVIA_ENUM {
    RED = 0,
    GREEN = 5
};
typedef enum Color Color;
OBVIA_HAS_SIZE(Color, 4);

typedef struct Item Item;
typedef struct Record Record;
typedef union Any Any;
typedef struct Choice Choice;

struct Item {
    int32_t value;
    uint8_t marked;
    int16_t digit;
    obvia_wchar *name;
    Item *next;
    Color *colors;
};
OBVIA_HAS_SIZE(Item, 32);
OBVIA_LIES_AT(Item, value, 0);
OBVIA_LIES_AT(Item, marked, 4);
OBVIA_LIES_AT(Item, digit, 6);
OBVIA_LIES_AT(Item, name, 8);
OBVIA_LIES_AT(Item, next, 16);
OBVIA_LIES_AT(Item, colors, 24);

struct Record {
    GUID iid;
    IUnknown *object;
    uint64_t count;
    IBell *bells[1];
};
OBVIA_LIES_AT(Record, iid, 0);
OBVIA_LIES_AT(Record, object, 16);
OBVIA_LIES_AT(Record, count, 24);
OBVIA_LIES_AT(Record, bells, 32);

union Any {
    int64_t number;
    Item *list;
};
OBVIA_HAS_SIZE(Any, 8);

struct Choice {
    Color which;
    union {
        Item items[2];
    } body;
};
OBVIA_HAS_SIZE(Choice, 72);

typedef Item *ItemPointer;
typedef Item Row[3];
typedef obvia_wchar *Word;
typedef IBell *BellPointer;

/* Structures with everything that they lead to: _free() frees what a method returned, each structure as a part of one
 * allocation; _clear() frees what structures lead to that are elsewhere, and zeroes them; _copy() makes what a method
 * returns. NULL is no structure. */
void Item_free(Item *first, size_t count);
void Item_clear(Item *first, size_t count);
HRESULT Item_copy(const Item *first, size_t count, Item **copy);
void Record_free(Record *one);
HRESULT Record_copy(const Record *one, Record **copy);
void Choice_free(Choice *first, size_t count);
void Choice_clear(Choice *first, size_t count);
HRESULT Choice_copy(const Choice *first, size_t count, Choice **copy);
#ifdef __cplusplus
extern "C++" {
    template <> struct obvia_structure_of<Item> {
        static void free(::Item *first, size_t count) noexcept { Item_free(first, count); }
        static void clear(::Item *first, size_t count) noexcept { Item_clear(first, count); }
        static HRESULT copy(const ::Item *first, size_t count, ::Item **copy) noexcept
        {
            return Item_copy(first, count, copy);
        }
    };
    template <> struct obvia_structure_of<Record> {
        static void free(::Record *first, size_t) noexcept { Record_free(first); }
        static HRESULT copy(const ::Record *first, size_t, ::Record **copy) noexcept
        {
            return Record_copy(first, copy);
        }
    };
    template <> struct obvia_structure_of<Choice> {
        static void free(::Choice *first, size_t count) noexcept { Choice_free(first, count); }
        static void clear(::Choice *first, size_t count) noexcept { Choice_clear(first, count); }
        static HRESULT copy(const ::Choice *first, size_t count, ::Choice **copy) noexcept
        {
            return Choice_copy(first, count, copy);
        }
    };
}
#endif

#if defined(__cplusplus) && !defined(CINTERFACE)
struct IBell : IUnknown {
    virtual HRESULT Ring(int32_t times) = 0;
};
#else
typedef struct IBellVtbl {
    HRESULT (*QueryInterface)(IBell *self, const IID *iid, void **object);
    uint32_t (*AddRef)(IBell *self);
    uint32_t (*Release)(IBell *self);
    HRESULT (*Ring)(IBell *self, int32_t times);
} IBellVtbl;
struct IBell {
    const IBellVtbl *lpVtbl;
};
#define IBell_QueryInterface(self, iid, object) ((self)->lpVtbl->QueryInterface)((self), (iid), (object))
#define IBell_AddRef(self) ((self)->lpVtbl->AddRef)((self))
#define IBell_Release(self) ((self)->lpVtbl->Release)((self))
#define IBell_Ring(self, times) ((self)->lpVtbl->Ring)((self), (times))
#endif
extern const IID IID_IBell;
extern const obvia_interface IBell_INFO;
#if defined(__cplusplus) && !defined(CINTERFACE)
extern "C++" {
    template <> struct obvia_interface_of<IBell> {
        using base = IUnknown;
        static const IID &iid() noexcept { return IID_IBell; }
        static const obvia_interface *info() noexcept { return &IBell_INFO; }
    };
}
#endif

#if defined(__cplusplus) && !defined(CINTERFACE)
struct IGraphs : IUnknown {
    virtual HRESULT Plain(int32_t a, int32_t *b) = 0;
    virtual HRESULT Walk(const Item *from, int32_t kind, const Any *value, Item *copy) = 0;
    virtual HRESULT Grow(Item **list, Choice *choice, const Record *record) = 0;
    virtual HRESULT Tell(const int32_t *value) = 0;
    virtual HRESULT Find(const GUID *iid, IBell *bell, int32_t arguments, IUnknown **found) = 0;
    virtual HRESULT Fill(int16_t room, int32_t *used, Item *items, int32_t (*grid)[3], char **text) = 0;
    virtual HRESULT List(char **names, int32_t *count, int64_t **values) = 0;
};
#else
typedef struct IGraphsVtbl {
    HRESULT (*QueryInterface)(IGraphs *self, const IID *iid, void **object);
    uint32_t (*AddRef)(IGraphs *self);
    uint32_t (*Release)(IGraphs *self);
    HRESULT (*Plain)(IGraphs *self, int32_t a, int32_t *b);
    HRESULT (*Walk)(IGraphs *self, const Item *from, int32_t kind, const Any *value, Item *copy);
    HRESULT (*Grow)(IGraphs *self, Item **list, Choice *choice, const Record *record);
    HRESULT (*Tell)(IGraphs *self, const int32_t *value);
    HRESULT (*Find)(IGraphs *self, const GUID *iid, IBell *bell, int32_t arguments, IUnknown **found);
    HRESULT (*Fill)(IGraphs *self, int16_t room, int32_t *used, Item *items, int32_t (*grid)[3], char **text);
    HRESULT (*List)(IGraphs *self, char **names, int32_t *count, int64_t **values);
} IGraphsVtbl;
struct IGraphs {
    const IGraphsVtbl *lpVtbl;
};
#define IGraphs_QueryInterface(self, iid, object) ((self)->lpVtbl->QueryInterface)((self), (iid), (object))
#define IGraphs_AddRef(self) ((self)->lpVtbl->AddRef)((self))
#define IGraphs_Release(self) ((self)->lpVtbl->Release)((self))
#define IGraphs_Plain(self, a, b) ((self)->lpVtbl->Plain)((self), (a), (b))
#define IGraphs_Walk(self, from, kind, value, copy) ((self)->lpVtbl->Walk)((self), (from), (kind), (value), (copy))
#define IGraphs_Grow(self, list, choice, record) ((self)->lpVtbl->Grow)((self), (list), (choice), (record))
#define IGraphs_Tell(self, value) ((self)->lpVtbl->Tell)((self), (value))
#define IGraphs_Find(self, iid, bell, arguments, found) ((self)->lpVtbl->Find)((self), (iid), (bell), (arguments), (found))
#define IGraphs_Fill(self, room, used, items, grid, text) ((self)->lpVtbl->Fill)((self), (room), (used), (items), (grid), (text))
#define IGraphs_List(self, names, count, values) ((self)->lpVtbl->List)((self), (names), (count), (values))
#endif
extern const IID IID_IGraphs;
extern const obvia_interface IGraphs_INFO;
#if defined(__cplusplus) && !defined(CINTERFACE)
extern "C++" {
    template <> struct obvia_interface_of<IGraphs> {
        using base = IUnknown;
        static const IID &iid() noexcept { return IID_IGraphs; }
        static const obvia_interface *info() noexcept { return &IGraphs_INFO; }
    };
}
#endif

#ifdef __cplusplus
}
#endif

#endif
