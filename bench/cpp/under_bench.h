// The runtime of the programs that `obvia bench` starts: processor, waiting policy, lifetime, and
// requests.
//
// The last arguments of a program are `WAIT --cpu CPU --parent PID`. Once the program is ready, it
// prints a line on standard output. The standard input of a client is a socket. The client reads
// requests from it, and answers each request with a line on the same socket:
//
//     batch CALLS       nanoseconds that the calls took, one after the other
//     stamped CALLS     nanoseconds of each call
//     verify            "right" if all results since the last verification are right
//
// A program that fails answers with `failed: ` and the reason, and ends.
#pragma once

#include <obvia.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sched.h>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>

namespace under_bench {

// Throws if `found` is not the expected value.
template <class Number> void expect(const char *what, Number expected, Number found)
{
    if (expected != found) {
        throw std::runtime_error(std::string(what) + ": expected " + std::to_string(expected) + ", found " + std::to_string(found));
    }
}

// Returns the number given for an option. Throws if the option is missing.
inline int option(int argc, char **argv, const char *name)
{
    for (int at = 1; at + 1 < argc; at++) {
        if (!std::strcmp(argv[at], name)) {
            return std::atoi(argv[at + 1]);
        }
    }
    throw std::runtime_error(std::string(name) + " is missing");
}

// Sets this process up according to its arguments.
inline void set_up(int argc, char **argv, const std::string &wait)
{
    // The process must not outlive the bench.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != option(argc, argv, "--parent")) {
        throw std::runtime_error("obvia bench has ended");
    }
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(static_cast<std::size_t>(option(argc, argv, "--cpu")), &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus)) {
        throw std::runtime_error("the processor is not to be had");
    }
    if (wait != "poll" && wait != "adaptive" && wait != "block") {
        throw std::runtime_error("there is no waiting policy " + wait);
    }
    obvia_set_waiting(wait == "poll" ? OBVIA_POLL : wait == "block" ? OBVIA_BLOCK : OBVIA_ADAPTIVE);
    // The limit of a call in milliseconds: a second less than the time for which the bench waits
    // for an answer.
    obvia_set_timeout(9'000);
}

inline void say_ready()
{
    std::puts("ready");
    std::fflush(stdout);
}

inline void answer(const std::string &text)
{
    const std::string line = text + "\n";
    for (std::size_t done = 0; done < line.size();) {
        const ssize_t count = write(STDIN_FILENO, line.data() + done, line.size() - done);
        if (count <= 0) {
            throw std::runtime_error("obvia bench no longer listens");
        }
        done += static_cast<std::size_t>(count);
    }
}

using Clock = std::chrono::steady_clock;

inline int64_t nanoseconds(Clock::duration time)
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

// Makes calls and answers requests until the bench sends no more. A `Case` has a method `call()`,
// and a method `verify()`, which checks the results of a number of calls.
template <class Case> void converse(Case &measured)
{
    uint32_t unverified = 0;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream question(line);
        std::string what;
        uint32_t calls = 0;
        question >> what >> calls;
        if (what == "batch") {
            const Clock::time_point before = Clock::now();
            for (uint32_t call = 0; call < calls; call++) {
                measured.call();
            }
            const Clock::time_point after = Clock::now();
            answer(std::to_string(nanoseconds(after - before)));
        } else if (what == "stamped") {
            std::string times;
            for (uint32_t call = 0; call < calls; call++) {
                const Clock::time_point before = Clock::now();
                measured.call();
                times += std::to_string(nanoseconds(Clock::now() - before)) + " ";
            }
            answer(times);
        } else if (what == "verify") {
            measured.verify(unverified);
            unverified = 0;
            answer("right");
        } else {
            throw std::runtime_error("a question that is none: " + line);
        }
        unverified += calls;
    }
}

// Calls `converse`, and reports its failures to the bench.
template <class Case> int run(Case &measured)
{
    say_ready();
    try {
        converse(measured);
    } catch (const std::exception &failure) {
        answer(std::string("failed: ") + failure.what());
        return 1;
    }
    return 0;
}

} // namespace under_bench
