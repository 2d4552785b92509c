// Objects for interfaces of functions: Samba's rpcecho, and Counters, which has context handles.
#ifndef MATRIX_FUNCTIONS_HPP
#define MATRIX_FUNCTIONS_HPP

#include "texts.hpp"

#include "functions.h"
#include "obvia.hpp"
#include "rpcecho.h"

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

// An implementation of rpcecho with the results that Samba's tests expect.
class Echo final : public obvia::implements<Echo, rpcecho> {
public:
    HRESULT AddOne(uint32_t in_data, uint32_t *out_data) override
    {
        *out_data = in_data + 1;
        return S_OK;
    }

    HRESULT EchoData(uint32_t len, const char *in_data, char *out_data) override
    {
        std::copy(in_data, in_data + len, out_data);
        return S_OK;
    }

    HRESULT SinkData(uint32_t, const char *) override
    {
        return S_OK;
    }

    HRESULT SourceData(uint32_t len, char *data) override
    {
        for (uint32_t at = 0; at < len; at++) {
            data[at] = static_cast<char>(at);
        }
        return S_OK;
    }

    HRESULT TestCall(const obvia_wchar *s1, obvia_wchar **s2) override
    {
        *s2 = obvia::copy_text<obvia_wchar>(s1);
        return *s2 ? S_OK : E_OUTOFMEMORY;
    }

    HRESULT TestCall2(uint16_t level, Info *info, uint32_t *returned) override
    {
        *returned = 0;
        switch (level) {
        case 1:
            info->info1.v = 10;
            return S_OK;
        case 2:
            info->info2.v = 20;
            return S_OK;
        case 3:
            info->info3.v = 30;
            return S_OK;
        case 4:
            info->info4.v = 40;
            return S_OK;
        case 5:
            info->info5 = {50, 60};
            return S_OK;
        case 6:
            info->info6 = {70, {80}};
            return S_OK;
        case 7:
            info->info7 = {80, {90}};
            return S_OK;
        default:
            return obvia_fail(E_INVALIDARG, "there is no such level");
        }
    }

    HRESULT TestSleep(uint32_t seconds, uint32_t *returned) override
    {
        std::this_thread::sleep_for(std::chrono::seconds(seconds));
        *returned = seconds;
        return S_OK;
    }

    HRESULT TestEnum(Enum1 *foo1, Enum2 *foo2, Enum3 *foo3) override
    {
        foo2->e1 = ECHO_ENUM2;
        (*foo1 == ECHO_ENUM1 ? foo3->e1 : foo3->e2.e1) = ECHO_ENUM2;
        return S_OK;
    }

    HRESULT TestSurrounding(Surrounding **data) override
    {
        const uint32_t count = (*data)->x;
        auto *twice = static_cast<Surrounding *>(obvia_alloc(sizeof(Surrounding) + 2 * count * sizeof(uint16_t)));
        if (!twice) {
            return E_OUTOFMEMORY;
        }
        twice->x = 2 * count;
        for (uint32_t at = 0; at < count; at++) {
            twice->surrounding[at] = twice->surrounding[count + at] = (*data)->surrounding[at];
        }
        obvia_free(*data);
        *data = twice;
        return S_OK;
    }

    HRESULT TestDoublePointer(uint16_t ***data, uint16_t *returned) override
    {
        *returned = *data && **data ? ***data : 0;
        return S_OK;
    }
};

// An object that keeps counters for its clients.
class Keeper final : public obvia::implements<Keeper, Counters> {
public:
    HRESULT Open(int64_t first, obvia_context *counter, uint32_t *returned) override
    {
        if (first < 0) {
            *returned = 22;
            return S_OK;
        }
        auto *made = new Counter{first, first, &alive_};
        alive_++;
        *returned = 0;
        const HRESULT result = obvia_new_context(made, end, counter);
        if (result < 0) {
            end(made);
        }
        return result;
    }

    HRESULT Next(obvia_context handle, int64_t *returned) override
    {
        Counter *counter = nullptr;
        const HRESULT result = state(handle, counter);
        if (result >= 0) {
            *returned = counter->next++;
        }
        return result;
    }

    HRESULT Close(obvia_context *handle, Account *returned) override
    {
        Counter *counter = nullptr;
        const HRESULT result = state(*handle, counter);
        if (result < 0) {
            return result;
        }
        *returned = {counter->first, static_cast<int32_t>(counter->next - counter->first)};
        return obvia_end_context(handle);
    }

    HRESULT Alive(uint32_t *returned) override
    {
        *returned = alive_;
        return S_OK;
    }

    HRESULT Turn(Way way, Way *returned) override
    {
        *returned = way == UP ? DOWN : UP;
        return S_OK;
    }

    HRESULT Tell(int32_t value) override
    {
        told_ = value;
        return S_OK;
    }

    HRESULT Told(int32_t *returned) override
    {
        *returned = told_;
        return S_OK;
    }

    HRESULT Fail(HRESULT code) override
    {
        return code < 0 ? code : S_OK;
    }

    HRESULT Fault(HRESULT code) override
    {
        return obvia_fail(code, "as it was told");
    }

private:
    // A counter of one client.
    struct Counter {
        int64_t first;
        std::atomic<int64_t> next;
        std::atomic<uint32_t> *alive;
    };

    static void end(void *state)
    {
        auto *counter = static_cast<Counter *>(state);
        (*counter->alive)--;
        delete counter;
    }

    static HRESULT state(const obvia_context &handle, Counter *&counter)
    {
        void *found = nullptr;
        const HRESULT result = obvia_context_state(&handle, end, &found);
        counter = static_cast<Counter *>(found);
        return result;
    }

    std::atomic<uint32_t> alive_{0};
    std::atomic<int32_t> told_{0};
};

#endif
