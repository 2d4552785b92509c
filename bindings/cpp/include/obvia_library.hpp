// obvia for C++17: shared libraries with classes that are loaded into the client's process.
//
//     static constexpr CLSID CLSID_Calc = {0x0d4f4c52, 0x0a34, 0x4ac4, {0x8d, 0x6c, 0x2c, 0x9f, 0x3a, 0x1f, 0x7a, 0x20}};
//     class Calc final : public obvia::implements<Calc, ICalc>, obvia::library_use { ... };
//     OBVIA_EXPORT_CLASSES({CLSID_Calc, obvia::class_object<Calc>})
//
// If every class of a library has the base library_use, the library can be unloaded when no object
// is left. Otherwise it stays loaded.
#ifndef OBVIA_LIBRARY_HPP
#define OBVIA_LIBRARY_HPP

#include "obvia.hpp"

#define CLASS_E_NOAGGREGATION ((HRESULT)0x80040110)
#define CLASS_E_CLASSNOTAVAILABLE ((HRESULT)0x80040111)

namespace obvia {

// COM's IClassFactory.
struct IClassFactory : IUnknown {
    virtual HRESULT CreateInstance(IUnknown *outer, REFIID iid, void **object) = 0;
    virtual HRESULT LockServer(int32_t lock) = 0;
};

// The number of existing objects that keep the library loaded, class objects included.
inline std::atomic<uint32_t> &library_uses() noexcept
{
    static std::atomic<uint32_t> uses{0};
    return uses;
}

// The number of locks that clients of the class objects have added. It does not fall below zero,
// since a client may remove more locks than it has added.
inline std::atomic<uint32_t> &library_locks() noexcept
{
    static std::atomic<uint32_t> locks{0};
    return locks;
}

// A base of objects that keep their library loaded during their lifetime.
class library_use {
public:
    library_use() noexcept { library_uses().fetch_add(1, std::memory_order_relaxed); }
    library_use(const library_use &) noexcept : library_use() {}
    library_use &operator=(const library_use &) noexcept = default;
    ~library_use() { library_uses().fetch_sub(1, std::memory_order_release); }
};

} // namespace obvia

template <> struct obvia_interface_of<obvia::IClassFactory> {
    using base = IUnknown;
    static const IID &iid() noexcept
    {
        static constexpr IID id = {0x00000001, 0, 0, {0xc0, 0, 0, 0, 0, 0, 0, 0x46}};
        return id;
    }
};

namespace obvia {

// The class object of a class, which creates its instances.
template <class Object> class factory final : public implements<factory<Object>, IClassFactory>, library_use {
public:
    HRESULT CreateInstance(IUnknown *outer, REFIID iid, void **object) override
    {
        if (!object) {
            return E_POINTER;
        }
        *object = nullptr;
        if (outer) {
            return CLASS_E_NOAGGREGATION;
        }
        return guard([&] { return make<Object>()->QueryInterface(iid, object); });
    }

    HRESULT LockServer(int32_t lock) override
    {
        std::atomic<uint32_t> &locks = library_locks();
        uint32_t before = locks.load(std::memory_order_relaxed), after = 0;
        do {
            if (before == (lock ? UINT32_MAX : 0)) {
                return S_OK;
            }
            after = lock ? before + 1 : before - 1;
        } while (!locks.compare_exchange_weak(before, after, std::memory_order_release, std::memory_order_relaxed));
        return S_OK;
    }
};

// Returns an interface of the class object.
template <class Object> HRESULT find_class_object(REFIID iid, void **object) noexcept
{
    return guard([&] { return make<factory<Object>>()->QueryInterface(iid, object); });
}

// The function that returns the class object, and whether the objects keep the library loaded.
struct class_finder {
    HRESULT (*find)(REFIID iid, void **object) noexcept;
    bool is_counted;
};
template <class Object>
inline constexpr class_finder class_object{find_class_object<Object>, std::is_base_of<library_use, Object>::value};

// A class of a library.
struct library_class {
    CLSID id;
    class_finder finder;
};

template <std::size_t Count>
HRESULT get_class_object(const library_class (&classes)[Count], const GUID *id, const GUID *iid, void **object) noexcept
{
    if (!id || !iid || !object) {
        return E_POINTER;
    }
    *object = nullptr;
    for (const library_class &known : classes) {
        if (obvia_is_equal(&known.id, id)) {
            return known.finder.find(*iid, object);
        }
    }
    return CLASS_E_CLASSNOTAVAILABLE;
}

template <std::size_t Count> HRESULT can_unload(const library_class (&classes)[Count]) noexcept
{
    for (const library_class &known : classes) {
        if (!known.finder.is_counted) {
            return S_FALSE;
        }
    }
    const bool is_locked = library_locks().load(std::memory_order_acquire) != 0;
    return !is_locked && library_uses().load(std::memory_order_acquire) == 0 ? S_OK : S_FALSE;
}

} // namespace obvia

// Exports COM's two functions of a shared library with these classes:
// {CLSID, obvia::class_object<Object>}, ...
#define OBVIA_EXPORT_CLASSES(...)                                                                                          \
    static constexpr obvia::library_class obvia_library_classes[] = {__VA_ARGS__};                                         \
    extern "C" __attribute__((visibility("default"))) HRESULT DllGetClassObject(const GUID *id, const GUID *iid,           \
                                                                                void **object)                             \
    {                                                                                                                      \
        return obvia::get_class_object(obvia_library_classes, id, iid, object);                                            \
    }                                                                                                                      \
    extern "C" __attribute__((visibility("default"))) HRESULT DllCanUnloadNow(void)                                        \
    {                                                                                                                      \
        return obvia::can_unload(obvia_library_classes);                                                                   \
    }

#endif
