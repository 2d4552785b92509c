// Checks of interfaces of functions. The same checks run with the functions of this process, where
// the calls are plain C++ calls, and with the functions of other processes.
#include "check.h"
#include "functions.hpp"

namespace {

using obvia::check;

void numbers_and_arrays_are_returned(rpcecho *echo)
{
    uint32_t next = 0;
    check(echo->AddOne(41, &next));
    CHECK(next == 42);
    for (const uint32_t length : {0u, 1u, 100u, 70000u}) {
        std::vector<char> data(length, 'x'), back(length);
        check(echo->EchoData(length, data.data(), back.data()));
        CHECK(back == data);
        check(echo->SinkData(length, data.data()));
        check(echo->SourceData(length, back.data()));
        CHECK(length < 100 || back[99] == 99);
    }
    obvia::memory<obvia_wchar> text;
    check(echo->TestCall(u"input", text.put()));
    CHECK(narrow(text.get()) == "input");
}

void unions_and_structures_are_passed_in_both_directions(rpcecho *echo)
{
    Info info = {};
    uint32_t status = 1;
    check(echo->TestCall2(5, &info, &status));
    CHECK(info.info5.v1 == 50 && info.info5.v2 == 60 && status == 0);
    check(echo->TestCall2(6, &info, &status));
    CHECK(info.info6.v1 == 70 && info.info6.info1.v == 80);
    CHECK(echo->TestCall2(8, &info, &status) == E_INVALIDARG);
    Enum1 first = ECHO_ENUM2;
    Enum2 second = {ECHO_ENUM1, ECHO_ENUM1_32};
    Enum3 third = {};
    third.e2 = {ECHO_ENUM1, ECHO_ENUM2_32};
    check(echo->TestEnum(&first, &second, &third));
    CHECK(second.e1 == ECHO_ENUM2 && third.e2.e1 == ECHO_ENUM2 && third.e2.e2 == ECHO_ENUM2_32);
    obvia::memory<Surrounding> data;
    *data.put() = static_cast<Surrounding *>(obvia_alloc(sizeof(Surrounding) + 4));
    data.get()->x = 2;
    data.get()->surrounding[0] = 5;
    data.get()->surrounding[1] = 6;
    check(echo->TestSurrounding(data.in_out()));
    CHECK(data.get()->x == 4 && data.get()->surrounding[3] == 6);
    uint16_t number = 7, *pointer = &number, **outer = &pointer, found = 0;
    check(echo->TestDoublePointer(&outer, &found));
    CHECK(found == 7);
    pointer = nullptr;
    check(echo->TestDoublePointer(&outer, &found));
    CHECK(found == 0);
}

void context_handles_keep_their_state(Counters *counters)
{
    obvia_context counter = {}, other = {};
    uint32_t status = 0, alive = 0;
    int64_t next = 0;
    check(counters->Open(-1, &counter, &status));
    CHECK(status == 22 && obvia_is_equal(&counter.uuid, &other.uuid));
    check(counters->Open(10, &counter, &status));
    check(counters->Open(20, &other, &status));
    check(counters->Next(counter, &next));
    check(counters->Next(counter, &next));
    CHECK(next == 11);
    check(counters->Alive(&alive));
    CHECK(alive == 2);
    const obvia_context before = counter;
    Account account = {};
    check(counters->Close(&counter, &account));
    CHECK(account.first == 10 && account.steps == 2);
    CHECK(counters->Next(counter, &next) == RPC_X_SS_CONTEXT_MISMATCH);
    CHECK(counters->Next(before, &next) == RPC_X_SS_CONTEXT_MISMATCH);
    check(counters->Close(&other, &account));
    Way way = UP;
    check(counters->Turn(UP, &way));
    CHECK(way == DOWN);
    CHECK(counters->Fail(E_ABORT) == E_ABORT && counters->Fail(5) == S_OK && counters->Fault(E_ABORT) == E_ABORT);
}

} // namespace

void check_functions(rpcecho *echo, Counters *counters)
{
    numbers_and_arrays_are_returned(echo);
    unions_and_structures_are_passed_in_both_directions(echo);
    context_handles_keep_their_state(counters);
    check_functions_in_c(echo, counters);
}

void check_functions_at(const char *binding)
{
    const auto echo = obvia::bind<rpcecho>(binding);
    check_functions(echo.get(), obvia::bind<Counters>(binding).get());
    check_functions(echo.get(), obvia::bind<Counters>(std::string(OTHER_COUNTERS "@") + binding).get());
    obvia::com_ptr<rpcecho> nobody;
    CHECK(obvia::try_bind("ncacn_vi_shm:[nobody-is-there]", nobody) == RPC_S_SERVER_UNAVAILABLE);
    CHECK(obvia::try_bind("nowhere", nobody) == E_INVALIDARG && !nobody);
}
