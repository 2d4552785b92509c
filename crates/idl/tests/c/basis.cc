/* An object and its caller in C++. The stubs, which are in C, use the same vtables. */
#include "basis.h"

#include "in_process.h"

namespace {

class Basis final : public IBasis {
public:
    HRESULT QueryInterface(REFIID iid, void **object) override
    {
        *object = obvia_is_equal(&iid, &IID_IBasis) ? this : nullptr;
        return *object != nullptr ? S_OK : E_NOINTERFACE;
    }

    uint32_t AddRef() override { return ++references; }

    uint32_t Release() override { return --references; }

    HRESULT Sum(const Pair *pair, int64_t *sum) override
    {
        *sum = static_cast<int64_t>(pair->left) + pair->right;
        return *sum == 0 ? E_INVALIDARG : S_OK;
    }

private:
    uint32_t references = 1;
};

} // namespace

int main()
{
    Basis basis;
    served_object = static_cast<IBasis *>(&basis);
    served_interface = &IBasis_INFO;
    const obvia_proxy proxy = {IBasis_INFO.proxy, 1, 7};
    IBasis *remote = reinterpret_cast<IBasis *>(const_cast<obvia_proxy *>(&proxy));
    const Pair pair = {INT32_MAX, 2}, nothing = {1, -1};
    int64_t sum = 5;
    CHECK(remote->Sum(&pair, &sum) == S_OK && sum == INT64_C(0x80000001));
    CHECK(remote->Sum(&nothing, &sum) == E_INVALIDARG && sum == INT64_C(0x80000001));
    IUnknown *unknown = remote;
    void *other = &sum;
    CHECK(unknown->AddRef() == 1 && unknown->Release() == 1);
    CHECK(unknown->QueryInterface(IID_IUnknown, &other) == E_NOINTERFACE && other == nullptr);
    CHECK(FAR == INT64_C(0x123456789));
    free(client_slot);
    free(server_slot);
    free(reply_memory);
    puts("ok");
    return 0;
}

const IID IID_IUnknown = {0, 0, 0, {0xc0, 0, 0, 0, 0, 0, 0, 0x46}};
