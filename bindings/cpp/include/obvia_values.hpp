// obvia for C++17: interfaces whose methods take and return values, and throw failures.
//
// The IDL compiler's NAME_values.hpp includes this header, which builds on obvia.hpp and the
// methods that NAME.h declares.
//
//     const obvia::object<ICalc> calc = obvia::connect<ICalc>("calc");
//     std::cout << calc.Add(2, 3) << std::endl;      // a value, or an obvia::error
//     HRESULT result = calc->Add(2, 3, &sum);        // the method as NAME.h has it
//
// A class of objects defines these methods. obvia::make creates an object together with an adapter,
// which implements the interface by calling the object's methods.
//
//     class Calc final : public obvia::implementation<ICalc> {
//     public:
//         int32_t Add(int32_t a, int32_t b) override { return a + b; }
//     };
//     obvia::com_ptr<ICalc> calc = obvia::make<Calc>();
//
// Successes other than S_OK, such as S_FALSE, are not visible in this form.
#ifndef OBVIA_VALUES_HPP
#define OBVIA_VALUES_HPP

#include "obvia.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <vector>

namespace obvia {

// The calls and methods of IUnknown: none.
template <class Object> struct no_calls {};
struct no_methods {
protected:
    ~no_methods() = default;
};
// The first part of every adapter: the interface, and access to the object's methods.
template <class Made, class Raw> struct no_adapter;

} // namespace obvia

// Traits of an interface with values: NAME_values.hpp specialises the template.
template <class Interface> struct obvia_values_of {
    template <class Object> using calls = obvia::no_calls<Object>;
    using methods = obvia::no_methods;
    template <class Made, class Raw> using adapter = obvia::no_adapter<Made, Raw>;
};

namespace obvia {

// ---- Clients ----

// An interface pointer that holds a reference, or null, with the interface's methods in terms of
// values.
template <class I> class object : public com_ptr<I>, public obvia_values_of<I>::template calls<object<I>> {
public:
    object() noexcept = default;
    object(std::nullptr_t) noexcept {}
    object(com_ptr<I> pointer) noexcept : com_ptr<I>(std::move(pointer)) {}
    // Adds a reference.
    explicit object(I *pointer) noexcept : com_ptr<I>(pointer) {}
    // A pointer to an interface converts to a pointer to its base.
    template <class J, class = std::enable_if_t<std::is_convertible<J *, I *>::value>>
    object(const com_ptr<J> &other) noexcept : com_ptr<I>(other)
    {
        static_assert(sizeof(object) == sizeof(I *), "arrays of objects are arrays of pointers");
    }
};

// An array that a method has returned or will return, with the targets of its pointers.
template <class T> using array = owned_array<T, std::size_t>;

// ---- Objects ----

// The class that obvia::make creates for an object: the object, and adapters with its interfaces.
template <class Object, class First, class... Others>
class made final : public implements<made<Object, First, Others...>,
                                     typename obvia_values_of<First>::template adapter<made<Object, First, Others...>, First>,
                                     typename obvia_values_of<Others>::template adapter<made<Object, First, Others...>, Others>...> {
public:
    using default_interface = First;

    template <class... Arguments> explicit made(Arguments &&...arguments) : value_(std::forward<Arguments>(arguments)...)
    {
        value_.self_ = this;
    }
    Object &value() noexcept { return value_; }

    HRESULT QueryInterface(REFIID iid, void **object) override
    {
        if constexpr (std::is_base_of<over_vi, Object>::value) {
            if (object && obvia_is_equal(&iid, &IID_IMarshal)) {
                return value_.marshaler(value_.self_, object);
            }
        }
        return made::implements::QueryInterface(iid, object);
    }

private:
    Object value_;
};

// The base of an object that implements these interfaces with values. The object must support
// concurrent calls.
template <class First, class... Others>
class implementation : public obvia_values_of<First>::methods, public obvia_values_of<Others>::methods... {
public:
    using default_interface = First;
    template <class Object> using complete = made<Object, First, Others...>;

    implementation(const implementation &) = delete;
    implementation &operator=(const implementation &) = delete;

protected:
    implementation() noexcept = default;
    ~implementation() = default;
    // Returns the object's interface pointer: null in constructors.
    object<First> self() const noexcept { return object<First>(self_); }

private:
    template <class, class, class...> friend class made;
    First *self_ = nullptr;
};

template <class Made, class Raw> struct no_adapter : Raw {
    using obvia_raw = Raw;

protected:
    typename obvia_values_of<Raw>::methods &obvia_object() noexcept { return static_cast<Made *>(this)->value(); }
};

// ---- The runtime of NAME_values.hpp ----

// A zero-terminated copy of a text for a method; null if there is no text.
template <class C> class ended_text {
public:
    ended_text(std::optional<std::basic_string_view<C>> text) : is_given_(text)
    {
        if (text) {
            if (text->find(C()) != text->npos) {
                fail(E_INVALIDARG, "a string contains a zero, which would end it");
            }
            copy_ = *text;
        }
    }
    const C *get() const noexcept { return is_given_ ? copy_.c_str() : nullptr; }

private:
    std::basic_string<C> copy_;
    bool is_given_;
};

// Returns a view of a text that may be null.
template <class C> std::optional<std::basic_string_view<C>> optional_view(const C *text)
{
    return text ? std::optional<std::basic_string_view<C>>(text) : std::nullopt;
}

// Returns a text that a method has returned; empty for null.
template <class C> std::basic_string<C> text_of(const memory<C> &text)
{
    return text ? std::basic_string<C>(text.get()) : std::basic_string<C>();
}

// Converts a text to memory of its own, which a method can return. Fails without memory.
template <class C> memory<C> memory_of(const std::basic_string<C> &text)
{
    memory<C> made;
    *made.in_out() = copy_text<C>(text);
    if (!made) {
        fail(E_OUTOFMEMORY, "no memory is left for a string");
    }
    return made;
}

// Fails if an array does not have the required length.
inline void check_length(std::size_t size, uint64_t count)
{
    if (size != count) {
        fail(E_INVALIDARG, "an array's length does not match the other parameters");
    }
}
// Fails if an array has neither the required length nor length 0.
inline void check_length_or_none(std::size_t size, uint64_t count)
{
    if (size != 0) {
        check_length(size, count);
    }
}

// Returns the elements of a method's array as the type that the object's method takes. Returns an
// empty span if the array is null.
template <class Seen, class T, class Count> span<Seen> elements(T *first, Count count)
{
    static_assert(sizeof(Seen) == sizeof(T), "both types have the same layout");
    if (!first) {
        return span<Seen>();
    }
    if (static_cast<uint64_t>(count) > PTRDIFF_MAX / sizeof(T)) {
        fail(E_INVALIDARG, "the array has more elements than memory can hold");
    }
    return span<Seen>(reinterpret_cast<Seen *>(first), static_cast<std::size_t>(count));
}
// The former elements of an array that a method fills with new elements. The former elements are
// freed after the call, because they can include the called object and objects that are arguments.
template <class Seen> class former {
public:
    explicit former(span<Seen> elements)
    {
        elements_.reserve(elements.size());
        for (Seen &one : elements) {
            elements_.push_back(std::move(one));
        }
    }

private:
    std::vector<Seen> elements_;
};

// The elements of a result's array: zeroed first, and freed if the method fails.
template <class Seen> class room {
public:
    template <class T, class Count> room(T *first, Count count) : elements_(elements<Seen>(first, count))
    {
        if (!elements_.empty()) {
            std::memset(static_cast<void *>(first), 0, elements_.size() * sizeof(T));
        }
    }
    ~room()
    {
        if (std::uncaught_exceptions() > exceptions_) {
            for (Seen &one : elements_) {
                one.reset();
            }
        }
    }
    room(const room &) = delete;
    room &operator=(const room &) = delete;
    operator span<Seen>() const noexcept { return elements_; }

private:
    span<Seen> elements_;
    int exceptions_ = std::uncaught_exceptions();
};

// Returns elements in the form of the method's parameter.
template <class T, class Seen> T *raw(const span<Seen> &elements) noexcept
{
    static_assert(sizeof(Seen) == sizeof(T), "both types have the same layout");
    return reinterpret_cast<T *>(const_cast<std::remove_const_t<Seen> *>(elements.data()));
}

// Queries an object for the interface that an IID parameter names. The result points to that
// interface, although its type is com_ptr<IUnknown>.
inline com_ptr<IUnknown> asked(const com_ptr<IUnknown> &object, const IID &iid)
{
    com_ptr<IUnknown> found;
    const HRESULT result = object ? object->QueryInterface(iid, found.put_void()) : S_OK;
    if (result < 0) {
        found.detach();
        fail(error(result));
    }
    return found;
}

// Returns the content of a method's place as the owning type, whose destructor frees the content.
template <class Owner, class T> Owner &in_place(T *place) noexcept
{
    static_assert(sizeof(Owner) == sizeof(T) && std::is_standard_layout<Owner>::value, "the owner has the layout of its structure");
    return *reinterpret_cast<Owner *>(place);
}

} // namespace obvia

#endif
