// A client of the calculator that another process exports.
#include "calc_values.hpp"

#include <atomic>
#include <iostream>
#include <vector>

namespace {

// Throws unless the condition holds.
void expect(bool condition, const char *what)
{
    if (!condition) {
        throw obvia::error(E_UNEXPECTED, what);
    }
}

// Returns the message of a call's error. Throws if the call succeeds.
template <class Call> std::string failure(Call call)
{
    try {
        call();
    } catch (const obvia::error &error) {
        return error.what();
    }
    throw obvia::error(E_UNEXPECTED, "a call succeeded that was to fail");
}

std::ostream &operator<<(std::ostream &out, const Entry &entry)
{
    const char signs[] = "?+-*/";
    return out << entry.left << ' ' << signs[entry.operation] << ' ' << entry.right << " = " << entry.result
               << (entry.marked ? " (!)" : "");
}

class Printer final : public obvia::implementation<ITapeEvents> {
public:
    explicit Printer(std::atomic<int> &printed) : printed_(printed) {}

    void Printed(const Entry &entry) override
    {
        std::cout << "  printed: " << entry << std::endl;
        printed_++;
    }
    void Hint(int32_t code) override { std::cout << "  hint: " << code << std::endl; }

private:
    std::atomic<int> &printed_;
};

void calculate(const obvia::object<ICalc> &calc)
{
    calc.Nothing();
    std::cout << "2 + 3 = " << calc.Add(2, 3) << '\n';
    std::cout << "too much: " << failure([&] { calc.Add(INT32_MAX, 1); }) << '\n';
    const std::vector<int32_t> numbers = {1, 2, 3, INT32_MAX};
    std::cout << "sum = " << calc.Sum(numbers) << '\n';
    double values[] = {1, 2, 3};
    calc.Scale(1.5, values);
    std::cout << "scaled = " << values[0] << ", " << values[1] << ", " << values[2] << '\n';
    expect(calc.Name(u"en") == u"calculator" && calc.Name(u"de").size() == 17, "its name");
    const auto [loud, letters] = calc.Shout("quiet");
    std::cout << loud << ", " << letters << " letters\n";
    expect(calc.Shout(std::nullopt).loud.empty(), "nothing to shout");
    const int16_t cells[] = {1, 2, 3, 4, 5, 6};
    std::cout << "grid = " << calc.Grid(3, 2, cells) << '\n';
    std::cout << "wrong grid: " << failure([&] { calc.Grid(3, 3, cells); }) << '\n';
    std::cout << "it fails: " << failure([&] { calc.Crash(); }) << '\n';
}

void watch(const obvia::object<ICalc> &calc)
{
    std::atomic<int> printed{0};
    const obvia::object<ITape> tape = calc.Tape();
    const obvia::object<ITapeEvents> printer = obvia::make<Printer>(printed);
    tape.Watch(printer);
    const double product = calc.Compute(MULTIPLY, 6, 7);
    const double quotient = calc.Compute(DIVIDE, 600, 7);
    std::cout << "6 * 7 = " << product << ", 600 / 7 = " << quotient << '\n';
    expect(printed == 2, "two lines were printed");
    // The method returns the client's own object itself, not a proxy.
    expect(tape.Watcher() == printer, "the watcher is the printer");
    tape.Watch(nullptr);
    Entry some[8] = {};
    const uint32_t got = tape.Read(1, some);
    const obvia::array<Entry> all = tape.All();
    expect(got + 1 == all.size() && tape.Length() == all.size(), "the tape's length");
    std::cout << "the tape has " << all.size() << " entries, the second is " << some[0] << '\n';
    // An object has one identity, whichever call returned it.
    expect(calc.Ask(IID_ITape).as<ITape>() == tape, "the tape is the tape");
    std::cout << "50 % of it is " << calc.Percent(50, &all[1]) << '\n';
    std::cout << "101 %: " << failure([&] { calc.Percent(101, nullptr); }) << '\n';
}

void wait(const obvia::object<ICalc2> &calc)
{
    int64_t calls = 100;
    std::cout << (calc.Calls(calls) ? "many" : "few") << " calls: " << calls << '\n';
    {
        const obvia::timeout limit(std::chrono::milliseconds(50));
        std::cout << "slow: " << failure([&] { calc.Wait(2000); }) << '\n';
    }
    std::cout << "and on it goes: " << calc.Add(20, 22) << '\n';
}

} // namespace

int main(int count, char **words)
{
    try {
        const obvia::object<ICalc> calc = obvia::connect<ICalc>(count > 1 ? words[1] : "calc");
        calculate(calc);
        watch(calc);
        wait(calc.as<ICalc2>());
    } catch (const obvia::error &error) {
        std::cerr << error.what() << std::endl;
        return 1;
    }
}
