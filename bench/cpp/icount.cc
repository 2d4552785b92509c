// Makes calls under callgrind, which writes the number of instructions in C++'s stubs. Each side
// writes two files for each case. The second file contains the counts.
//
// `icount serve NAME FIRST COUNTED` exports the object, and ends when its standard input ends.
// `icount call NAME FIRST COUNTED METHOD:WORDS...` calls the object and checks every result. The
// first file of a case has the counts of its first calls, which set up lasting state.
//
// The client counts from the entry of `entry_client` until its return. The server counts from one
// execution of a method to the next. In both, callgrind's options stop the counting in the
// functions that hand calls over: see xtask/src/icount/sides.rs.
#include "counting.h"
#include "object.h"
#include "server_loop.h"
#include "shared_words.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

static int serve(const char *name, plan calls)
{
    obvia_set_server_loop(serve_connection, nullptr);
    const obvia::served entry = obvia::serve(name, make_object(calls));
    std::puts("ready");
    std::fflush(stdout);
    std::getchar();
    return 0;
}

// Makes one call, and returns whether its result is right. Callgrind counts from here.
extern "C" __attribute__((noinline)) bool entry_client(
    IStubs *object, const char *method, int32_t turn, const shared_words<int32_t> &words)
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

// Makes the calls of one case, `METHOD:WORDS`.
static bool call(IStubs *object, plan calls, const std::string &what)
{
    const std::size_t colon = what.find(':');
    const std::string method = what.substr(0, colon);
    const shared_words<int32_t> words(static_cast<std::size_t>(std::atoi(what.c_str() + colon + 1)));
    for (int32_t turn = 0; turn < calls.first + calls.counted; turn++) {
        if (turn == calls.first) {
            CALLGRIND_DUMP_STATS_AT(FIRST);
        }
        if (!entry_client(object, method.c_str(), turn, words)) {
            std::fprintf(stderr, "%s: a wrong result in turn %d\n", what.c_str(), turn);
            return false;
        }
    }
    CALLGRIND_DUMP_STATS_AT(method.c_str());
    return true;
}

int main(int argc, char **argv)
{
    // Both sides wait by blocking, because callgrind runs one thread of a process at a time.
    obvia_set_waiting(OBVIA_BLOCK);
    const bool is_server = argc == 5 && !std::strcmp(argv[1], "serve");
    if (!is_server && (argc < 5 || std::strcmp(argv[1], "call"))) {
        std::fprintf(stderr, "usage: icount serve NAME FIRST COUNTED | call NAME FIRST COUNTED METHOD:WORDS...\n");
        return 2;
    }
    const plan calls = {std::atoi(argv[3]), std::atoi(argv[4])};
    if (is_server) {
        return serve(argv[2], calls);
    }
    const obvia::com_ptr<IStubs> object = obvia::connect<IStubs>(argv[2]);
    for (int at = 5; at < argc; at++) {
        if (!call(object.get(), calls, argv[at])) {
            return 1;
        }
    }
    return 0;
}
