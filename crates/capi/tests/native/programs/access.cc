// Access rules. `access serve` exports two objects, and executes commands from its standard input;
// `access call` calls the objects until the server denies access, and prints "ok".
#include "access.h"

#include <obvia.hpp>

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void fail(const char *what, int line)
{
    std::fprintf(stderr, "access.cc:%d: %s\n", line, what);
    std::exit(1);
}

namespace {

std::atomic<int> calls{0};

class Counted final : public obvia::implements<Counted, ICounted> {
public:
    HRESULT Call() override
    {
        ++calls;
        return S_OK;
    }
};

void say(const char *line)
{
    std::puts(line);
    std::fflush(stdout);
}

// A token that counts the existing tokens, and thus the copies of the rule that contains a token.
struct Token {
    explicit Token(std::atomic<int> &count) : count_(count) { ++count_; }
    Token(const Token &other) : count_(other.count_) { ++count_; }
    ~Token() { --count_; }
    std::atomic<int> &count_;
};

void rules_are_given_back()
{
    static std::atomic<int> kept{0};
    const obvia::com_ptr<ICounted> object = obvia::make<Counted>();
    obvia::set_access(object.get(), [token = Token(kept)](const obvia::caller &) { return true; });
    CHECK(kept == 1);
    obvia::set_access(object.get(), [token = Token(kept)](const obvia::caller &) { return false; });
    CHECK(kept == 1);
    // The rule does not apply to calls within this process.
    CHECK(object->Call() == S_OK && calls == 1);
    obvia::clear_access(object.get());
    CHECK(kept == 0);
    try {
        obvia::set_access(nullptr, [token = Token(kept)](const obvia::caller &) { return true; });
        CHECK(!"nothing has a rule");
    } catch (const obvia::error &error) {
        CHECK(error.code() == E_POINTER);
    }
    CHECK(kept == 0);
    const obvia_callers nothing = {nullptr, nullptr, nullptr};
    CHECK(obvia_set_access(object.get(), &nothing) == E_POINTER && obvia_set_access(nullptr, nullptr) == E_POINTER);
    CHECK(obvia_set_default_access(nullptr) == E_POINTER && obvia_set_audit(nullptr, nullptr, nullptr) == E_POINTER);
    // Without a default rule, this call would give every user access, so it fails.
    CHECK(obvia_admit_other_users() == E_INVALIDARG);
}

// The release of an audit function's context may set another audit function.
void released_audit_functions_may_set_others()
{
    static int released = 0;
    const auto audit = [](void *, const char *) {};
    const auto release = [](void *) {
        released++;
        CHECK(obvia_set_audit([](void *, const char *) {}, nullptr, nullptr) == S_OK);
    };
    CHECK(obvia_set_audit(audit, &released, release) == S_OK && released == 0);
    CHECK(obvia_set_audit(audit, nullptr, nullptr) == S_OK && released == 1);
}

int serve()
{
    rules_are_given_back();
    released_audit_functions_may_set_others();
    obvia::set_audit([](const char *line) { say(std::strstr(line, "refused")); });
    const obvia::com_ptr<ICounted> front = obvia::make<Counted>(), back = obvia::make<Counted>();
    const uint32_t own = geteuid();
    obvia::set_default_access([own](const obvia::caller &caller) { return caller.uid == own && caller.process != 0; });
    const obvia::served one = obvia::serve("front", front), other = obvia::serve("back", back);
    say("serving");
    for (int order; (order = std::getchar()) != EOF;)
        if (order == 'c') {
            obvia::set_access(front.get(), [](const obvia::caller &caller) { return caller.process == 1; });
            obvia::set_access(back.get(), [](const obvia::caller &) -> bool { throw 1; });
            say("closed");
        } else if (order == 'n') {
            say(std::to_string(calls).c_str());
        }
    return 0;
}

int call()
{
    const obvia::com_ptr<ICounted> front = obvia::connect<ICounted>("front"), back = obvia::connect<ICounted>("back");
    CHECK(front->Call() == S_OK && back->Call() == S_OK);
    say("called");
    std::getchar();
    CHECK(front->Call() == E_ACCESSDENIED && back->Call() == E_ACCESSDENIED);
    obvia::com_ptr<ICounted> again;
    CHECK(obvia::try_connect("front", again) == E_ACCESSDENIED && obvia::try_connect("back", again) == E_ACCESSDENIED);
    say("ok");
    std::getchar();
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    return std::strcmp(argv[1], "serve") ? call() : serve();
}
