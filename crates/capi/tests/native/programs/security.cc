// Authenticated calls. `security serve` exports an object over TCP to accounts, and prints its
// binding; `security call BINDING` calls it, and prints "ok".
#include "security.h"

#include <obvia.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define CHECK(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void fail(const char *what, int line)
{
    std::fprintf(stderr, "security.cc:%d: %s\n", line, what);
    std::exit(1);
}

namespace {

class Witness final : public obvia::implements<Witness, IWitness> {
public:
    HRESULT Who(char **text) override
    {
        return obvia::guard([&] {
            const obvia::caller caller = obvia::get_caller();
            CHECK(caller.host.empty() == (caller.process != 0) && caller.host.empty() == (caller.uid != OBVIA_NOBODY));
            const std::string said = std::to_string(caller.level) + " " + caller.domain + "/" + caller.user + " " + caller.host;
            *text = static_cast<char *>(obvia_alloc(said.size() + 1));
            std::memcpy(*text, said.c_str(), said.size() + 1);
        });
    }
};

std::string who(IWitness *witness)
{
    char *text = nullptr;
    obvia::check(witness->Who(&text));
    const std::string said = text;
    obvia_free(text);
    return said;
}

void is_called_by(IWitness *witness, const std::string &caller, int line)
{
    const std::string said = who(witness);
    if (said != caller)
        fail(("the caller is \"" + said + "\" and not \"" + caller + "\"").c_str(), line);
}

HRESULT connected(const std::string &binding)
{
    obvia::com_ptr<IWitness> witness;
    return obvia::try_connect(binding, witness);
}

void those_with_accounts_are_let_in(const std::string &binding)
{
    CHECK(connected(binding) == E_ACCESSDENIED);
    CHECK(std::strstr(obvia_error_text(E_ACCESSDENIED), "credentials"));
    obvia::set_credentials("guest", "wrong");
    CHECK(connected(binding) == E_ACCESSDENIED);
    obvia::set_credentials("guest", "open sesame", "HERE");
    is_called_by(obvia::connect<IWitness>(binding).get(), "5 /Guest 127.0.0.1", __LINE__);
    std::string better = binding;
    better.replace(better.find("integrity"), std::strlen("integrity"), "privacy");
    const obvia::com_ptr<IWitness> witness = obvia::connect<IWitness>(better);
    CHECK(obvia_set_credentials(nullptr, "another", "") == S_OK);
    // The existing connection is not affected by the wrong credentials, and a new connection is
    // refused.
    is_called_by(witness.get(), "6 /Guest 127.0.0.1", __LINE__);
    CHECK(connected(better) == E_ACCESSDENIED);
}

void what_makes_no_sense_is_refused()
{
    CHECK(obvia_set_credentials("", nullptr, "") == E_POINTER && obvia_set_credentials("", "", nullptr) == E_POINTER);
    const obvia_account half = {"user", nullptr};
    CHECK(obvia_set_accounts(&half, 1) == E_POINTER && obvia_set_accounts(nullptr, 1) == E_POINTER);
    CHECK(obvia_get_caller(nullptr) == E_POINTER);
    obvia_clear_caller(nullptr);
    CHECK(obvia_listen("ncacn_ip_tcp:127.0.0.1[,security=connect]", nullptr) == E_INVALIDARG);
    char none = 0, *bound = &none;
    CHECK(obvia_listen("nonsense", &bound) < 0 && !bound);
    bound = &none;
    CHECK(obvia_listen_for(&IWitness_INFO, &bound) < 0 && !bound);
    is_called_by(obvia::make<Witness>().get(), "1 / ", __LINE__);
}

} // namespace

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    if (!std::strcmp(argv[1], "serve")) {
        obvia::set_accounts({{"Guest", "open sesame"}, {"another", ""}});
        const obvia::served entry = obvia::serve("witness", obvia::make<Witness>());
        std::puts(obvia::listen("ncacn_ip_tcp:127.0.0.1[,security=integrity]").c_str());
        std::fflush(stdout);
        std::getchar();
        return 0;
    }
    CHECK(argc == 3);
    what_makes_no_sense_is_refused();
    those_with_accounts_are_let_in(argv[2]);
    std::puts("ok");
    return 0;
}
