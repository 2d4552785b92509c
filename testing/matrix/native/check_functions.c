/* Checks of interfaces of functions from C. */
#include "check.h"

#include <string.h>

void check_functions_in_c(rpcecho *echo, Counters *counters)
{
    static const obvia_context none;
    uint32_t number = 0, status = 1;
    Info info;
    obvia_context counter = none;
    int64_t next = 0;
    Account account;
    CHECK(SUCCEEDED(rpcecho_AddOne(echo, UINT32_MAX, &number)) && number == 0);
    CHECK(SUCCEEDED(rpcecho_TestCall2(echo, 4, &info, &status)) && info.info4.v == 40 && status == 0);
    CHECK(SUCCEEDED(Counters_Open(counters, 5, &counter, &status)) && status == 0);
    CHECK(SUCCEEDED(Counters_Next(counters, counter, &next)) && next == 5);
    CHECK(SUCCEEDED(Counters_Close(counters, &counter, &account)) && account.steps == 1);
    CHECK(memcmp(&counter, &none, sizeof none) == 0);
}

/* An object in C that keeps counters for its clients. */
typedef struct Keeper {
    Counters pointer;
    uint32_t references;
    uint32_t alive;
    int32_t told;
} Keeper;

/* A counter of one client. */
typedef struct Counter {
    int64_t first, next;
    Keeper *keeper;
} Counter;

static HRESULT query_interface(Counters *self, const IID *iid, void **object)
{
    *object = NULL;
    if (!obvia_is_equal(iid, &IID_IUnknown) && !obvia_is_equal(iid, &IID_IAgileObject) && !obvia_is_equal(iid, &IID_Counters)) {
        return E_NOINTERFACE;
    }
    *object = self;
    Counters_AddRef(self);
    return S_OK;
}

static uint32_t add_ref(Counters *self)
{
    return __atomic_add_fetch(&((Keeper *)self)->references, 1, __ATOMIC_RELAXED);
}

static uint32_t release(Counters *self)
{
    const uint32_t left = __atomic_sub_fetch(&((Keeper *)self)->references, 1, __ATOMIC_ACQ_REL);
    if (left == 0) {
        free(self);
    }
    return left;
}

static void end(void *state)
{
    Counter *counter = (Counter *)state;
    __atomic_sub_fetch(&counter->keeper->alive, 1, __ATOMIC_RELAXED);
    free(counter);
}

static HRESULT open_(Counters *self, int64_t first, obvia_context *handle, uint32_t *returned)
{
    Counter *counter;
    HRESULT result;
    *returned = first < 0 ? 22 : 0;
    if (first < 0) {
        return S_OK;
    }
    counter = (Counter *)malloc(sizeof *counter);
    CHECK(counter != NULL);
    counter->first = counter->next = first;
    counter->keeper = (Keeper *)self;
    __atomic_add_fetch(&counter->keeper->alive, 1, __ATOMIC_RELAXED);
    result = obvia_new_context(counter, end, handle);
    if (FAILED(result)) {
        end(counter);
    }
    return result;
}

static HRESULT next_(Counters *self, obvia_context handle, int64_t *returned)
{
    void *counter = NULL;
    const HRESULT result = obvia_context_state(&handle, end, &counter);
    (void)self;
    if (SUCCEEDED(result)) {
        *returned = __atomic_fetch_add(&((Counter *)counter)->next, 1, __ATOMIC_RELAXED);
    }
    return result;
}

static HRESULT close_(Counters *self, obvia_context *handle, Account *returned)
{
    void *counter = NULL;
    const HRESULT result = obvia_context_state(handle, end, &counter);
    (void)self;
    if (FAILED(result)) {
        return result;
    }
    returned->first = ((Counter *)counter)->first;
    returned->steps = (int32_t)(((Counter *)counter)->next - ((Counter *)counter)->first);
    return obvia_end_context(handle);
}

static HRESULT alive(Counters *self, uint32_t *returned)
{
    *returned = __atomic_load_n(&((Keeper *)self)->alive, __ATOMIC_RELAXED);
    return S_OK;
}

static HRESULT turn(Counters *self, Way way, Way *returned)
{
    (void)self;
    *returned = way == UP ? DOWN : UP;
    return S_OK;
}

static HRESULT tell(Counters *self, int32_t value)
{
    __atomic_store_n(&((Keeper *)self)->told, value, __ATOMIC_RELAXED);
    return S_OK;
}

static HRESULT told(Counters *self, int32_t *returned)
{
    *returned = __atomic_load_n(&((Keeper *)self)->told, __ATOMIC_RELAXED);
    return S_OK;
}

static HRESULT fail(Counters *self, HRESULT code)
{
    (void)self;
    return FAILED(code) ? code : S_OK;
}

static HRESULT fault(Counters *self, HRESULT code)
{
    (void)self;
    return obvia_fail(code, "as it was told");
}

static const CountersVtbl methods = {query_interface, add_ref, release, open_, next_, close_,
                                     alive,           turn,    tell,    told,  fail,  fault};

Counters *counters_in_c(void)
{
    Keeper *made = (Keeper *)calloc(1, sizeof *made);
    CHECK(made != NULL);
    made->pointer.lpVtbl = &methods;
    made->references = 1;
    return &made->pointer;
}
