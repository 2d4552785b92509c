// obvia for C++17: interface pointers with reference counting, implementation of objects,
// connecting and serving.
//
// Header only, over the C interface (obvia.h, libobvia). The IDL compiler's NAME.h declares the
// interfaces as abstract structs; this header identifies them by obvia_interface_of<>, which NAME.h
// specialises.
//
//     obvia::com_ptr<ICalc> calc = obvia::connect<ICalc>("calc");
//     int32_t sum = 0;
//     obvia::check(calc->Add(2, 3, &sum));
//
// Methods, and functions of this header that return an HRESULT, report failures as HRESULTs. The
// other functions throw obvia::error. Several of them have a counterpart that returns an HRESULT
// instead, and whose name begins with try_. With -fno-exceptions, a failure of a function that
// would throw ends the program.
#ifndef OBVIA_HPP
#define OBVIA_HPP

#if __cplusplus < 201703L
#error "obvia.hpp is for C++17 and later: compile with -std=c++17, or in CMake set(CMAKE_CXX_STANDARD 17)"
#endif

#include "obvia.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#define OBVIA_THROWS 1
#else
#define OBVIA_THROWS 0
#endif

// The default for sending the texts of exceptions to callers: only in programs that are compiled
// with assertions.
#ifdef NDEBUG
#define OBVIA_TELLS 0
#else
#define OBVIA_TELLS 1
#endif

namespace obvia {

// A failed HRESULT with its description.
class error : public std::exception {
public:
    // Creates a failure with the description that this thread has for the HRESULT.
    explicit error(HRESULT code) : code_(code), text_(obvia_error_text(code))
    {
        obvia_error_info info;
        obvia_get_error_info(code, &info);
        description_ = info.description;
        with_source(info.source).with_help(info.help_file, info.help_context);
    }
    error(HRESULT code, std::string text) : code_(code), text_(text), description_(std::move(text)) {}

    // Sets the name of the failing component, and the topic in a help file: callers in other
    // processes get both.
    error &with_source(std::string source)
    {
        source_ = std::move(source);
        return *this;
    }
    error &with_help(std::string file, uint32_t context)
    {
        help_file_ = std::move(file);
        help_context_ = context;
        return *this;
    }

    HRESULT code() const noexcept { return code_; }
    const char *what() const noexcept override { return text_.c_str(); }
    const std::string &source() const noexcept { return source_; }
    const std::string &help_file() const noexcept { return help_file_; }
    uint32_t help_context() const noexcept { return help_context_; }

    // Makes this error the failure of the method that runs on this thread. Returns the error's
    // HRESULT. A success becomes E_UNEXPECTED, because a method that throws has set no results.
    HRESULT leave() const noexcept
    {
        const obvia_error_info info = {description_.c_str(), source_.c_str(), help_file_.c_str(), help_context_};
        return obvia_fail_with(code_ < 0 ? code_ : E_UNEXPECTED, &info);
    }

private:
    HRESULT code_;
    std::string text_, description_, source_, help_file_;
    uint32_t help_context_ = 0;
};

// Throws obvia::error.
[[noreturn]] inline void fail(error failure)
{
#if OBVIA_THROWS
    throw failure;
#else
    (void)failure;
    std::terminate();
#endif
}
[[noreturn]] inline void fail(HRESULT code, const char *text)
{
    fail(error(code, text));
}

// Throws obvia::error for a failure. S_FALSE is a success.
inline void check(HRESULT result)
{
    if (result < 0) {
        fail(error(result));
    }
}

// Traits of an interface: its IID, its description, and its base.
template <class I> const IID &iid_of() noexcept { return obvia_interface_of<I>::iid(); }
template <> inline const IID &iid_of<IUnknown>() noexcept { return IID_IUnknown; }
template <class I> const obvia_interface *info_of() noexcept { return obvia_interface_of<I>::info(); }

// The place of a method's result. The owner is empty until the method stores the result. The
// owner's previous content lives until the call is over, because the call may depend on it:
// `node->Next(node.put())`.
template <class Owner, class Pointer> class place {
public:
    place(Owner &owner, Pointer to) noexcept : before_(std::move(owner)), to_(to) {}
    place(const place &) = delete;
    place &operator=(const place &) = delete;
    operator Pointer() const noexcept { return to_; }
    auto &operator*() const noexcept { return *to_; }

private:
    Owner before_;
    Pointer to_;
};

// An interface pointer that holds a reference, or null.
template <class I> class com_ptr {
public:
    com_ptr() noexcept = default;
    com_ptr(std::nullptr_t) noexcept {}
    // Adds a reference.
    explicit com_ptr(I *pointer) noexcept : pointer_(pointer) { retain(); }
    com_ptr(const com_ptr &other) noexcept : pointer_(other.pointer_) { retain(); }
    com_ptr(com_ptr &&other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
    // A pointer to an interface converts to a pointer to its base.
    template <class J, class = std::enable_if_t<std::is_convertible<J *, I *>::value>>
    com_ptr(const com_ptr<J> &other) noexcept : pointer_(other.get()) { retain(); }
    ~com_ptr() { reset(); }

    com_ptr &operator=(com_ptr other) noexcept
    {
        std::swap(pointer_, other.pointer_);
        return *this;
    }

    // Takes ownership of a reference without adding one.
    static com_ptr attach(I *pointer) noexcept
    {
        com_ptr made;
        made.pointer_ = pointer;
        return made;
    }

    // Gives up the reference without releasing it.
    I *detach() noexcept { return std::exchange(pointer_, nullptr); }

    void reset() noexcept
    {
        if (I *pointer = detach()) {
            pointer->Release();
        }
    }

    I *get() const noexcept { return pointer_; }
    I *operator->() const noexcept { return pointer_; }
    I &operator*() const noexcept { return *pointer_; }
    explicit operator bool() const noexcept { return pointer_ != nullptr; }

    // Returns the place for an interface pointer that a method returns. The previous pointer is
    // released when the call is over.
    place<com_ptr, I **> put() noexcept { return {*this, &pointer_}; }
    place<com_ptr, void **> put_void() noexcept { return {*this, reinterpret_cast<void **>(&pointer_)}; }
    // Returns the place for an [in, out] parameter, which the method may replace.
    I **in_out() noexcept { return &pointer_; }

    // Queries the object for another interface; fails with E_NOINTERFACE if the object lacks it.
    template <class J> HRESULT try_as(com_ptr<J> &other) const noexcept
    {
        if (!pointer_) {
            other.reset();
            return E_POINTER;
        }
        const HRESULT result = pointer_->QueryInterface(iid_of<J>(), other.put_void());
        if (result < 0) {
            // A failed query has added no reference, so none must be released.
            other.detach();
        }
        return result;
    }
    template <class J> com_ptr<J> as() const
    {
        com_ptr<J> other;
        check(try_as(other));
        return other;
    }
    // Queries the object for another interface; null if the object lacks it.
    template <class J> com_ptr<J> as_or_null() const noexcept
    {
        com_ptr<J> other;
        return try_as(other) < 0 ? com_ptr<J>() : other;
    }

    // Stores a copy, with a reference of its own, in an [out] parameter.
    HRESULT copy_to(I **place) const noexcept
    {
        if (!place) {
            return E_POINTER;
        }
        retain();
        *place = pointer_;
        return S_OK;
    }

private:
    void retain() const noexcept
    {
        if (pointer_) {
            pointer_->AddRef();
        }
    }

    I *pointer_ = nullptr;
};

// Whether two interface pointers are equal. Object identity requires comparing as<IUnknown>().
template <class I, class J> bool operator==(const com_ptr<I> &one, const com_ptr<J> &other) noexcept
{
    return one.get() == other.get();
}
template <class I, class J> bool operator!=(const com_ptr<I> &one, const com_ptr<J> &other) noexcept
{
    return !(one == other);
}

// Runs the body of a method, and converts exceptions to an HRESULT: no exception may leave a
// method, because the caller may be in another language or process.
template <class Work> HRESULT guard(Work &&work) noexcept
{
    const auto run = [&]() -> HRESULT {
        if constexpr (std::is_same<decltype(work()), HRESULT>::value) {
            return work();
        } else {
            work();
            return S_OK;
        }
    };
#if OBVIA_THROWS
    try {
        return run();
    } catch (const error &failure) {
        return failure.leave();
    } catch (const std::bad_alloc &) {
        return E_OUTOFMEMORY;
    } catch (const std::exception &failure) {
        return obvia_fail_unforeseen(E_FAIL, failure.what(), OBVIA_TELLS);
    } catch (...) {
        return E_UNEXPECTED;
    }
#else
    return run();
#endif
}

// Sets whether callers get the texts of exceptions other than obvia::error: see
// obvia_set_exception_texts().
inline void set_exception_texts(bool are_told) noexcept { obvia_set_exception_texts(are_told); }

// The interface that a base of an object implements: `Base::obvia_raw` if the base defines it, or
// else the base itself.
template <class Base, class = void> struct interface_in {
    using type = Base;
};
template <class Base> struct interface_in<Base, std::void_t<typename Base::obvia_raw>> {
    using type = typename Base::obvia_raw;
};

// An additional base of objects whose calls go over virtual interfaces, regardless of the binding
// that leads to their process:
//
//     class Calc : public obvia::implements<Calc, ICalc>, public obvia::over_vi { ... };
//
// `endpoint` is as for obvia_vi_marshaler().
class over_vi {
public:
    over_vi(const over_vi &) = delete;
    over_vi &operator=(const over_vi &) = delete;

    // Returns IMarshal of the object that has this base.
    HRESULT marshaler(IUnknown *outer, void **object) noexcept
    {
        IUnknown *part = part_.load(std::memory_order_acquire);
        if (!part) {
            IUnknown *made = nullptr;
            const HRESULT result = obvia_vi_marshaler(outer, endpoint_.c_str(), &made);
            if (result < 0) {
                return result;
            }
            if (part_.compare_exchange_strong(part, made, std::memory_order_acq_rel)) {
                part = made;
            } else {
                made->Release();
            }
        }
        return part->QueryInterface(IID_IMarshal, object);
    }

protected:
    explicit over_vi(std::string endpoint = {}) : endpoint_(std::move(endpoint)) {}
    ~over_vi()
    {
        if (IUnknown *part = part_.load(std::memory_order_acquire)) {
            part->Release();
        }
    }

private:
    std::string endpoint_;
    std::atomic<IUnknown *> part_{nullptr};
};

// The base of an object that implements these interfaces. The object's identity is IUnknown of the
// first interface:
//
//     class Calc : public obvia::implements<Calc, ICalc> {
//     public:
//         HRESULT Add(int32_t a, int32_t b, int32_t *sum) override { *sum = a + b; return S_OK; }
//     };
//     obvia::com_ptr<ICalc> calc = obvia::make<Calc>();
//
// The object must support concurrent calls, because it has the interface IAgileObject. The last
// release deletes the object.
template <class Object, class First, class... Others> class implements : public First, public Others... {
public:
    using default_interface = First;
    // The class that make() creates.
    template <class Derived> using complete = Derived;

    HRESULT QueryInterface(REFIID iid, void **object) override
    {
        if (!object) {
            return E_POINTER;
        }
        if constexpr (std::is_base_of<over_vi, Object>::value) {
            if (obvia_is_equal(&iid, &IID_IMarshal)) {
                return static_cast<Object *>(this)->marshaler(static_cast<First *>(this), object);
            }
        }
        *object = find(iid);
        if (!*object) {
            return E_NOINTERFACE;
        }
        AddRef();
        return S_OK;
    }
    uint32_t AddRef() override
    {
        const uint32_t before = references_.fetch_add(1, std::memory_order_relaxed);
        if (before >= INT32_MAX) {
            // A caller leaks references. If the count wrapped around, the object would be deleted
            // while it is in use.
            std::abort();
        }
        return before + 1;
    }
    uint32_t Release() override
    {
        const uint32_t left = references_.fetch_sub(1, std::memory_order_acq_rel) - 1;
        if (left == 0) {
            // The object's destructor may add references to the object and release them. Because of
            // the high count, such a release does not delete the object a second time.
            references_.store(INT32_MAX / 2, std::memory_order_relaxed);
            delete static_cast<Object *>(this);
        }
        return left;
    }

    implements(const implements &) = delete;
    implements &operator=(const implements &) = delete;

protected:
    implements() noexcept = default;
    // Not virtual: an interface has no destructor among its methods. Release() knows the class of
    // the object.
    ~implements() = default;

private:
    void *find(REFIID iid) noexcept
    {
        if (obvia_is_equal(&iid, &IID_IUnknown) || obvia_is_equal(&iid, &IID_IAgileObject)) {
            return static_cast<First *>(this);
        }
        void *found = lineage<First, typename interface_in<First>::type>(iid);
        (void)std::initializer_list<int>{(found = found ? found : lineage<Others, typename interface_in<Others>::type>(iid), 0)...};
        return found;
    }

    // Returns the pointer to `Interface` if the IID belongs to `Known` or to one of its bases; else
    // null.
    template <class Interface, class Known> void *lineage(REFIID iid) noexcept
    {
        if constexpr (std::is_same<Known, IUnknown>::value) {
            return nullptr;
        } else {
            if (obvia_is_equal(&iid, &iid_of<Known>())) {
                return static_cast<Interface *>(this);
            }
            return lineage<Interface, typename obvia_interface_of<Known>::base>(iid);
        }
    }

    std::atomic<uint32_t> references_{1};
};

// Creates an object and returns its first interface.
template <class Object, class... Arguments> com_ptr<typename Object::default_interface> make(Arguments &&...arguments)
{
    using Complete = typename Object::template complete<Object>;
    return com_ptr<typename Object::default_interface>::attach(new Complete(std::forward<Arguments>(arguments)...));
}

// An exported name. While this value exists, other processes can connect to the exported object.
class served {
public:
    served() noexcept = default;
    explicit served(obvia_export_entry *entry) noexcept : entry_(entry) {}

    void reset() noexcept { entry_.reset(); }
    explicit operator bool() const noexcept { return entry_ != nullptr; }

private:
    struct unexport {
        void operator()(obvia_export_entry *entry) const noexcept { obvia_unexport(entry); }
    };
    std::unique_ptr<obvia_export_entry, unexport> entry_;
};

// Exports an object under a name.
template <class I> HRESULT try_serve(const std::string &name, const com_ptr<I> &object, served &entry) noexcept
{
    obvia_export_entry *made = nullptr;
    const HRESULT result = obvia_export(name.c_str(), info_of<I>(), object.get(), &made);
    entry = served(made);
    return result;
}
template <class I> [[nodiscard]] served serve(const std::string &name, const com_ptr<I> &object)
{
    served entry;
    check(try_serve(name, object, entry));
    return entry;
}

// Sleeps until the process ends: for the end of a server's main().
[[noreturn]] inline void wait()
{
    obvia_wait();
    std::terminate();
}

// Connects to the object that a process exports under a name, or at a string binding.
template <class I> HRESULT try_connect(const std::string &name, com_ptr<I> &object) noexcept
{
    return obvia_connect(name.c_str(), info_of<I>(), object.put_void());
}
template <class I> com_ptr<I> connect(const std::string &name)
{
    com_ptr<I> object;
    check(try_connect(name, object));
    return object;
}

// A class whose objects this process creates for clients during the lifetime of this object.
class class_registration {
public:
    class_registration() noexcept = default;
    explicit class_registration(obvia_class_registration *registration) noexcept : registration_(registration) {}

    void reset() noexcept { registration_.reset(); }
    explicit operator bool() const noexcept { return registration_ != nullptr; }

private:
    struct revoke {
        void operator()(obvia_class_registration *registration) const noexcept { obvia_revoke_class(registration); }
    };
    std::unique_ptr<obvia_class_registration, revoke> registration_;
};

namespace detail {

template <class I> const obvia_interface *info_of_pointer(const com_ptr<I> &) noexcept { return info_of<I>(); }

// Converts a time to the library's form: negative times to 0, long ones to the maximum.
inline uint32_t milliseconds_of(std::chrono::milliseconds time) noexcept
{
    constexpr uint32_t longest = OBVIA_DEFAULT_TIMEOUT - 1;
    return time.count() < 0 ? 0 : time.count() > longest ? longest : static_cast<uint32_t>(time.count());
}

} // namespace detail

// Registers a class whose objects this process creates for clients: see obvia_register_class().
// `make` returns an object as a com_ptr, and can be called on any thread:
//
//     const auto registration = obvia::register_class(CLSID_Calc, [] { return obvia::make<Calc>(); });
template <class Make>
HRESULT try_register_class(const CLSID &class_id, Make make, class_registration &made, const com_ptr<IUnknown> &class_object = {})
{
    const auto call = [](void *context, void **object) noexcept -> HRESULT {
        return guard([&] { *object = (*static_cast<const Make *>(context))().detach(); });
    };
    const auto release = [](void *context) { delete static_cast<const Make *>(context); };
    obvia_class_registration *registration = nullptr;
    // The type of the created objects determines the description of the interface.
    const obvia_interface *interface = detail::info_of_pointer(decltype(std::declval<const Make &>()())());
    const HRESULT result =
        obvia_register_class(&class_id, class_object.get(), interface, call, new Make(std::move(make)), release, &registration);
    made = class_registration(registration);
    return result;
}
template <class Make>
[[nodiscard]] class_registration register_class(const CLSID &class_id, Make make, const com_ptr<IUnknown> &class_object = {})
{
    class_registration made;
    check(try_register_class(class_id, std::move(make), made, class_object));
    return made;
}

// Creates an object of a class: in the process at `server`, or by a registration on this host. See
// obvia_create_instance().
template <class I> HRESULT try_create_instance(const CLSID &class_id, com_ptr<I> &object, const char *server = nullptr) noexcept
{
    return obvia_create_instance(&class_id, server, info_of<I>(), object.put_void());
}
template <class I> com_ptr<I> create_instance(const CLSID &class_id, const char *server = nullptr)
{
    com_ptr<I> object;
    check(try_create_instance(class_id, object, server));
    return object;
}
template <class I> com_ptr<I> create_instance(const CLSID &class_id, const std::string &server)
{
    return create_instance<I>(class_id, server.c_str());
}

// Creates an object of a class in one of these contexts, such as OBVIA_LOCAL_SERVER.
template <class I> com_ptr<I> create_instance_in(const CLSID &class_id, uint32_t contexts)
{
    com_ptr<I> object;
    check(obvia_create_instance_in(&class_id, contexts, info_of<I>(), object.put_void()));
    return object;
}

// Returns the class object of a class: see obvia_get_class_object().
template <class I> com_ptr<I> get_class_object(const CLSID &class_id, const char *server = nullptr)
{
    com_ptr<I> object;
    check(obvia_get_class_object(&class_id, server, info_of<I>(), object.put_void()));
    return object;
}

// Returns the class that is registered under a name on this host.
inline CLSID class_named(const char *name)
{
    CLSID found;
    check(obvia_class_named(name, &found));
    return found;
}

// Serves until this process has been idle for a period: for the end of main() in a server that is
// started on demand.
inline void serve_until_idle(std::chrono::milliseconds idle)
{
    check(obvia_serve_until_idle(detail::milliseconds_of(idle)));
}

// A lock that keeps this process from counting as idle during its lifetime.
class server_lock {
public:
    server_lock()
    {
        obvia_server_lock *lock = nullptr;
        check(obvia_lock_server(&lock));
        lock_.reset(lock);
    }

private:
    struct unlock {
        void operator()(obvia_server_lock *lock) const noexcept { obvia_unlock_server(lock); }
    };
    std::unique_ptr<obvia_server_lock, unlock> lock_;
};

// Copies a text that the library has allocated, and frees the text.
inline std::string taken_text(char *given)
{
    std::unique_ptr<char, void (*)(char *)> text(given, [](char *memory) { obvia_free(memory); });
    return text.get();
}

// Returns the string binding of an interface pointer's calls; empty for an object of this process.
template <class I> std::string binding_of(const com_ptr<I> &object)
{
    char *binding = nullptr;
    check(obvia_binding_of(object.get(), &binding));
    return binding ? taken_text(binding) : std::string();
}

// An interface without [object] that this process serves during the lifetime of this object.
class serving {
public:
    serving() noexcept = default;
    explicit serving(obvia_serving *service) noexcept : service_(service) {}

    void reset() noexcept { service_.reset(); }
    explicit operator bool() const noexcept { return service_ != nullptr; }

private:
    struct end {
        void operator()(obvia_serving *service) const noexcept { obvia_end_serving(service); }
    };
    std::unique_ptr<obvia_serving, end> service_;
};

// Serves an interface without [object] by an object, for every caller or for callers whose binding
// contains the object UUID.
template <class I>
HRESULT try_serve_interface(const com_ptr<I> &object, serving &service, const GUID *uuid = nullptr) noexcept
{
    obvia_serving *made = nullptr;
    const HRESULT result = obvia_serve_interface(uuid, info_of<I>(), object.get(), &made);
    service = serving(made);
    return result;
}
template <class I> [[nodiscard]] serving serve_interface(const com_ptr<I> &object, const GUID *uuid = nullptr)
{
    serving service;
    check(try_serve_interface(object, service, uuid));
    return service;
}

// Binds an interface without [object] of the server at a string binding.
template <class I> HRESULT try_bind(const std::string &binding, com_ptr<I> &server) noexcept
{
    return obvia_bind(binding.c_str(), info_of<I>(), server.put_void());
}
template <class I> com_ptr<I> bind(const std::string &binding)
{
    com_ptr<I> server;
    check(try_bind(binding, server));
    return server;
}

// Accepts connections at a further binding, and returns the binding with its actual endpoint: see
// obvia_listen().
inline std::string listen(const std::string &binding)
{
    char *bound = nullptr;
    check(obvia_listen(binding.c_str(), &bound));
    return taken_text(bound);
}

// Listens on the endpoints of an interface's endpoint attribute; returns the bindings, one per
// line.
template <class I> std::string listen_for()
{
    char *bound = nullptr;
    check(obvia_listen_for(info_of<I>(), &bound));
    return taken_text(bound);
}

// Endpoints that are registered with the endpoint mapper of this host during the lifetime of this
// object.
class registration {
public:
    registration() noexcept = default;
    explicit registration(obvia_registration *made) noexcept : made_(made) {}

    void reset() noexcept { made_.reset(); }
    explicit operator bool() const noexcept { return made_ != nullptr; }

private:
    struct end {
        void operator()(obvia_registration *made) const noexcept { obvia_unregister_endpoints(made); }
    };
    std::unique_ptr<obvia_registration, end> made_;
};

// Registers the interfaces that this process currently serves, for its present endpoints, with the
// mapper `ncalrpc:[NAME]`, or by default with the mapper of this host.
inline HRESULT try_register_endpoints(const char *annotation, registration &made, const char *mapper = nullptr) noexcept
{
    obvia_registration *given = nullptr;
    const HRESULT result = obvia_register_endpoints(mapper, annotation, &given);
    made = registration(given);
    return result;
}
[[nodiscard]] inline registration register_endpoints(const char *annotation, const char *mapper = nullptr)
{
    registration made;
    check(try_register_endpoints(annotation, made, mapper));
    return made;
}

// Sets the credentials of this process for bindings that ask for security.
inline void set_credentials(const std::string &user, const std::string &password, const std::string &domain = {})
{
    check(obvia_set_credentials(domain.c_str(), user.c_str(), password.c_str()));
}

// Sets the accounts that may call this process where authentication is required: users and their
// passwords.
inline void set_accounts(std::initializer_list<obvia_account> accounts)
{
    check(obvia_set_accounts(accounts.begin(), accounts.size()));
}

// The caller of a method: see obvia_caller in obvia.h. Unknown members are empty.
struct caller {
    uint32_t process, uid;
    obvia_level level;
    std::string host, domain, user;
};

namespace detail {

inline caller caller_of(const obvia_caller &found)
{
    const auto text = [](const char *words) { return std::string(words ? words : ""); };
    return {found.process, found.uid, static_cast<obvia_level>(found.level), text(found.host), text(found.domain), text(found.user)};
}

// Returns a rule that owns its function object.
template <class Permits> obvia_callers callers_of(Permits permits)
{
    const auto ask = [](void *context, const obvia_caller *caller) noexcept -> int {
#if OBVIA_THROWS
        try {
            return (*static_cast<Permits *>(context))(caller_of(*caller));
        } catch (...) {
            return 0;
        }
#else
        return (*static_cast<Permits *>(context))(caller_of(*caller));
#endif
    };
    return {ask, new Permits(std::move(permits)), [](void *context) { delete static_cast<Permits *>(context); }};
}

} // namespace detail

// Returns the caller of the method that runs on this thread.
inline caller get_caller()
{
    obvia_caller found;
    check(obvia_get_caller(&found));
    const std::unique_ptr<obvia_caller, void (*)(obvia_caller *)> cleared(&found, obvia_clear_caller);
    return detail::caller_of(found);
}

// Sets the access rule of an object, which takes precedence over the default rule. `permits` gets
// an obvia::caller, and can be called on any thread. See obvia_set_access() in obvia.h. A rule that
// throws denies access.
template <class Permits> void set_access(IUnknown *object, Permits permits)
{
    const obvia_callers callers = detail::callers_of(std::move(permits));
    check(obvia_set_access(object, &callers));
}

// Removes the access rule of an object.
inline void clear_access(IUnknown *object) { check(obvia_set_access(object, nullptr)); }

// Sets the access rule of objects and functions without a rule of their own.
template <class Permits> void set_default_access(Permits permits)
{
    const obvia_callers callers = detail::callers_of(std::move(permits));
    check(obvia_set_default_access(&callers));
}

// Admits processes of other users: see obvia_admit_other_users() in obvia.h.
inline void admit_other_users() { check(obvia_admit_other_users()); }

// Sets the function that receives a line (const char *) for each refused caller. The function can
// be called on any thread.
template <class Audit> void set_audit(Audit audit)
{
    const auto tell = [](void *context, const char *line) noexcept { (*static_cast<Audit *>(context))(line); };
    check(obvia_set_audit(tell, new Audit(std::move(audit)), [](void *context) { delete static_cast<Audit *>(context); }));
}

// A time limit for each call of this thread during the lifetime of this object. The destructor
// restores the previous limit.
class timeout {
public:
    explicit timeout(std::chrono::milliseconds limit) noexcept
        : before_(obvia_set_timeout(detail::milliseconds_of(limit))) {}
    ~timeout() { obvia_set_timeout(before_); }

    timeout(const timeout &) = delete;
    timeout &operator=(const timeout &) = delete;

private:
    uint32_t before_;
};

// A canceller, which ends the calls of other threads in the scope of a `cancellable` for this
// canceller. Copies share one canceller.
class canceller {
public:
    canceller() : canceller_(obvia_new_canceller(), obvia_free_canceller) {}

    // Cancels the calls. Any thread may call this function, any number of times.
    void cancel() const noexcept { obvia_cancel(canceller_.get()); }

private:
    friend class cancellable;
    std::shared_ptr<obvia_canceller> canceller_;
};

// The scope in which a canceller ends the calls of this thread with RPC_E_CALL_CANCELED: the call
// in progress and later calls. Where scopes overlap, each of their cancellers ends the calls.
// Scopes may end in any order, each on the thread that began the scope. Methods are not
// interrupted: methods in other processes can poll obvia_is_cancelled().
class cancellable {
public:
    explicit cancellable(const canceller &by) noexcept : canceller_(by.canceller_) { obvia_add_canceller(canceller_.get()); }
    ~cancellable() { obvia_remove_canceller(canceller_.get()); }

    cancellable(const cancellable &) = delete;
    cancellable &operator=(const cancellable &) = delete;

private:
    std::shared_ptr<obvia_canceller> canceller_;
};

// A view of elements with another owner: the form of arrays in calls.
template <class T> class span {
public:
    span() noexcept = default;
    span(T *first, std::size_t count) noexcept : first_(first), count_(count) {}
    template <std::size_t N> span(T (&array)[N]) noexcept : first_(array), count_(N) {}
    template <class Container, class = std::enable_if_t<std::is_convertible<decltype(std::declval<Container &>().data()), T *>::value>>
    span(Container &container) noexcept : first_(container.data()), count_(container.size()) {}
    // A temporary container may only be viewed by read-only spans.
    template <class Container,
              class = std::enable_if_t<std::is_const<T>::value && std::is_convertible<decltype(std::declval<const Container &>().data()), T *>::value>>
    span(const Container &container) noexcept : first_(container.data()), count_(container.size()) {}

    T *data() const noexcept { return first_; }
    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }
    T *begin() const noexcept { return first_; }
    T *end() const noexcept { return first_ + count_; }
    T &operator[](std::size_t at) const noexcept { return first_[at]; }
    span first(std::size_t count) const noexcept { return span(first_, count < count_ ? count : count_); }

private:
    T *first_ = nullptr;
    std::size_t count_ = 0;
};

// Memory that calls pass by reference: an array in this memory is not copied if its parameter has
// the attribute zero_copy or map. See obvia_share().
class shared_memory {
public:
    shared_memory() noexcept = default;
    explicit shared_memory(std::size_t bytes, obvia_access access = OBVIA_READ)
    {
        void *memory = nullptr;
        check(obvia_share(bytes, access, &memory));
        memory_.reset(memory);
        bytes_ = bytes;
    }
    shared_memory(shared_memory &&other) noexcept : memory_(std::move(other.memory_)), bytes_(std::exchange(other.bytes_, 0)) {}
    shared_memory &operator=(shared_memory other) noexcept
    {
        std::swap(memory_, other.memory_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }

    void *data() const noexcept { return memory_.get(); }
    std::size_t size() const noexcept { return bytes_; }
    // Returns all elements that fit, or `count` elements from the byte offset `offset` on. Returns
    // no elements if any of these lies outside of the memory, or is not aligned.
    template <class T> span<T> elements() const noexcept
    {
        return span<T>(static_cast<T *>(data()), bytes_ / sizeof(T));
    }
    template <class T> span<T> elements(std::size_t offset, std::size_t count) const noexcept
    {
        const bool is_in = offset <= bytes_ && count <= (bytes_ - offset) / sizeof(T) && offset % alignof(T) == 0;
        return is_in ? span<T>(reinterpret_cast<T *>(static_cast<char *>(data()) + offset), count) : span<T>();
    }

private:
    struct unshare {
        void operator()(void *memory) const noexcept { obvia_unshare(memory); }
    };
    std::unique_ptr<void, unshare> memory_;
    std::size_t bytes_ = 0;
};

// Memory that a method has returned: a string, or an array of elements without pointers. The
// destructor frees it.
template <class T> class memory {
public:
    memory() noexcept = default;
    memory(memory &&other) noexcept : first_(other.detach()) {}
    memory &operator=(memory other) noexcept
    {
        std::swap(first_, other.first_);
        return *this;
    }
    ~memory() { reset(); }

    void reset() noexcept { obvia_free(detach()); }
    // Gives up the memory without freeing it.
    T *detach() noexcept { return std::exchange(first_, nullptr); }
    T *get() const noexcept { return first_; }
    explicit operator bool() const noexcept { return first_ != nullptr; }
    T &operator[](std::size_t at) const noexcept { return first_[at]; }

    // Returns the place for a method's result. The previous content is freed when the call is over.
    place<memory, T **> put() noexcept { return {*this, &first_}; }
    // Returns the place for an [in, out] parameter, which the method may replace.
    T **in_out() noexcept { return &first_; }

private:
    T *first_ = nullptr;
};

// Copies a string with a terminating zero to allocated memory: for methods that return a string.
// Null if memory is exhausted.
template <class C> C *copy_text(std::basic_string_view<C> text) noexcept
{
    C *copy = static_cast<C *>(obvia_alloc((text.size() + 1) * sizeof(C)));
    if (copy) {
        text.copy(copy, text.size());
        copy[text.size()] = 0;
    }
    return copy;
}

// A structure that a method has returned or will take over, with the targets of its pointers. The
// destructor frees it.
template <class T> class owned {
public:
    owned() noexcept = default;
    owned(owned &&other) noexcept : first_(other.detach()) {}
    owned &operator=(owned other) noexcept
    {
        std::swap(first_, other.first_);
        return *this;
    }
    ~owned() { reset(); }

    // Copies a structure with the targets of its pointers.
    static HRESULT try_copy(const T &structure, owned &made) noexcept
    {
        return obvia_structure_of<T>::copy(&structure, 1, made.put());
    }
    static owned copy(const T &structure)
    {
        owned made;
        check(try_copy(structure, made));
        return made;
    }

    void reset() noexcept { obvia_structure_of<T>::free(detach(), 1); }
    // Gives up the structure without freeing it.
    T *detach() noexcept { return std::exchange(first_, nullptr); }
    T *get() const noexcept { return first_; }
    T *operator->() const noexcept { return first_; }
    T &operator*() const noexcept { return *first_; }
    explicit operator bool() const noexcept { return first_ != nullptr; }

    // Returns the place for a structure that a method returns. The previous content is freed when
    // the call is over.
    place<owned, T **> put() noexcept { return {*this, &first_}; }
    // Returns the place for an [in, out] parameter, which the method may replace.
    T **in_out() noexcept { return &first_; }

private:
    T *first_ = nullptr;
};

// The functions that free and copy elements without pointers, as bytes.
template <class T, class = void> struct elements_of {
    static void free(T *first, std::size_t) noexcept { obvia_free(first); }
    static HRESULT copy(const T *first, std::size_t count, T **copy) noexcept
    {
        static_assert(std::is_trivially_copyable<T>::value, "a structure with pointers has its own functions for copies");
        // The extra element makes the pointer non-null for an empty array as well.
        *copy = count < PTRDIFF_MAX / sizeof(T) ? static_cast<T *>(obvia_alloc((count + 1) * sizeof(T))) : nullptr;
        if (*copy && count) {
            std::memcpy(static_cast<void *>(*copy), first, count * sizeof(T));
        }
        return *copy ? S_OK : E_OUTOFMEMORY;
    }
};
// The functions for structures with pointers, which include the targets of the pointers.
template <class T> struct elements_of<T, std::void_t<decltype(sizeof(obvia_structure_of<T>))>> : obvia_structure_of<T> {};

// Converts a number of elements to the type of the method's count.
template <class Count> Count count_of(std::size_t size)
{
    const Count count = static_cast<Count>(size);
    if (count < Count() || static_cast<std::size_t>(count) != size) {
        fail(E_INVALIDARG, "the array has more elements than the type of its size can count");
    }
    return count;
}

// An array that a method has returned, with the targets of its pointers. The destructor frees it.
// put() and count() are the places for the array and its length.
template <class T, class Count = uint32_t> class owned_array {
public:
    owned_array() noexcept = default;
    owned_array(owned_array &&other) noexcept : first_(std::exchange(other.first_, nullptr)), count_(std::exchange(other.count_, 0)) {}
    owned_array &operator=(owned_array other) noexcept
    {
        std::swap(first_, other.first_);
        std::swap(count_, other.count_);
        return *this;
    }
    ~owned_array() { reset(); }

    // Takes ownership of an array, which the destructor will free.
    static owned_array attach(T *first, Count count) noexcept
    {
        owned_array made;
        made.first_ = first;
        made.count_ = count;
        return made;
    }
    // Copies elements with the targets of their pointers.
    static owned_array copy(span<const T> elements)
    {
        owned_array made;
        const Count count = count_of<Count>(elements.size());
        check(elements_of<T>::copy(elements.data(), elements.size(), made.put()));
        made.count_ = count;
        return made;
    }

    void reset() noexcept
    {
        const std::size_t count = size();
        elements_of<T>::free(detach(), count);
    }
    // Gives up the array without freeing it; the new owner must know its length.
    T *detach() noexcept
    {
        count_ = 0;
        return std::exchange(first_, nullptr);
    }
    place<owned_array, T **> put() noexcept { return {*this, &first_}; }
    Count *count() noexcept { return &count_; }

    T *data() const noexcept { return first_; }
    std::size_t size() const noexcept { return first_ && count_ > Count() ? static_cast<std::size_t>(count_) : 0; }
    bool empty() const noexcept { return size() == 0; }
    T *begin() const noexcept { return first_; }
    T *end() const noexcept { return first_ + size(); }
    T &operator[](std::size_t at) const noexcept { return first_[at]; }

private:
    T *first_ = nullptr;
    Count count_ = 0;
};

// A structure that a method fills in place; initially zero. The destructor frees the targets of its
// pointers.
template <class T> class filled {
public:
    filled() noexcept = default;
    filled(filled &&other) noexcept : value_(other.detach()) {}
    filled &operator=(filled other) noexcept
    {
        std::swap(value_, other.value_);
        return *this;
    }
    ~filled() { reset(); }

    // Copies a structure with the targets of its pointers.
    static filled copy(const T &structure)
    {
        T *made = nullptr;
        check(obvia_structure_of<T>::copy(&structure, 1, &made));
        filled copied;
        copied.value_ = *made;
        obvia_free(made);
        return copied;
    }

    void reset() noexcept { obvia_structure_of<T>::clear(&value_, 1); }
    // Gives up the content without freeing it.
    T detach() noexcept { return std::exchange(value_, T{}); }
    // Returns the place for a structure that a method returns. The previous content is freed when
    // the call is over.
    place<filled, T *> put() noexcept { return {*this, &value_}; }
    // Returns the place for an [in, out] parameter, which the method may change.
    T *in_out() noexcept { return &value_; }
    T &operator*() noexcept { return value_; }
    const T &operator*() const noexcept { return value_; }
    T *operator->() noexcept { return &value_; }
    const T *operator->() const noexcept { return &value_; }

private:
    T value_{};
};

} // namespace obvia

#endif
