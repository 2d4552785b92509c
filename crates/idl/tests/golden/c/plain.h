/* Made by obvia-idl 0.1.0 from plain.idl. Change the IDL, not this. */
#ifndef OBVIA_IDL_PLAIN_H
#define OBVIA_IDL_PLAIN_H

#include "obvia.h"
#include "basis.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
constexpr int32_t WEIGHT_MAX __attribute__((unused)) = 20000;
constexpr uint32_t MASK __attribute__((unused)) = 4294967295u;
constexpr double HALF __attribute__((unused)) = 0.5;
constexpr char NAME[] __attribute__((unused)) = "plain";
constexpr obvia_wchar TOWN[] __attribute__((unused)) = u"Obvia \"by the sea\"";
#else
enum { WEIGHT_MAX = 20000 };
__extension__ enum { MASK = 4294967295u };
static const double HALF __attribute__((unused)) = 0.5;
static const char NAME[] __attribute__((unused)) = "plain";
static const obvia_wchar TOWN[] __attribute__((unused)) = u"Obvia \"by the sea\"";
#endif

typedef struct ILocal ILocal;
typedef struct IPlain IPlain;
typedef struct IEmpty IEmpty;

enum Kind OBVIA_ENUM {
    LETTER = 0,
    PARCEL = 4,
    FREIGHT = 5
};
typedef enum Kind Kind;
OBVIA_HAS_SIZE(Kind, 4);

enum Level OBVIA_ENUM {
    LOW = -1,
    MIDDLE = 0,
    HIGH = 1
};
typedef enum Level Level;
OBVIA_HAS_SIZE(Level, 4);

typedef struct Stamp Stamp;
typedef struct Sheet Sheet;
typedef struct Item Item;
typedef struct Choice Choice;

struct Stamp {
    Kind class_;
    uint8_t used;
    int64_t number;
    double cost[2];
    Level levels[2][2];
};
OBVIA_HAS_SIZE(Stamp, 48);
OBVIA_LIES_AT(Stamp, class_, 0);
OBVIA_LIES_AT(Stamp, used, 4);
OBVIA_LIES_AT(Stamp, number, 8);
OBVIA_LIES_AT(Stamp, cost, 16);
OBVIA_LIES_AT(Stamp, levels, 32);

struct Sheet {
    Pair corner;
    Stamp stamps[2];
    char code[3];
};
OBVIA_HAS_SIZE(Sheet, 112);
OBVIA_LIES_AT(Sheet, corner, 0);
OBVIA_LIES_AT(Sheet, stamps, 8);
OBVIA_LIES_AT(Sheet, code, 104);

struct Item {
    int32_t value;
    obvia_wchar *name;
    Item *next;
};
OBVIA_HAS_SIZE(Item, 24);
OBVIA_LIES_AT(Item, value, 0);
OBVIA_LIES_AT(Item, name, 8);
OBVIA_LIES_AT(Item, next, 16);

struct Choice {
    int32_t which;
    union {
        int32_t number;
        Pair pair;
    } u;
};
OBVIA_HAS_SIZE(Choice, 12);

/* Structures with everything that they lead to: _free() frees what a method returned, each structure as a part of one
 * allocation; _clear() frees what structures lead to that are elsewhere, and zeroes them; _copy() makes what a method
 * returns. NULL is no structure. */
void Item_free(Item *first, size_t count);
void Item_clear(Item *first, size_t count);
HRESULT Item_copy(const Item *first, size_t count, Item **copy);
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
}
#endif

#if defined(__cplusplus) && !defined(CINTERFACE)
/* Called in one process only. */
struct ILocal : IUnknown {
    virtual HRESULT Walk(const Item *list, IBasis *basis, IBasis **other, const obvia_wchar *name) = 0;
    virtual HRESULT Choose(const Choice *choice, char **text) = 0;
};
#else
/* Called in one process only. */
typedef struct ILocalVtbl {
    HRESULT (*QueryInterface)(ILocal *self, const IID *iid, void **object);
    uint32_t (*AddRef)(ILocal *self);
    uint32_t (*Release)(ILocal *self);
    HRESULT (*Walk)(ILocal *self, const Item *list, IBasis *basis, IBasis **other, const obvia_wchar *name);
    HRESULT (*Choose)(ILocal *self, const Choice *choice, char **text);
} ILocalVtbl;
struct ILocal {
    const ILocalVtbl *lpVtbl;
};
#define ILocal_QueryInterface(self, iid, object) ((self)->lpVtbl->QueryInterface)((self), (iid), (object))
#define ILocal_AddRef(self) ((self)->lpVtbl->AddRef)((self))
#define ILocal_Release(self) ((self)->lpVtbl->Release)((self))
#define ILocal_Walk(self, list, basis, other, name) ((self)->lpVtbl->Walk)((self), (list), (basis), (other), (name))
#define ILocal_Choose(self, choice, text) ((self)->lpVtbl->Choose)((self), (choice), (text))
#endif
extern const IID IID_ILocal;

#if defined(__cplusplus) && !defined(CINTERFACE)
/* One method for each way
 * that a value goes / * and * / comes.
 */
struct IPlain : IBasis {
    virtual HRESULT Nothing() = 0;
    virtual HRESULT Tell(int16_t what, int32_t level) = 0;
    /* Numbers of every size. */
    virtual HRESULT Numbers(uint8_t a, char b, int8_t c, uint16_t d, obvia_wchar e, float f, uint64_t g, HRESULT h, uint8_t *i, obvia_wchar *j, double *k) = 0;
    virtual HRESULT Checked(uint8_t on, Kind kind, Level level, uint32_t weight, uint8_t *off, Kind *other, int32_t *digit) = 0;
    virtual HRESULT Changed(int32_t *number, uint8_t *flag, Stamp *stamp, GUID *id) = 0;
    virtual HRESULT Stamps(Pair by_value, const Stamp *stamp, const GUID *id, Stamp *printed, Pair *pair) = 0;
    virtual HRESULT Fixed(const uint8_t seal[16], const uint8_t flags[3], int32_t grid[2][3], Kind kinds[2], Pair pairs[2]) = 0;
    virtual HRESULT Large(int32_t first, const int64_t many[20], int64_t back[20]) = 0;
    virtual HRESULT Sheets(const Sheet *sheet, Sheet *copy) = 0;
    virtual HRESULT Total(uint32_t count, const int32_t *values, int64_t *sum) = 0;
    virtual HRESULT Two(int32_t n, const int16_t *a, const uint8_t *b, int32_t *sum) = 0;
    virtual HRESULT Flags(uint16_t count, const uint8_t *flags, const Stamp *stamps, int32_t *number) = 0;
    virtual HRESULT Fill(int32_t room, int32_t *values, int32_t start) = 0;
    virtual HRESULT Fetch(uint32_t room, int16_t *letters, uint32_t *got, int32_t *rest) = 0;
    virtual HRESULT Double(int64_t count, double *values, Kind *kinds) = 0;
    virtual HRESULT Print(int32_t *count, Stamp *stamps, Stamp *more, uint8_t *flags) = 0;
    virtual HRESULT Odd(int32_t self_, int32_t new_, int32_t request, int32_t values_count, const int32_t *values, int32_t *Odd) = 0;
    virtual HRESULT Send(const obvia_wchar *to, int32_t n, const uint8_t *seal, const char *from, int32_t *length) = 0;
    virtual HRESULT Receipt(const char *what, int32_t *number, Stamp *stamp, obvia_wchar **first, uint8_t *done, char **second) = 0;
};
#else
/* One method for each way
 * that a value goes / * and * / comes.
 */
typedef struct IPlainVtbl {
    HRESULT (*QueryInterface)(IPlain *self, const IID *iid, void **object);
    uint32_t (*AddRef)(IPlain *self);
    uint32_t (*Release)(IPlain *self);
    HRESULT (*Sum)(IPlain *self, const Pair *pair, int64_t *sum);
    HRESULT (*Nothing)(IPlain *self);
    HRESULT (*Tell)(IPlain *self, int16_t what, int32_t level);
    /* Numbers of every size. */
    HRESULT (*Numbers)(IPlain *self, uint8_t a, char b, int8_t c, uint16_t d, obvia_wchar e, float f, uint64_t g, HRESULT h, uint8_t *i, obvia_wchar *j, double *k);
    HRESULT (*Checked)(IPlain *self, uint8_t on, Kind kind, Level level, uint32_t weight, uint8_t *off, Kind *other, int32_t *digit);
    HRESULT (*Changed)(IPlain *self, int32_t *number, uint8_t *flag, Stamp *stamp, GUID *id);
    HRESULT (*Stamps)(IPlain *self, Pair by_value, const Stamp *stamp, const GUID *id, Stamp *printed, Pair *pair);
    HRESULT (*Fixed)(IPlain *self, const uint8_t seal[16], const uint8_t flags[3], int32_t grid[2][3], Kind kinds[2], Pair pairs[2]);
    HRESULT (*Large)(IPlain *self, int32_t first, const int64_t many[20], int64_t back[20]);
    HRESULT (*Sheets)(IPlain *self, const Sheet *sheet, Sheet *copy);
    HRESULT (*Total)(IPlain *self, uint32_t count, const int32_t *values, int64_t *sum);
    HRESULT (*Two)(IPlain *self, int32_t n, const int16_t *a, const uint8_t *b, int32_t *sum);
    HRESULT (*Flags)(IPlain *self, uint16_t count, const uint8_t *flags, const Stamp *stamps, int32_t *number);
    HRESULT (*Fill)(IPlain *self, int32_t room, int32_t *values, int32_t start);
    HRESULT (*Fetch)(IPlain *self, uint32_t room, int16_t *letters, uint32_t *got, int32_t *rest);
    HRESULT (*Double)(IPlain *self, int64_t count, double *values, Kind *kinds);
    HRESULT (*Print)(IPlain *self, int32_t *count, Stamp *stamps, Stamp *more, uint8_t *flags);
    HRESULT (*Odd)(IPlain *self, int32_t self_, int32_t new_, int32_t request, int32_t values_count, const int32_t *values, int32_t *Odd);
    HRESULT (*Send)(IPlain *self, const obvia_wchar *to, int32_t n, const uint8_t *seal, const char *from, int32_t *length);
    HRESULT (*Receipt)(IPlain *self, const char *what, int32_t *number, Stamp *stamp, obvia_wchar **first, uint8_t *done, char **second);
} IPlainVtbl;
struct IPlain {
    const IPlainVtbl *lpVtbl;
};
#define IPlain_QueryInterface(self, iid, object) ((self)->lpVtbl->QueryInterface)((self), (iid), (object))
#define IPlain_AddRef(self) ((self)->lpVtbl->AddRef)((self))
#define IPlain_Release(self) ((self)->lpVtbl->Release)((self))
#define IPlain_Sum(self, pair, sum) ((self)->lpVtbl->Sum)((self), (pair), (sum))
#define IPlain_Nothing(self) ((self)->lpVtbl->Nothing)((self))
#define IPlain_Tell(self, what, level) ((self)->lpVtbl->Tell)((self), (what), (level))
#define IPlain_Numbers(self, a, b, c, d, e, f, g, h, i, j, k) ((self)->lpVtbl->Numbers)((self), (a), (b), (c), (d), (e), (f), (g), (h), (i), (j), (k))
#define IPlain_Checked(self, on, kind, level, weight, off, other, digit) ((self)->lpVtbl->Checked)((self), (on), (kind), (level), (weight), (off), (other), (digit))
#define IPlain_Changed(self, number, flag, stamp, id) ((self)->lpVtbl->Changed)((self), (number), (flag), (stamp), (id))
#define IPlain_Stamps(self, by_value, stamp, id, printed, pair) ((self)->lpVtbl->Stamps)((self), (by_value), (stamp), (id), (printed), (pair))
#define IPlain_Fixed(self, seal, flags, grid, kinds, pairs) ((self)->lpVtbl->Fixed)((self), (seal), (flags), (grid), (kinds), (pairs))
#define IPlain_Large(self, first, many, back) ((self)->lpVtbl->Large)((self), (first), (many), (back))
#define IPlain_Sheets(self, sheet, copy) ((self)->lpVtbl->Sheets)((self), (sheet), (copy))
#define IPlain_Total(self, count, values, sum) ((self)->lpVtbl->Total)((self), (count), (values), (sum))
#define IPlain_Two(self, n, a, b, sum) ((self)->lpVtbl->Two)((self), (n), (a), (b), (sum))
#define IPlain_Flags(self, count, flags, stamps, number) ((self)->lpVtbl->Flags)((self), (count), (flags), (stamps), (number))
#define IPlain_Fill(self, room, values, start) ((self)->lpVtbl->Fill)((self), (room), (values), (start))
#define IPlain_Fetch(self, room, letters, got, rest) ((self)->lpVtbl->Fetch)((self), (room), (letters), (got), (rest))
#define IPlain_Double(self, count, values, kinds) ((self)->lpVtbl->Double)((self), (count), (values), (kinds))
#define IPlain_Print(self, count, stamps, more, flags) ((self)->lpVtbl->Print)((self), (count), (stamps), (more), (flags))
#define IPlain_Odd(self, self_, new_, request, values_count, values, Odd_) ((self)->lpVtbl->Odd)((self), (self_), (new_), (request), (values_count), (values), (Odd_))
#define IPlain_Send(self, to, n, seal, from, length) ((self)->lpVtbl->Send)((self), (to), (n), (seal), (from), (length))
#define IPlain_Receipt(self, what, number, stamp, first, done, second) ((self)->lpVtbl->Receipt)((self), (what), (number), (stamp), (first), (done), (second))
#endif
extern const IID IID_IPlain;
extern const obvia_interface IPlain_INFO;
#if defined(__cplusplus) && !defined(CINTERFACE)
extern "C++" {
    template <> struct obvia_interface_of<IPlain> {
        using base = IBasis;
        static const IID &iid() noexcept { return IID_IPlain; }
        static const obvia_interface *info() noexcept { return &IPlain_INFO; }
    };
}
#endif

#if defined(__cplusplus) && !defined(CINTERFACE)
struct IEmpty : IUnknown {
};
#else
typedef struct IEmptyVtbl {
    HRESULT (*QueryInterface)(IEmpty *self, const IID *iid, void **object);
    uint32_t (*AddRef)(IEmpty *self);
    uint32_t (*Release)(IEmpty *self);
} IEmptyVtbl;
struct IEmpty {
    const IEmptyVtbl *lpVtbl;
};
#define IEmpty_QueryInterface(self, iid, object) ((self)->lpVtbl->QueryInterface)((self), (iid), (object))
#define IEmpty_AddRef(self) ((self)->lpVtbl->AddRef)((self))
#define IEmpty_Release(self) ((self)->lpVtbl->Release)((self))
#endif
extern const IID IID_IEmpty;
extern const obvia_interface IEmpty_INFO;
#if defined(__cplusplus) && !defined(CINTERFACE)
extern "C++" {
    template <> struct obvia_interface_of<IEmpty> {
        using base = IUnknown;
        static const IID &iid() noexcept { return IID_IEmpty; }
        static const obvia_interface *info() noexcept { return &IEmpty_INFO; }
    };
}
#endif

#ifdef __cplusplus
}
#endif

#endif
