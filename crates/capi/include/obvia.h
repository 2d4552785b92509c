/* obvia: COM objects called in process, across processes and across hosts. The C interface.
 *
 * An interface is written in IDL; `obvia idl --language c NAME.idl` makes NAME.h, with its declaration for C and for C++, and
 * NAME_stubs.c, with its proxies and stubs. Link both with libobvia.
 *
 * Objects follow COM's binary standard: an interface pointer points to a pointer to a table of functions, the first three of
 * which are QueryInterface, AddRef and Release. Functions return an HRESULT: negative values are failures, and
 * obvia_error_text() says in words what led to the last one of this thread.
 *
 * Every function may be called by any thread. Strings are UTF-8 and end in NUL. What libobvia returns as a string or an array
 * is freed with obvia_free(), which is the C library's free().
 */
#ifndef OBVIA_H
#define OBVIA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. libobvia serves every program that was compiled with the same major version, and a minor one
 * that is not above its own. */
#define OBVIA_ABI_MAJOR 0
#define OBVIA_ABI_MINOR 1

/* The version of the library that is linked: major in the upper 16 bits, minor in the lower ones. */
uint32_t obvia_abi_version(void);

/* ---- COM's basic types ---- */

typedef int32_t HRESULT;

#ifndef GUID_DEFINED
#define GUID_DEFINED
typedef struct GUID {
    uint32_t Data1;
    uint16_t Data2;
    uint16_t Data3;
    uint8_t Data4[8];
} GUID;
#endif
typedef GUID IID;
typedef GUID CLSID;
#ifdef __cplusplus
typedef const GUID &REFGUID;
typedef const IID &REFIID;
#else
typedef const GUID *REFGUID;
typedef const IID *REFIID;
#endif

/* wchar_t of IDL: a unit of UTF-16. */
#ifdef __cplusplus
typedef char16_t obvia_wchar;
#else
typedef uint16_t obvia_wchar;
#endif

/* What an enumeration is in memory: 32 bits, in which C++ takes any value for one of its. */
#ifdef __cplusplus
#define OBVIA_ENUM : int32_t
#else
#define OBVIA_ENUM
#endif

/* Fail to compile where a type is not laid out as the IDL means it: as a 64-bit machine does by nature. */
#ifdef __cplusplus
#define OBVIA_ASSERT(condition, text) static_assert(condition, text)
#else
#define OBVIA_ASSERT(condition, text) _Static_assert(condition, text)
#endif
#define OBVIA_HAS_SIZE(type, bytes) OBVIA_ASSERT(sizeof(type) == (bytes), "the size of " #type)
#define OBVIA_LIES_AT(type, member, at) OBVIA_ASSERT(offsetof(type, member) == (at), "the place of " #member " in " #type)

#define SUCCEEDED(result) (((HRESULT)(result)) >= 0)
#define FAILED(result) (((HRESULT)(result)) < 0)

#define S_OK ((HRESULT)0)
#define S_FALSE ((HRESULT)1)
#define E_NOTIMPL ((HRESULT)0x80004001)
#define E_NOINTERFACE ((HRESULT)0x80004002)
#define E_POINTER ((HRESULT)0x80004003)
#define E_ABORT ((HRESULT)0x80004004)
#define E_FAIL ((HRESULT)0x80004005)
#define E_UNEXPECTED ((HRESULT)0x8000ffff)
#define E_ACCESSDENIED ((HRESULT)0x80070005)
#define E_OUTOFMEMORY ((HRESULT)0x8007000e)
#define E_INVALIDARG ((HRESULT)0x80070057)
#define RPC_E_CALL_CANCELED ((HRESULT)0x80010002)
#define RPC_E_INVALID_DATA ((HRESULT)0x8001000f)
#define RPC_E_SERVERFAULT ((HRESULT)0x80010105)
#define RPC_E_DISCONNECTED ((HRESULT)0x80010108)
#define RPC_E_VERSION_MISMATCH ((HRESULT)0x80010110)
#define RPC_E_INVALID_OBJREF ((HRESULT)0x8001011d)
#define RPC_E_TIMEOUT ((HRESULT)0x8001011f)
#define RPC_S_SERVER_UNAVAILABLE ((HRESULT)0x800706ba)
#define RPC_S_UNKNOWN_AUTHN_SERVICE ((HRESULT)0x800706d3)
#define RPC_S_SEC_PKG_ERROR ((HRESULT)0x80070721)
#define RPC_S_UNKNOWN_IF ((HRESULT)0x800706b5)
#define RPC_S_TYPE_ALREADY_REGISTERED ((HRESULT)0x800706b0)
#define RPC_S_NO_BINDINGS ((HRESULT)0x800706b6)
#define EPT_S_CANT_PERFORM_OP ((HRESULT)0x800706d8)
#define EPT_S_NOT_REGISTERED ((HRESULT)0x800706d9)
#define RPC_X_SS_CONTEXT_MISMATCH ((HRESULT)0x800706ef)
#define REGDB_E_CLASSNOTREG ((HRESULT)0x80040154)
#define REGDB_E_IIDNOTREG ((HRESULT)0x80040155)
#define CO_E_CLASSSTRING ((HRESULT)0x800401f3)
#define CO_E_SERVER_EXEC_FAILURE ((HRESULT)0x80080005)

/* IUnknown, for C and for C++. C++ code that wants C's view defines CINTERFACE. */
#if defined(__cplusplus) && !defined(CINTERFACE)
struct IUnknown {
    virtual HRESULT QueryInterface(REFIID iid, void **object) = 0;
    virtual uint32_t AddRef() = 0;
    virtual uint32_t Release() = 0;
};
#else
typedef struct IUnknown IUnknown;
typedef struct IUnknownVtbl {
    HRESULT (*QueryInterface)(IUnknown *self, const IID *iid, void **object);
    uint32_t (*AddRef)(IUnknown *self);
    uint32_t (*Release)(IUnknown *self);
} IUnknownVtbl;
struct IUnknown {
    const IUnknownVtbl *lpVtbl;
};
#endif
extern const IID IID_IUnknown;

/* Whether two GUIDs are the same. */
static inline int obvia_is_equal(const GUID *a, const GUID *b)
{
    const unsigned char *left = (const unsigned char *)a, *right = (const unsigned char *)b;
    size_t at;
    for (at = 0; at < sizeof *a; at++) {
        if (left[at] != right[at]) {
            return 0;
        }
    }
    return 1;
}

/* What the compiler knows about an interface: NAME_stubs.c defines one for each, by the name of the interface and _INFO. */
typedef struct obvia_interface obvia_interface;

/* What C++ code finds an interface's IID, description and base by: NAME.h specialises it for each interface. */
#ifdef __cplusplus
extern "C++" {
template <class Interface> struct obvia_interface_of;
/* The same for a structure that leads elsewhere: what frees and copies it. */
template <class Structure> struct obvia_structure_of;
}
#endif

/* ---- Exporting and connecting ---- */

/* An exported name. */
typedef struct obvia_export_entry obvia_export_entry;

/* Makes an object reachable by a name, on this host. The runtime's threads serve the calls, one for each connection, so the
 * object must bear calls from several at once: it says so by answering for IAgileObject, or it is refused with E_INVALIDARG.
 * The export ends, and gives up its reference, with obvia_unexport(). */
HRESULT obvia_export(const char *name, const obvia_interface *interface, void *object, obvia_export_entry **entry);

/* Ends an export. Clients that hold references keep them. NULL is ignored. */
void obvia_unexport(obvia_export_entry *entry);

/* Has this process be reached over a network as well: `ncacn_vi_udp:[5555]`; or, on this host, by a further name, for obvia_bind():
 * `ncacn_vi_shm:[NAME]`. `bound`, if it is not NULL, gets the binding as
 * others use it, to be freed. */
HRESULT obvia_listen(const char *binding, char **bound);

/* Sleeps as long as the process exists: the end of main() in a server. */
void obvia_wait(void);

/* An interface pointer to the object that a process exports by a name, or at a string binding:
 * `ncacn_vi_udp:host[5555,name=NAME]`. The caller releases it. */
HRESULT obvia_connect(const char *name, const obvia_interface *interface, void **object);

/* ---- Interfaces without [object]: functions that a server has ---- */

/* An interface that this process performs. */
typedef struct obvia_serving obvia_serving;

/* Has an object perform an interface for every caller, or, where `uuid` is not NULL, for those whose binding names that UUID. As with
 * obvia_export(), it must bear calls from several threads. The service ends, and gives up its reference, with obvia_end_serving(). Where
 * this process is reached is said by obvia_listen(). */
HRESULT obvia_serve_interface(const GUID *uuid, const obvia_interface *interface, void *object, obvia_serving **serving);

/* Ends a service. NULL is ignored. */
void obvia_end_serving(obvia_serving *serving);

/* Listens where the endpoint attribute of an interface says, as with obvia_listen(). `bound`, if it is not NULL, gets the bindings, a line
 * each, to be freed. */
HRESULT obvia_listen_for(const obvia_interface *interface, char **bound);

/* Endpoints that are registered with the endpoint mapper. */
typedef struct obvia_registration obvia_registration;

/* Registers what this process performs now with the endpoint mapper of this host, by all that it listens on with ncacn_ip_tcp and ncalrpc. The
 * mapper is `ncalrpc:[epmapper]` where `mapper` is NULL; `annotation`, unless it is NULL, is what users are told. The registration ends with
 * obvia_unregister_endpoints(), or with this process. */
HRESULT obvia_register_endpoints(const char *mapper, const char *annotation, obvia_registration **registration);

/* Ends a registration. NULL is ignored. */
void obvia_unregister_endpoints(obvia_registration *registration);

/* An interface pointer to what a server performs: `ncacn_vi_udp:host[5555]`, `ncacn_vi_shm:[NAME]`, before them perhaps a UUID and `@`. A
 * binding without an endpoint, `ncacn_ip_tcp:host`, leads where the interface's endpoint attribute says, or else the host's endpoint mapper.
 * The caller releases it. */
HRESULT obvia_bind(const char *binding, const obvia_interface *interface, void **server);

/* A [context_handle]: what a server gives its client for a state that it keeps for it. All zeros are none. */
typedef struct obvia_context {
    uint32_t attributes;
    GUID uuid;
} obvia_context;

/* Keeps a state for the caller of the method that runs on this thread. `rundown` is called with it once, by any thread: when the handle
 * ends, or else when the caller's process has ended, and no method of another thread has the state in use any more. */
HRESULT obvia_new_context(void *state, void (*rundown)(void *state), obvia_context *handle);

/* The state of a handle that the caller of the method that runs on this thread was given for a state with this rundown, or else
 * RPC_X_SS_CONTEXT_MISMATCH. Where another process has called the method, and gave it the handle, the state is there until the method returns or ends
 * the handle itself, whatever other calls of the client's do meanwhile. */
HRESULT obvia_context_state(const obvia_context *handle, void (*rundown)(void *state), void **state);

/* Ends a handle, which is all zeros then. */
HRESULT obvia_end_context(obvia_context *handle);

/* IAgileObject: an object that answers QueryInterface for it may be used by any thread. It has no methods of its own. */
extern const IID IID_IAgileObject;

/* ---- Classes ---- */

/* Makes an object of a class: `*object` gets an interface pointer, which is the caller's. */
typedef HRESULT (*obvia_make)(void *context, void **object);

/* A class of which others have objects made by this process. */
typedef struct obvia_class_registration obvia_class_registration;

/* Has others make objects of a class in this process (CoRegisterClassObject): those who ask at an address that it listens on, and processes of
 * this user on this host. `make` is called for each, by any thread. Objects may be asked for every interface of the IDL file that declares
 * `interface`, and of those that it imports. `class_object` stands for the class itself, for obvia_get_class_object(); where it is NULL an
 * IClassFactory does. `release`, unless it is NULL, is called once when `make` is called no more, also where this fails. The class is registered
 * until obvia_revoke_class(). */
HRESULT obvia_register_class(const CLSID *class_id, IUnknown *class_object, const obvia_interface *interface, obvia_make make, void *context,
                             void (*release)(void *context), obvia_class_registration **registration);

/* Ends a registration. Objects that were made go on. NULL is ignored. */
void obvia_revoke_class(obvia_class_registration *registration);

/* Has an object of a class made (CoCreateInstanceEx): in this process, where it has registered the class; otherwise by the one at `server`, a name
 * or a string binding as for obvia_connect(), or, where that is NULL, by what is registered on this host: a shared library, a process that runs, or
 * one that the host's service starts, or another host. REGDB_E_CLASSNOTREG where nobody makes any. The caller releases the object. */
HRESULT obvia_create_instance(const CLSID *class_id, const char *server, const obvia_interface *interface, void **object);

/* Where objects of a class may be made (CLSCTX). */
#define OBVIA_INPROC_SERVER 0x1u
#define OBVIA_LOCAL_SERVER 0x4u
#define OBVIA_REMOTE_SERVER 0x10u

/* The same, by what is registered on this host, in one of these contexts. */
HRESULT obvia_create_instance_in(const CLSID *class_id, uint32_t contexts, const obvia_interface *interface, void **object);

/* Finds what stands for a class (CoGetClassObject), as obvia_create_instance() does for its objects. */
HRESULT obvia_get_class_object(const CLSID *class_id, const char *server, const obvia_interface *interface, void **object);

/* The class that is registered by a name on this host (CLSIDFromProgID). */
HRESULT obvia_class_named(const char *name, CLSID *class_id);

/* Serves until nobody has used this process for so long: the end of main() in a server that is started on demand. When it returns, no more objects
 * are made, and the next who wants one has a new server started. */
HRESULT obvia_serve_until_idle(uint32_t milliseconds);

/* A reason not to take this process for unused (CoAddRefServerProcess). */
typedef struct obvia_server_lock obvia_server_lock;
HRESULT obvia_lock_server(obvia_server_lock **lock);
/* NULL is ignored. */
void obvia_unlock_server(obvia_server_lock *lock);

/* ---- Objects that are called over virtual interfaces ---- */

/* IMarshal: an object that answers QueryInterface for it writes its references itself. */
extern const IID IID_IMarshal;

/* A part of an object by which it is called over virtual interfaces, wherever its process is reached: the object answers for IID_IMarshal by
 * asking the part for it, keeps the part as long as it lives itself, gives it to nobody else, and releases it in the end. `outer` is the object,
 * which is not counted. `endpoint` is what the process listens on for such objects, once one goes to another host, as in
 * `ncacn_vi_fabric:10.0.0.1`; where it is NULL or empty, ncacn_vi_udp at the addresses where the process listens on ncacn_ip_tcp. */
HRESULT obvia_vi_marshaler(IUnknown *outer, const char *endpoint, IUnknown **marshaler);

/* The string binding that calls by an interface pointer go by, to be freed with obvia_free(); NULL for an object of this process. */
HRESULT obvia_binding_of(IUnknown *object, char **binding);

/* ---- Memory that calls pass by reference ---- */

/* What the processes may do with memory that it is passed to. */
typedef enum obvia_access {
    OBVIA_READ, /* read it: the kernel lets them do nothing else */
    OBVIA_WRITE /* read and write it, at any time from when it was first passed to them until it ends here */
} obvia_access;

/* Makes memory that methods get by reference, not as a copy, where an array of a zero_copy or map parameter lies in it: zeroed,
 * beginning at a page. Pages are used as they are touched. A process that it is passed to maps all of it, and keeps it until
 * some call after it was unshared; so what lies in one piece of it is for the same eyes. */
HRESULT obvia_share(size_t bytes, obvia_access access, void **memory);

/* Ends such memory, which no call may be using. NULL is ignored. */
void obvia_unshare(void *memory);

/* ---- Time, waiting, cancelling ---- */

typedef enum obvia_waiting {
    OBVIA_POLL,     /* look at memory again and again: the shortest latency, and a whole processor */
    OBVIA_BLOCK,    /* sleep in the kernel at once */
    OBVIA_ADAPTIVE  /* poll for some tens of microseconds, then sleep: the default */
} obvia_waiting;

/* How this process waits on connections that are made from now on. */
void obvia_set_waiting(obvia_waiting waiting);

/* What calls have where nobody says otherwise: 30 seconds, of which servers are not told. */
#define OBVIA_DEFAULT_TIMEOUT UINT32_MAX

/* How long each call of this thread may take from now on, in milliseconds. Returns what it was; OBVIA_DEFAULT_TIMEOUT at first. */
uint32_t obvia_set_timeout(uint32_t milliseconds);

/* Cancels calls of other threads. */
typedef struct obvia_canceller obvia_canceller;

/* A canceller that nobody has used yet, to be freed when nobody needs it any more. */
obvia_canceller *obvia_new_canceller(void);
/* NULL is ignored. */
void obvia_free_canceller(obvia_canceller *canceller);

/* From now on obvia_cancel() ends the calls of this thread with RPC_E_CALL_CANCELED: the one that waits then, and later ones. With
 * NULL nobody cancels them. Returns what was set before, to be set again when that is over; NULL at first.
 *
 * Methods are not interrupted: those in other processes look at obvia_is_cancelled() if they care. */
obvia_canceller *obvia_set_canceller(obvia_canceller *canceller);

/* Cancels. May be called by any thread, any number of times. NULL is ignored. */
void obvia_cancel(obvia_canceller *canceller);

/* Whether the caller of the method that runs on this thread no longer waits for it: it gave up, or ended. */
int obvia_is_cancelled(void);

/* ---- Security of calls over ncacn_ip_tcp and ncalrpc ---- */

/* How a call is protected; each level has what those before it have. Bindings say which is wanted: `ncacn_ip_tcp:host[port,security=privacy]`
 * in obvia_connect() and obvia_bind(), and the least that is taken in obvia_listen(). */
typedef enum obvia_level {
    OBVIA_SECURITY_NONE = 1, /* not at all */
    OBVIA_SECURITY_CONNECT = 2, /* who calls has proved who it is when it connected */
    OBVIA_SECURITY_INTEGRITY = 5, /* calls and results are signed */
    OBVIA_SECURITY_PRIVACY = 6 /* arguments and results are encrypted */
} obvia_level;

/* Says who this process is to servers by bindings that ask for security, from now on. `domain` may be NULL. The password is not kept, but its
 * hash is, which is as good to whoever gets it. */
HRESULT obvia_set_credentials(const char *domain, const char *user, const char *password);

/* A user who may call this process. */
typedef struct obvia_account {
    const char *user;
    const char *password;
} obvia_account;

/* Says who may call this process where it is to be proved who calls, from the next connection on, in the place of whoever could before. Names of
 * users differ by more than case. */
HRESULT obvia_set_accounts(const obvia_account *accounts, size_t count);

/* No user's number. */
#define OBVIA_NOBODY UINT32_MAX

/* Who called a method. */
typedef struct obvia_caller {
    uint32_t process;  /* the process, where it is one of this host and the kernel told which, be it this one; else 0 */
    uint32_t uid;      /* the user as whom that process runs, as the kernel told it; else OBVIA_NOBODY */
    int32_t level;     /* an obvia_level: how the call was protected */
    char *host;        /* the address, where the caller came over a network; else NULL */
    char *domain;      /* who the caller has proved to be; NULL below OBVIA_SECURITY_CONNECT */
    char *user;
} obvia_caller;

/* Says who called the method that runs on this thread. obvia_clear_caller() frees what is in it. */
HRESULT obvia_get_caller(obvia_caller *caller);
/* NULL is ignored. */
void obvia_clear_caller(obvia_caller *caller);

/* ---- Who may call: docs/access.md ---- */

/* A rule: whether a caller may call, which is not 0 then. It is asked on the way of a call, before anything of that is looked at, by any thread:
 * it answers from what it knows, and makes no calls. Its answer holds for the caller's connection until a rule is made. */
typedef struct obvia_callers {
    int (*permits)(void *context, const obvia_caller *caller);
    void *context;
    void (*release)(void *context); /* is called once, when there is no such rule any more, or it was refused; may be NULL */
} obvia_callers;

/* Says who may call an object from outside of this process, by whichever of its interfaces, or functions that it performs, from the next call
 * on, instead of the rule for all; takes that back where `callers` is NULL. Others get E_ACCESSDENIED, and are logged. An object without
 * IWeakReferenceSource, as those of obvia.hpp, is kept until then. */
HRESULT obvia_set_access(void *object, const obvia_callers *callers);

/* Says who may call objects and functions that have no rule of their own. Everybody may who gets through to this process where nobody says so. */
HRESULT obvia_set_default_access(const obvia_callers *callers);

/* Has processes of other users connect, over shared memory and ncalrpc. E_INVALIDARG before obvia_set_default_access(), and when something was
 * exported or listened on before. Their names have to be where others get at them: in a directory that is the superuser's or theirs. */
HRESULT obvia_admit_other_users(void);

/* Says who is told of callers that were refused: a line for each, without control characters, unless one caller brings about too many. Called by
 * any thread; `release` as for rules. Without it the lines go to the standard error. */
HRESULT obvia_set_audit(void (*audit)(void *context, const char *line), void *context, void (*release)(void *context));

/* ---- Errors and memory ---- */

/* What led to a failed HRESULT on this thread, in words; valid until the thread's next call. Never NULL. */
const char *obvia_error_text(HRESULT result);

/* Has the caller of the method that runs now get words with its failed HRESULT. Returns `result`. */
HRESULT obvia_fail(HRESULT result, const char *text);

/* The same with a text that nobody has written for callers, such as an exception's: they are told it where obvia_set_exception_texts() says so, or
 * where nobody has said and `by_default` is not 0. Processes of other users and on other hosts are never told: a text may contain values that are
 * not theirs. */
HRESULT obvia_fail_unforeseen(HRESULT result, const char *text, int by_default);

/* Says whether callers are told such texts, those of panics in Rust among them. Where nobody does, callers of methods in C++ are told where the
 * program was compiled with assertions (without NDEBUG). */
void obvia_set_exception_texts(int are_told);

/* What is known of a failure beside its HRESULT: COM's error information. Texts are UTF-8; "" where one is not known. */
typedef struct obvia_error_info {
    const char *description;
    const char *source; /* The name of the object or component that failed. */
    const char *help_file;
    uint32_t help_context; /* The place in the help file. */
} obvia_error_info;

/* What led to a failed HRESULT on this thread. The texts are valid until the thread asks again. */
void obvia_get_error_info(HRESULT result, obvia_error_info *info);

/* obvia_fail() with all of it. A text that is NULL or no UTF-8 is "". */
HRESULT obvia_fail_with(HRESULT result, const obvia_error_info *info);

/* Memory for what a method returns and its caller frees: the C library's malloc() and free(). */
void *obvia_alloc(size_t bytes);
void obvia_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
