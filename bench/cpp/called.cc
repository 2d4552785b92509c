// The object that `obvia bench call_lat` calls in C++. It has a file of its own, so that the
// compiler cannot devirtualize the calls.
#include "called.h"

namespace {

class Called final : public obvia::implements<Called, IBench> {
public:
    HRESULT Null() override
    {
        // There is one client, which makes one call at a time.
        calls_.store(calls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return S_OK;
    }

    HRESULT pfs_open(int32_t client, int32_t fobj, int32_t flags, int32_t mode, int32_t *handle) override
    {
        const uint32_t sum = static_cast<uint32_t>(client) + static_cast<uint32_t>(fobj) + static_cast<uint32_t>(flags)
            + static_cast<uint32_t>(mode);
        *handle = static_cast<int32_t>(sum);
        return S_OK;
    }

    HRESULT MoveData(uint32_t size, uint32_t *array) override { return count_call(size, array); }

    HRESULT MoveShared(uint32_t size, uint32_t *array) override { return count_call(size, array); }

    HRESULT Visit(IBench *visitor) override { return visitor ? Null() : E_POINTER; }

    HRESULT Calls(int64_t *count) override
    {
        *count = calls_.load(std::memory_order_relaxed);
        return S_OK;
    }

private:
    static HRESULT count_call(uint32_t size, uint32_t *array)
    {
        if (size > 0) {
            array[0] += 1;
        }
        return S_OK;
    }

    std::atomic<int64_t> calls_{0};
};

} // namespace

obvia::com_ptr<IBench> make_called()
{
    return obvia::make<Called>();
}
