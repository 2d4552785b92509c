/* A client of rpcecho with stubs by widl: client.exe HOST PORT ROUNDS. Ends with 1 after a wrong
 * result or a failed call.
 *
 * Two functions are not called. Wine 8.0 crashes in its own stub of TestCall with any answer, and
 * widl 7.0 puts the second member of EchoEnum2 directly after the first, at an offset of 2 bytes.
 * NDR has the second member at an offset of 4 bytes (C706 14.3.1). */

#include "echo.h"
#include <stdio.h>
#include <stdlib.h>

enum { LONG_DATA = 200000 };

void *__RPC_USER MIDL_user_allocate(SIZE_T length) { return malloc(length); }
void __RPC_USER MIDL_user_free(void *memory) { free(memory); }

static void expect(const char *what, int is_right)
{
    if (!is_right) {
        fprintf(stderr, "client.exe: %s: the result is wrong\n", what);
        ExitProcess(1);
    }
}

/* Failed calls raise SEH exceptions, for which these compilers have no syntax. */
static LONG CALLBACK failed(EXCEPTION_POINTERS *raised)
{
    fprintf(stderr, "client.exe: exception %ld\n", (long)raised->ExceptionRecord->ExceptionCode);
    ExitProcess(1);
}

static void bytes(void)
{
    unsigned char *sent = malloc(LONG_DATA), *back = calloc(1, LONG_DATA), data[1000];
    ULONG at;
    for (at = 0; at < LONG_DATA; at++)
        sent[at] = (unsigned char)(at % 251);
    EchoData(LONG_DATA, sent, back);
    expect("EchoData", memcmp(sent, back, LONG_DATA) == 0);
    SinkData(LONG_DATA, sent);
    SourceData(sizeof data, data);
    for (at = 0; at < sizeof data; at++)
        expect("SourceData", data[at] == (unsigned char)at);
    free(sent);
    free(back);
}

static void unions(void)
{
    EchoInfo info[8];
    unsigned short level;
    memset(info, 0, sizeof info);
    for (level = 1; level < 8; level++)
        expect("TestCall2", TestCall2(level, &info[level]) == 0);
    expect("TestCall2, level 1", info[1].info1.v == 10);
    expect("TestCall2, level 2", info[2].info2.v == 20);
    expect("TestCall2, level 3", info[3].info3.v == 30);
    expect("TestCall2, level 4", info[4].info4.v == 40);
    expect("TestCall2, level 5", info[5].info5.v1 == 50 && info[5].info5.v2 == 60);
    expect("TestCall2, level 6", info[6].info6.v1 == 70 && info[6].info6.info1.v == 80);
    expect("TestCall2, level 7", info[7].info7.v1 == 80 && info[7].info7.info4.v == 90);
}

static void pointers(void)
{
    /* The result has six elements. */
    EchoSurrounding *surrounding = calloc(1, sizeof *surrounding + 6 * sizeof(unsigned short));
    unsigned short value = 77, *one = &value, **two = &one, *none = NULL, **to_none = &none;
    surrounding->x = 3;
    surrounding->surrounding[0] = 1, surrounding->surrounding[2] = 3;
    TestSurrounding(surrounding);
    expect("TestSurrounding",
           surrounding->x == 6 && surrounding->surrounding[3] == 1 && surrounding->surrounding[5] == 3);
    free(surrounding);
    expect("TestDoublePointer", TestDoublePointer(&two) == 77);
    expect("TestDoublePointer, null", TestDoublePointer(&to_none) == 0);
}

static void round_of_calls(void)
{
    ULONG number = 0;
    AddOne(41, &number);
    expect("AddOne", number == 42);
    bytes();
    unions();
    pointers();
    expect("TestSleep", TestSleep(0) == 0);
}

int main(int count, char **arguments)
{
    RPC_CSTR binding = NULL;
    int rounds;
    if (count != 4)
        return 2;
    AddVectoredExceptionHandler(1, failed);
    if (RpcStringBindingComposeA(NULL, (RPC_CSTR) "ncacn_ip_tcp", (RPC_CSTR)arguments[1], (RPC_CSTR)arguments[2], NULL,
                                 &binding) != RPC_S_OK ||
        RpcBindingFromStringBindingA(binding, &rpcecho_binding) != RPC_S_OK) {
        fprintf(stderr, "client.exe: there is no binding to %s\n", arguments[1]);
        return 1;
    }
    for (rounds = atoi(arguments[3]); rounds > 0; rounds--)
        round_of_calls();
    RpcStringFreeA(&binding);
    RpcBindingFree(&rpcecho_binding);
    printf("%s rounds\n", arguments[3]);
    return 0;
}
