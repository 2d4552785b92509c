// Factories that keep a number, for processes that load this library.
#include "torture.h"
#include <obvia_library.hpp>

static constexpr CLSID CLSID_Factory = {0x3f0d52c1, 0x77a4, 0x4c1e, {0x9a, 0x0b, 0x0b, 0x51, 0x2f, 0x6e, 0x9d, 0x40}};

class Factory final : public obvia::implements<Factory, IFactory>, obvia::library_use {
public:
    HRESULT AddToKept(int32_t by, int64_t *total) override
    {
        *total = total_ += by;
        return S_OK;
    }
    HRESULT Live(int64_t *count) override
    {
        *count = obvia::library_uses();
        return S_OK;
    }

    HRESULT Make(ICounter **) override { return E_NOTIMPL; }
    HRESULT Noticed(int64_t *) override { return E_NOTIMPL; }
    HRESULT Allocations(int64_t *, int64_t *) override { return E_NOTIMPL; }
    HRESULT Lockdown() override { return E_NOTIMPL; }
    HRESULT Pass(ICounter *, ICounter **, uint8_t *) override { return E_NOTIMPL; }
    HRESULT AddTo(ICounter *, int32_t, int64_t *) override { return E_NOTIMPL; }
    HRESULT Keep(ICounter *) override { return E_NOTIMPL; }
    HRESULT Kept(ICounter **) override { return E_NOTIMPL; }
    HRESULT Who(char16_t **) override { return E_NOTIMPL; }
    HRESULT Context(int64_t *, char16_t **) override { return E_NOTIMPL; }
    HRESULT KeptSleeps(uint32_t) override { return E_NOTIMPL; }
    HRESULT Overhear() override { return E_NOTIMPL; }
    HRESULT Overheard(int64_t *, char16_t **) override { return E_NOTIMPL; }

private:
    std::atomic<int64_t> total_{5000};
};

OBVIA_EXPORT_CLASSES({CLSID_Factory, obvia::class_object<Factory>})
