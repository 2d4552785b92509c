// Makes a number of calls, for counting the instructions that they take in C++'s stubs.
//
// `icount serve NAME` exports the object and ends when its standard input does; `icount call NAME METHOD CALLS WORDS` calls it
// and checks every result. Both sides sleep while they wait, so that the count does not depend on time.
#include "object.h"
#include "server_loop.h"
#include "shared_words.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

static int serve(const char *name)
{
    obvia_set_server_loop(serve_connection, nullptr);
    const obvia::served entry = obvia::serve(name, make_object());
    std::puts("ready");
    std::fflush(stdout);
    std::getchar();
    return 0;
}

// Whether a method did what it has to.
static bool call(IStubs *object, const char *method, int32_t turn, const shared_words<int32_t> &words)
{
    const int32_t count = static_cast<int32_t>(words.size());
    int32_t pos = turn, got = 0;
    const auto is = [method](const char *name) { return !std::strcmp(method, name); };
    if (is("null")) {
        return object->null() == S_OK;
    }
    if (is("pfs_open")) {
        return object->pfs_open(1, 2, 4, turn, &got) == S_OK && got == (7 ^ turn);
    }
    if (is("pfs_write")) {
        return object->pfs_write(1, &pos, 3, count, words.data()) == S_OK && pos == turn + 3;
    }
    if (is("copy_in")) {
        return object->copy_in(1, &pos, 3, count, words.data()) == S_OK && pos == turn + 3;
    }
    if (is("pfs_get_direntries")) {
        int32_t *data = nullptr;
        return object->pfs_get_direntries(turn, &pos, count, &got, &data) == S_OK && pos == turn + count && got == count
            && data[0] == turn;
    }
    if (is("copy_out")) {
        return object->copy_out(turn, &pos, 3, count, &got, words.data()) == S_OK && pos == turn + 3 && got == count
            && words.data()[0] == turn;
    }
    const uint32_t size = static_cast<uint32_t>(count);
    uint32_t *array = reinterpret_cast<uint32_t *>(words.data());
    const uint32_t before = array[size - 1];
    const HRESULT result = is("MoveData") ? object->MoveData(size, array) : object->copy_both(size, array);
    return result == S_OK && array[size - 1] == before + 1;
}

int main(int argc, char **argv)
{
    obvia_set_waiting(OBVIA_BLOCK);
    if (argc == 3 && !std::strcmp(argv[1], "serve")) {
        return serve(argv[2]);
    }
    if (argc != 6 || std::strcmp(argv[1], "call")) {
        std::fprintf(stderr, "usage: icount serve NAME | call NAME METHOD CALLS WORDS\n");
        return 2;
    }
    const obvia::com_ptr<IStubs> object = obvia::connect<IStubs>(argv[2]);
    const shared_words<int32_t> words(static_cast<std::size_t>(std::atoi(argv[5])));
    for (int32_t turn = 0; turn < std::atoi(argv[4]); turn++) {
        if (!call(object.get(), argv[3], turn, words)) {
            std::fprintf(stderr, "%s: a wrong result in turn %d\n", argv[3], turn);
            return 1;
        }
    }
    return 0;
}
