// Client and server of `obvia bench call_lat` in C++.
//
// `obvia-bench-cpp serve NAME ...` exports the object; `obvia-bench-cpp call NAME METHOD BYTES ...`
// calls it on request, and checks every result: see under_bench.h.
#include "called.h"
#include "server_loop.h"
#include "shared_words.h"
#include "under_bench.h"

#include <vector>

namespace {

using under_bench::expect;

class Null {
public:
    explicit Null(const obvia::com_ptr<IBench> &object) : object_(object) {}

    void call() { obvia::check(object_->Null()); }

    void verify(uint32_t calls)
    {
        const int64_t expected = seen_ + calls;
        obvia::check(object_->Calls(&seen_));
        expect("the count of calls", expected, seen_);
    }

private:
    obvia::com_ptr<IBench> object_;
    int64_t seen_ = 0;
};

// The method Visit: like Null, with an object of this process as the argument.
class Visit {
public:
    explicit Visit(const obvia::com_ptr<IBench> &object) : object_(object), visitor_(make_called()) {}

    void call() { obvia::check(object_->Visit(visitor_.get())); }

    void verify(uint32_t calls)
    {
        const int64_t expected = seen_ + calls;
        obvia::check(object_->Calls(&seen_));
        expect("the count of calls", expected, seen_);
    }

private:
    obvia::com_ptr<IBench> object_;
    obvia::com_ptr<IBench> visitor_;
    int64_t seen_ = 0;
};

class PfsOpen {
public:
    explicit PfsOpen(const obvia::com_ptr<IBench> &object) : object_(object) {}

    void call()
    {
        int32_t handle = 0;
        handles_ = (handles_ + 1) & INT16_MAX;
        obvia::check(object_->pfs_open(1, handles_, 3, 4, &handle));
        expect("the handle", handles_ + 8, handle);
    }

    void verify(uint32_t) {}

private:
    obvia::com_ptr<IBench> object_;
    int32_t handles_ = 0;
};

// Words for a method that increments the first word and returns the others unchanged.
class Payload {
public:
    Payload(uint32_t *words, std::size_t count) : words_(words), count_(count) { refill(); }

    uint32_t *data() const { return words_; }
    uint32_t size() const { return static_cast<uint32_t>(count_); }

    void verify(uint32_t calls)
    {
        for (std::size_t at = 0; at < count_; at++) {
            expect("a word of the array", pattern(at) + (at ? 0 : calls), words_[at]);
        }
        refill();
    }

private:
    // Writes new values, so that a result with any stale word is detected.
    void refill()
    {
        seed_++;
        for (std::size_t at = 0; at < count_; at++) {
            words_[at] = pattern(at);
        }
    }

    uint32_t pattern(std::size_t at) const { return (static_cast<uint32_t>(at) ^ seed_ * 0x9e3779b9U) * 0x85ebca6bU; }

    uint32_t *words_;
    std::size_t count_;
    uint32_t seed_ = 0;
};

class MoveData {
public:
    MoveData(const obvia::com_ptr<IBench> &object, std::size_t bytes)
        : object_(object), lines_(bytes / sizeof(Line) + 1), payload_(lines_[0].words, bytes / 4)
    {
    }

    void call() { obvia::check(object_->MoveData(payload_.size(), payload_.data())); }

    void verify(uint32_t calls) { payload_.verify(calls); }

private:
    // A cache line of the processor.
    struct alignas(64) Line {
        uint32_t words[16];
    };

    obvia::com_ptr<IBench> object_;
    std::vector<Line> lines_;
    Payload payload_;
};

class MoveShared {
public:
    MoveShared(const obvia::com_ptr<IBench> &object, std::size_t bytes)
        : object_(object), shared_(bytes / 4), payload_(shared_.data(), shared_.size())
    {
    }

    void call() { obvia::check(object_->MoveShared(payload_.size(), payload_.data())); }

    void verify(uint32_t calls) { payload_.verify(calls); }

private:
    obvia::com_ptr<IBench> object_;
    shared_words<uint32_t> shared_;
    Payload payload_;
};

template <class Case, class... More> int run(const obvia::com_ptr<IBench> &object, More... more)
{
    Case measured(object, more...);
    // The first call sets up the connection, and is not measured.
    measured.call();
    measured.verify(1);
    return under_bench::run(measured);
}

int call(const char *name, const std::string &method, std::size_t bytes)
{
    const auto object = obvia::connect<IBench>(name);
    if (method == "null") {
        return run<Null>(object);
    }
    if (method == "pfs_open") {
        return run<PfsOpen>(object);
    }
    if (method == "visit") {
        return run<Visit>(object);
    }
    if (method == "MoveData") {
        return run<MoveData>(object, bytes);
    }
    if (method == "MoveShared") {
        return run<MoveShared>(object, bytes);
    }
    throw std::runtime_error("there is no method " + method);
}

int serve(const char *name)
{
    obvia_set_server_loop(serve_connection, nullptr);
    const obvia::served entry = obvia::serve(name, make_called());
    under_bench::say_ready();
    obvia_wait();
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    const std::string task = argc > 1 ? argv[1] : "";
    try {
        if (task == "serve" && argc > 3) {
            under_bench::set_up(argc, argv, argv[3]);
            return serve(argv[2]);
        }
        if (task == "call" && argc > 5) {
            under_bench::set_up(argc, argv, argv[5]);
            return call(argv[2], argv[3], std::strtoul(argv[4], nullptr, 10));
        }
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "obvia-bench-cpp: %s\n", failure.what());
        return 1;
    }
    std::fprintf(stderr, "usage, by obvia bench: obvia-bench-cpp serve NAME | call NAME METHOD BYTES, WAIT --cpu CPU --parent PID\n");
    return 2;
}
