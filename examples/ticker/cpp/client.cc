// A client that prints some price changes of a ticker.
#include "ticker_values.hpp"

#include <obvia_events.hpp>

#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>

namespace {

// The number of printed prices.
class Count {
public:
    void add()
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        count_++;
        changed_.notify_all();
    }
    bool becomes(int wanted, std::chrono::seconds limit)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        return changed_.wait_for(lock, limit, [&] { return count_ >= wanted; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int count_ = 0;
};

class Printer : public obvia::implementation<IPriceEvents> {
public:
    explicit Printer(std::shared_ptr<Count> printed) : printed_(std::move(printed)) {}

    void Changed(std::u16string_view name, double price) override
    {
        std::cout << std::string(name.begin(), name.end()) << ": " << price << std::endl;
        printed_->add();
    }

private:
    const std::shared_ptr<Count> printed_;
};

} // namespace

int main(int count, char **words)
{
    try {
        const obvia::object<ITicker> ticker = obvia::connect<ITicker>(count > 1 ? words[1] : "ticker");
        const auto printed = std::make_shared<Count>();
        obvia::connection connection = obvia::advise(ticker, obvia::make<Printer>(printed));
        if (!printed->becomes(5, std::chrono::seconds(10))) {
            throw obvia::error(RPC_E_TIMEOUT, "no price changes");
        }
        connection.unadvise();
        std::cout << "now it is " << ticker.Price(u"VIA") << std::endl;
    } catch (const obvia::error &error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
