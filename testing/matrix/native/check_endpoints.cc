// Checks of endpoints in C++ and C: listening at an interface's endpoints, registration with the
// mapper, and look-up.
#include "check.h"
#include "functions.hpp"

void check_endpoints(const char *mapper)
{
    const obvia::serving echo = obvia::serve_interface<rpcecho>(obvia::make<Echo>());
    obvia::registration registration;
    CHECK(obvia::try_register_endpoints("matrix", registration) == RPC_S_NO_BINDINGS && !registration);
    CHECK(obvia_register_endpoints(nullptr, nullptr, nullptr) == E_POINTER);
    obvia_unregister_endpoints(nullptr);

    // The bindings use ncacn_ip_tcp and ncalrpc. The named pipe of the interface's attribute is
    // skipped.
    const std::string bound = obvia::listen_for<rpcecho>();
    const size_t second = bound.find("\nncalrpc:[");
    CHECK(bound.rfind("ncacn_ip_tcp:", 0) == 0 && second != std::string::npos && bound.find('\n', second + 1) == std::string::npos);
    CHECK(obvia_listen_for(nullptr, nullptr) == E_POINTER);

    CHECK(obvia::try_register_endpoints("matrix", registration, "ncalrpc:[nobody-is-there]") == RPC_S_SERVER_UNAVAILABLE);
    registration = obvia::register_endpoints("matrix");
    const std::string somewhere = std::string("ncacn_ip_tcp:127.0.0.1") + mapper;
    uint32_t one_more = 0;
    obvia::check(obvia::bind<rpcecho>(somewhere)->AddOne(41, &one_more));
    CHECK(one_more == 42);
    registration.reset();
    obvia::com_ptr<rpcecho> nobody;
    CHECK(obvia::try_bind(somewhere, nobody) == EPT_S_NOT_REGISTERED && !nobody);
    // Listening for an interface fails if the interface has no endpoint for these protocol
    // sequences.
    char *none = nullptr;
    CHECK(obvia_listen_for(obvia::info_of<IPeer>(), &none) == E_INVALIDARG && !none);
}
