// A server whose loop receives calls on one thread and performs them on another:
//
//     program serve      exports an object until the standard input ends
//     program careless   like `serve`, but its worker does not enter the connections of the calls
//     program call       calls the object once, and then once for each line of its input; prints
//                        "ok" after each call
#include "loop.h"

#include <obvia.hpp>
#include <obvia_server.h>

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include <unistd.h>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

namespace {

[[noreturn]] void fail(const char *what, int line)
{
    std::fprintf(stderr, "loop.cc:%d: %s\n", line, what);
    std::_Exit(1);
}

class Whose final : public obvia::implements<Whose, IWhose> {
public:
    HRESULT Caller(uint32_t *process) override
    {
        return obvia::guard([&] {
            CHECK(!obvia_is_cancelled());
            *process = obvia::get_caller().process;
        });
    }
    HRESULT Another(IWhose **other) override
    {
        *other = obvia::make<Whose>().detach();
        return S_OK;
    }
};

// A received call, and its answer once a worker has performed it.
struct Job {
    obvia_connection *connection;
    obvia_call *call;
    obvia_answer answer;
    bool is_done;
};

// The thread that performs the calls of all connections.
class Worker {
public:
    explicit Worker(bool is_careless) : is_careless_(is_careless) {}

    obvia_answer perform(obvia_connection *connection, obvia_call *call)
    {
        Job job = {connection, call, OBVIA_NO_ANSWER, false};
        std::unique_lock<std::mutex> lock(mutex_);
        jobs_.push_back(&job);
        changed_.notify_all();
        changed_.wait(lock, [&] { return job.is_done; });
        return job.answer;
    }

    [[noreturn]] void run()
    {
        for (;;) {
            std::unique_lock<std::mutex> lock(mutex_);
            changed_.wait(lock, [&] { return !jobs_.empty(); });
            Job *const job = jobs_.front();
            jobs_.pop_front();
            lock.unlock();
            if (!is_careless_) {
                obvia_enter(job->connection);
            }
            job->answer = obvia_dispatch(job->connection, job->call);
            lock.lock();
            job->is_done = true;
            changed_.notify_all();
        }
    }

private:
    const bool is_careless_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job *> jobs_;
};

extern "C" void serve_by_worker(obvia_connection *connection, void *context)
{
    Worker &worker = *static_cast<Worker *>(context);
    const uint32_t own = static_cast<uint32_t>(getpid());
    obvia_call *call = obvia_reply_and_wait(connection, OBVIA_NO_ANSWER);
    while (call) {
        // On the receiving thread, the caller is known before the dispatch.
        CHECK(obvia::get_caller().process != own);
        call = obvia_reply_and_wait(connection, worker.perform(connection, call));
    }
    obvia_close(connection);
    CHECK(obvia::get_caller().process == own && !obvia_is_cancelled());
}

void serve(bool is_careless)
{
    Worker &worker = *new Worker(is_careless);
    std::thread([&] { worker.run(); }).detach();
    obvia_set_server_loop(serve_by_worker, &worker);
    const obvia::served entry = obvia::serve("whose", obvia::make<Whose>());
    std::puts("ready");
    std::fflush(stdout);
    std::getchar();
}

void is_the_caller(const obvia::com_ptr<IWhose> &whose)
{
    uint32_t process = 0;
    obvia::check(whose->Caller(&process));
    CHECK(process == static_cast<uint32_t>(getpid()));
}

void call()
{
    char line[8];
    const obvia::com_ptr<IWhose> whose = obvia::connect<IWhose>("whose");
    do {
        is_the_caller(whose);
        obvia::com_ptr<IWhose> other;
        obvia::check(whose->Another(other.put()));
        is_the_caller(other);
        std::puts("ok");
        std::fflush(stdout);
    } while (std::fgets(line, sizeof line, stdin));
}

} // namespace

int main(int count, char **words)
try {
    CHECK(count == 2);
    const std::string word = words[1];
    word == "call" ? call() : serve(word == "careless");
    return 0;
} catch (const std::exception &failure) {
    std::fprintf(stderr, "loop.cc: %s\n", failure.what());
    return 1;
}
