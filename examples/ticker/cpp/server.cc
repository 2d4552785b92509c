// Serves a ticker under the name in the first argument, or `ticker`.
#include "ticker_values.hpp"

#include <obvia_events.hpp>

#include <chrono>
#include <cmath>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

namespace {

// A ticker, which stores prices and notifies the subscribers of changes.
class Ticker : public obvia::implementation<ITicker, obvia::connection_points<IPriceEvents>> {
public:
    double Price(std::u16string_view name) override
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = prices_.find(std::u16string(name));
        return found != prices_.end() ? found->second : throw obvia::error(E_INVALIDARG, "nobody trades that");
    }

    void Trade(std::u16string_view given, double price) override
    {
        if (!std::isfinite(price) || price <= 0) {
            throw obvia::error(E_INVALIDARG, "that is no price");
        }
        const std::u16string name(given);
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            prices_[name] = price;
        }
        // Notifications are posted, so that trades do not wait for subscribers.
        post<IPriceEvents>([name, price](const obvia::object<IPriceEvents> &sink) { sink.Changed(name, price); });
    }

private:
    std::mutex mutex_;
    std::map<std::u16string, double> prices_;
};

} // namespace

int main(int count, char **words)
{
    const std::string name = count > 1 ? words[1] : "ticker";
    try {
        const obvia::object<ITicker> ticker = obvia::make<Ticker>();
        const obvia::served entry = obvia::serve<ITicker>(name, ticker);
        std::cout << "serving " << name << std::endl;
        // The price of the only share is a sine.
        for (uint32_t turn = 0;; turn++) {
            ticker.Trade(u"VIA", 100 + 10 * std::sin(turn / 10.0));
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
    } catch (const obvia::error &error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
