/* A server of rpcecho with stubs by widl: server.exe PORT. Prints `ready PORT` when it accepts
   calls. */

#include "echo.h"
#include <stdio.h>
#include <stdlib.h>

void *__RPC_USER MIDL_user_allocate(SIZE_T length) { return malloc(length); }
void __RPC_USER MIDL_user_free(void *memory) { free(memory); }

void __cdecl AddOne(ULONG in_data, ULONG *out_data) { *out_data = in_data + 1; }

void __cdecl EchoData(ULONG len, unsigned char in_data[], unsigned char out_data[]) { memcpy(out_data, in_data, len); }

void __cdecl SinkData(ULONG len, unsigned char data[]) { (void)len, (void)data; }

void __cdecl SourceData(ULONG len, unsigned char data[])
{
    ULONG at;
    for (at = 0; at < len; at++)
        data[at] = (unsigned char)at;
}

void __cdecl TestCall(const wchar_t *s1, wchar_t **s2)
{
    *s2 = MIDL_user_allocate((wcslen(s1) + 1) * sizeof **s2);
    wcscpy(*s2, s1);
}

ULONG __cdecl TestCall2(unsigned short level, EchoInfo *info)
{
    memset(info, 0, sizeof *info);
    switch (level) {
    case 1: info->info1.v = 10; return 0;
    case 2: info->info2.v = 20; return 0;
    case 3: info->info3.v = 30; return 0;
    case 4: info->info4.v = 40; return 0;
    case 5: info->info5.v1 = 50, info->info5.v2 = 60; return 0;
    case 6: info->info6.v1 = 70, info->info6.info1.v = 80; return 0;
    case 7: info->info7.v1 = 80, info->info7.info4.v = 90; return 0;
    default: RpcRaiseException(ERROR_INVALID_PARAMETER);
    }
    return 0;
}

ULONG __cdecl TestSleep(ULONG seconds)
{
    Sleep(seconds * 1000);
    return seconds;
}

void __cdecl TestEnum(EchoEnum1 *foo1, EchoEnum2 *foo2, EchoEnum3 *foo3) { (void)foo1, (void)foo2, (void)foo3; }

/* The stub has memory for the received array only, so the array is not doubled. */
void __cdecl TestSurrounding(EchoSurrounding *data) { (void)data; }

unsigned short __cdecl TestDoublePointer(unsigned short ***data) { return *data && **data ? ***data : 0; }

static int check(const char *what, RPC_STATUS status)
{
    if (status != RPC_S_OK)
        fprintf(stderr, "server.exe: %s: status %ld\n", what, (long)status);
    return status != RPC_S_OK;
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    if (check("RpcServerUseProtseqEp",
              RpcServerUseProtseqEpA((RPC_CSTR) "ncacn_ip_tcp", 20, (RPC_CSTR)arguments[1], NULL)) ||
        check("RpcServerRegisterIf", RpcServerRegisterIf(rpcecho_v1_0_s_ifspec, NULL, NULL)) ||
        check("RpcServerListen", RpcServerListen(1, 20, TRUE)))
        return 1;
    printf("ready %s\n", arguments[1]);
    fflush(stdout);
    return check("RpcMgmtWaitServerListen", RpcMgmtWaitServerListen());
}
