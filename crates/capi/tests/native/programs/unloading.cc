// The conditions under which a library with classes in C++ may be unloaded. Prints "ok".
#include "sound.h"

#include <obvia_library.hpp>

#include <cstdio>
#include <cstdlib>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void fail(const char *what, int line)
{
    std::fprintf(stderr, "unloading.cc:%d: %s\n", line, what);
    std::exit(1);
}

namespace {

class Used final : public obvia::implements<Used, IFirst>, obvia::library_use {
public:
    HRESULT First(int32_t *) override { return S_OK; }
};

constexpr CLSID CLSID_Used = {0x5b0e3a44, 0x7d55, 0x4c6f, {0x9a, 0x3c, 0x0f, 0x2f, 0x5f, 0x5a, 0x7f, 0x33}};

} // namespace

OBVIA_EXPORT_CLASSES({CLSID_Used, obvia::class_object<Used>})

// Tests that locks are counted apart from objects. Any client of a class object may lock and unlock
// the library. Even after an unlock without a previous lock, the library's objects must keep the
// library loaded.
static void locks_are_counted_apart_from_objects()
{
    obvia::com_ptr<obvia::IClassFactory> factory;
    obvia::com_ptr<IFirst> object;
    CHECK(DllCanUnloadNow() == S_OK);
    const auto put = reinterpret_cast<void **>(static_cast<obvia::IClassFactory **>(factory.put()));
    CHECK(DllGetClassObject(&CLSID_Used, &obvia_interface_of<obvia::IClassFactory>::iid(), put) == S_OK);
    CHECK(factory->CreateInstance(nullptr, IID_IFirst, object.put_void()) == S_OK);
    for (int turn = 0; turn < 3; turn++) {
        CHECK(factory->LockServer(0) == S_OK && DllCanUnloadNow() == S_FALSE);
    }
    CHECK(factory->LockServer(1) == S_OK);
    object.reset();
    CHECK(DllCanUnloadNow() == S_FALSE && factory->LockServer(0) == S_OK);
    CHECK(DllCanUnloadNow() == S_FALSE);
    CHECK(factory->LockServer(1) == S_OK);
    const obvia::com_ptr<obvia::IClassFactory> other = factory;
    factory.reset();
    CHECK(DllCanUnloadNow() == S_FALSE && other->LockServer(0) == S_OK);
}

int main()
{
    locks_are_counted_apart_from_objects();
    CHECK(DllCanUnloadNow() == S_OK);
    std::puts("ok");
    return 0;
}
