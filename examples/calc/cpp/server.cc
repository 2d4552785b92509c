// Exports a calculator under the name in the first argument, or "calc".
#include "calc_values.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <iostream>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

// The printed entries and the watcher, shared by a tape and its calculator.
class Paper {
public:
    void print(const Entry &entry)
    {
        const obvia::object<ITapeEvents> watcher = watched([&] { entries_.push_back(entry); });
        if (watcher) {
            watcher.Hint(entry.operation);
            watcher.Printed(entry);
        }
    }

    std::vector<Entry> entries()
    {
        const std::lock_guard<std::mutex> guard(lock_);
        return entries_;
    }

    void watch(const obvia::object<ITapeEvents> &watcher)
    {
        watched([&] { watcher_ = watcher; });
    }

    obvia::object<ITapeEvents> watcher()
    {
        return watched([] {});
    }

private:
    // Runs `work` under the lock, and returns the watcher, so that the watcher is called without
    // the lock.
    template <class Work> obvia::object<ITapeEvents> watched(Work work)
    {
        const std::lock_guard<std::mutex> guard(lock_);
        work();
        return watcher_;
    }

    std::mutex lock_;
    std::vector<Entry> entries_;
    obvia::object<ITapeEvents> watcher_;
};

class Tape final : public obvia::implementation<ITape> {
public:
    explicit Tape(std::shared_ptr<Paper> paper) : paper_(std::move(paper)) {}

    uint32_t Length() override { return static_cast<uint32_t>(paper_->entries().size()); }

    uint32_t Read(uint32_t first, obvia::span<Entry> entries) override
    {
        const std::vector<Entry> all = paper_->entries();
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(first, all.size()));
        const std::size_t count = std::min(static_cast<std::size_t>(all.end() - from), entries.size());
        std::copy_n(from, count, entries.begin());
        return static_cast<uint32_t>(count);
    }

    obvia::array<Entry> All() override { return obvia::array<Entry>::copy(paper_->entries()); }
    void Watch(const obvia::object<ITapeEvents> &events) override { paper_->watch(events); }

    obvia::object<ITapeEvents> Watcher() override
    {
        obvia::object<ITapeEvents> watcher = paper_->watcher();
        return watcher ? watcher : throw obvia::error(E_POINTER, "nobody watches the tape");
    }

private:
    std::shared_ptr<Paper> paper_;
};

class Calc final : public obvia::implementation<ICalc2> {
public:
    void Nothing() override {}

    int32_t Add(int32_t a, int32_t b) override
    {
        calls_++;
        int32_t sum = 0;
        return __builtin_add_overflow(a, b, &sum) ? throw obvia::error(E_INVALIDARG, "the sum is too large") : sum;
    }

    double Compute(Operation operation, double left, double right) override
    {
        const double result = operation == ADD        ? left + right
                              : operation == SUBTRACT ? left - right
                              : operation == MULTIPLY ? left * right
                                                      : left / right;
        paper_->print({operation, left, right, result, result > 100});
        return result;
    }

    int64_t Sum(obvia::span<const int32_t> values) override { return std::accumulate(values.begin(), values.end(), int64_t(0)); }

    void Scale(double by, obvia::span<double> values) override
    {
        for (double &value : values) {
            value *= by;
        }
    }

    std::u16string Name(std::u16string_view language) override
    {
        return language == u"de" ? u"Taschenrechner \U0001f9ee" : u"calculator";
    }

    ICalc_Shout_results Shout(std::optional<std::string_view> text) override
    {
        std::string loud(text.value_or(""));
        std::transform(loud.begin(), loud.end(), loud.begin(), [](unsigned char one) { return static_cast<char>(std::toupper(one)); });
        const auto letters = static_cast<int32_t>(loud.size());
        return {std::move(loud), letters};
    }

    obvia::object<ITape> Tape() override { return tape_; }

    obvia::object<IUnknown> Ask(const GUID &iid) override
    {
        return obvia_is_equal(&iid, &IID_ITape) ? tape_ : throw obvia::error(E_NOINTERFACE, "there is a tape, and nothing else");
    }

    double Percent(int32_t percent, const Entry *of) override { return of ? of->result * percent / 100 : 0; }
    void Crash() override { throw std::runtime_error("this method is there to show that an exception costs only its call"); }

    int64_t Grid(int32_t, int32_t, obvia::span<const int16_t> cells) override
    {
        return std::accumulate(cells.begin(), cells.end(), int64_t(0));
    }

    void Wait(int32_t milliseconds) override
    {
        for (int32_t at = 0; at < milliseconds; at++) {
            if (obvia_is_cancelled()) {
                throw obvia::error(RPC_E_CALL_CANCELED);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    bool Calls(int64_t &calls) override
    {
        calls += calls_;
        return calls > 10;
    }

private:
    std::atomic<int64_t> calls_{0};
    const std::shared_ptr<Paper> paper_ = std::make_shared<Paper>();
    const obvia::object<ITape> tape_ = obvia::make<::Tape>(paper_);
};

} // namespace

int main(int count, char **words)
{
    const std::string name = count > 1 ? words[1] : "calc";
    try {
        const obvia::served entry = obvia::serve(name, obvia::make<Calc>());
        std::cout << "serving " << name << std::endl;
        obvia::wait();
    } catch (const obvia::error &error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
