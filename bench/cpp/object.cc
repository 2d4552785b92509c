// The object that the counted stubs call. It is defined in a file of its own, so that the compiler
// cannot devirtualize the calls.
#include "object.h"

namespace {

class Stubs final : public obvia::implements<Stubs, IStubs> {
public:
    explicit Stubs(plan calls) : plan_(calls) {}

    HRESULT null() override
    {
        called("null");
        return S_OK;
    }

    HRESULT pfs_open(int32_t client, int32_t fobj, int32_t flags, int32_t mode, int32_t *handle) override
    {
        called("pfs_open");
        *handle = client ^ fobj ^ flags ^ mode;
        return S_OK;
    }

    HRESULT pfs_write(int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data) override
    {
        called("pfs_write");
        return write(handle, pos, len, data_size, data);
    }

    HRESULT pfs_get_direntries(int32_t handle, int32_t *pos, int32_t count, int32_t *data_size, int32_t **data) override
    {
        called("pfs_get_direntries");
        *pos += count;
        *data_size = count;
        (*data)[0] = handle;
        return S_OK;
    }

    HRESULT MoveData(uint32_t size, uint32_t *array) override
    {
        called("MoveData");
        return move(size, array);
    }

    HRESULT copy_in(int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data) override
    {
        called("copy_in");
        return write(handle, pos, len, data_size, data);
    }

    HRESULT copy_out(int32_t handle, int32_t *pos, int32_t count, int32_t room, int32_t *data_size, int32_t *data) override
    {
        called("copy_out");
        *pos += count;
        *data_size = room;
        if (room > 0) {
            data[0] = handle;
        }
        return S_OK;
    }

    HRESULT copy_both(uint32_t size, uint32_t *array) override
    {
        called("copy_both");
        return move(size, array);
    }

private:
    // Counts the calls. Starts callgrind's counts in the last uncounted call, and stops them in the
    // last call of the case: each counted interval reaches from a method's end to the start of the
    // next.
    void called(const char *method)
    {
        calls_++;
        if (calls_ == plan_.first) {
            CALLGRIND_DUMP_STATS_AT(FIRST);
            CALLGRIND_TOGGLE_COLLECT;
        } else if (calls_ == plan_.first + plan_.counted) {
            CALLGRIND_TOGGLE_COLLECT;
            CALLGRIND_DUMP_STATS_AT(method);
            calls_ = 0;
        }
    }

    HRESULT write(int32_t handle, int32_t *pos, int32_t len, int32_t data_size, const int32_t *data)
    {
        *pos += len;
        seen = handle + (data_size > 0 ? data[data_size - 1] : 0);
        return S_OK;
    }

    HRESULT move(uint32_t size, uint32_t *array)
    {
        if (size > 0) {
            array[size - 1] += 1;
        }
        return S_OK;
    }

    // Volatile, so that the compiler cannot omit computations without effect.
    volatile int32_t seen = 0;
    // Only the thread that serves the client uses the number.
    int32_t calls_ = 0;
    const plan plan_;
};

} // namespace

obvia::com_ptr<IStubs> make_object(plan calls)
{
    return obvia::make<Stubs>(calls);
}
