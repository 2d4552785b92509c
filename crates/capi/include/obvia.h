/* obvia: COM objects called in process, across processes and across hosts. The C interface.
 *
 * Interfaces are written in IDL. `obvia idl --language c NAME.idl` generates NAME.h, with
 * declarations for C and C++, and NAME_stubs.c, with proxies and stubs. Programs link both with
 * libobvia.
 *
 * Objects follow COM's binary standard: an interface pointer points to a pointer to a table of
 * functions, the first three of which are QueryInterface, AddRef and Release. Functions return an
 * HRESULT: negative values are failures, and obvia_error_text() describes this thread's last
 * failure.
 *
 * Any thread may call every function. Strings are UTF-8 and NUL-terminated. Strings and arrays that
 * libobvia returns are freed with obvia_free(), which is the C library's free().
 */
#ifndef OBVIA_H
#define OBVIA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. libobvia serves programs that were compiled with the same major
 * version and with a minor version that is not greater than its own. */
#define OBVIA_ABI_MAJOR 0
#define OBVIA_ABI_MINOR 1

/* Returns the version of the linked library: major in the upper 16 bits, minor in the lower ones.
 */
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

/* wchar_t of IDL: a UTF-16 code unit. */
#ifdef __cplusplus
typedef char16_t obvia_wchar;
#else
typedef uint16_t obvia_wchar;
#endif

/* The underlying type of enumerations: 32 bits. In C++, an enumeration of this type can hold any
 * 32-bit value. */
#ifdef __cplusplus
#define OBVIA_ENUM : int32_t
#else
#define OBVIA_ENUM
#endif

/* Compile-time checks that a type has the layout of its IDL: the natural layout of a 64-bit
 * machine. */
#ifdef __cplusplus
#define OBVIA_ASSERT(condition, text) static_assert(condition, text)
#else
#define OBVIA_ASSERT(condition, text) _Static_assert(condition, text)
#endif
#define OBVIA_HAS_SIZE(type, bytes) OBVIA_ASSERT(sizeof(type) == (bytes), "the size of " #type)
#define OBVIA_LIES_AT(type, member, at) OBVIA_ASSERT(offsetof(type, member) == (at), "the offset of " #member " in " #type)

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

/* IUnknown, for C and for C++. C++ code can define CINTERFACE to get C's declarations. */
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

/* Whether two GUIDs are equal. */
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

/* The compiler's description of an interface. NAME_stubs.c defines one for each interface of
 * NAME.idl: its name is the interface's name with the suffix _INFO. */
typedef struct obvia_interface obvia_interface;

/* The IID, description and base of an interface for C++ code: NAME.h specialises the template for
 * each interface. */
#ifdef __cplusplus
extern "C++" {
template <class Interface> struct obvia_interface_of;
/* The functions that free and copy a structure with pointers, for C++ code: NAME.h specialises the
 * template for each such structure. */
template <class Structure> struct obvia_structure_of;
}
#endif

/* ---- Exporting and connecting ---- */

/* An exported name. */
typedef struct obvia_export_entry obvia_export_entry;

/* Exports an object under a name on this host. The runtime serves each connection on a thread of
 * its own, so the object must support concurrent calls. The object declares this support by
 * answering QueryInterface for IAgileObject; any other object is refused with E_INVALIDARG.
 * obvia_unexport() ends the export and releases the export's reference to the object. */
HRESULT obvia_export(const char *name, const obvia_interface *interface, void *object, obvia_export_entry **entry);

/* Ends an export. References of clients stay valid. NULL is ignored. */
void obvia_unexport(obvia_export_entry *entry);

/* Accepts connections at a further binding: over a network, as in `ncacn_vi_udp:[5555]`, or on this
 * host under a name for obvia_bind(), as in `ncacn_vi_shm:[NAME]`. If `bound` is not NULL, `*bound`
 * gets the binding with its actual endpoint. The caller frees this string. */
HRESULT obvia_listen(const char *binding, char **bound);

/* Sleeps until the process ends. A server calls this function at the end of main(). */
void obvia_wait(void);

/* Connects to an exported object. `name` is the name of the export on this host, or a string
 * binding: `ncacn_vi_udp:host[5555,name=NAME]`. The caller releases the interface pointer. */
HRESULT obvia_connect(const char *name, const obvia_interface *interface, void **object);

/* ---- Interfaces without [object]: functions that a server has ---- */

/* An interface that this process serves. */
typedef struct obvia_serving obvia_serving;

/* Serves an interface, whose functions `object` performs: for every caller if `uuid` is NULL,
 * otherwise for callers whose binding contains this object UUID. As for obvia_export(), the object
 * must support concurrent calls. obvia_end_serving() ends the service and releases the service's
 * reference to the object. obvia_listen() determines the endpoints. */
HRESULT obvia_serve_interface(const GUID *uuid, const obvia_interface *interface, void *object, obvia_serving **serving);

/* Ends a service. NULL is ignored. */
void obvia_end_serving(obvia_serving *serving);

/* Listens on the endpoints of an interface's endpoint attribute, as obvia_listen() does. If `bound`
 * is not NULL, `*bound` gets the bindings, one per line. The caller frees this string. */
HRESULT obvia_listen_for(const obvia_interface *interface, char **bound);

/* Endpoints that are registered with the endpoint mapper. */
typedef struct obvia_registration obvia_registration;

/* Registers the interfaces that this process currently serves with the endpoint mapper of this
 * host, for all ncacn_ip_tcp, ncadg_ip_udp and ncalrpc endpoints of this process. If `mapper` is
 * NULL, the mapper is `ncalrpc:[epmapper]`. `annotation` is a text for users, or NULL. The
 * registration lasts until obvia_unregister_endpoints(), or until this process ends. */
HRESULT obvia_register_endpoints(const char *mapper, const char *annotation, obvia_registration **registration);

/* Ends a registration. NULL is ignored. */
void obvia_unregister_endpoints(obvia_registration *registration);

/* Binds to an interface that a server serves. `binding` is the server's binding, as in
 * `ncacn_vi_udp:host[5555]` or `ncacn_vi_shm:[NAME]`. An object UUID and `@` may precede the
 * protocol sequence. If the binding has no endpoint, as in `ncacn_ip_tcp:host`, the endpoint comes
 * from the interface's endpoint attribute, or else from the host's endpoint mapper. The caller
 * releases the interface pointer. */
HRESULT obvia_bind(const char *binding, const obvia_interface *interface, void **server);

/* A [context_handle]: a server's name for a state that it keeps for a client. All zeros mean no
 * state. */
typedef struct obvia_context {
    uint32_t attributes;
    GUID uuid;
} obvia_context;

/* Keeps a state for the caller of the method that runs on this thread. `rundown` is called once
 * with the state, on any thread, when the handle is destroyed or the caller's process ends. If
 * methods of other threads still use the state at that time, `rundown` is called after they have
 * returned. If this function fails, `rundown` is not called, and the state is still the program's.
 */
HRESULT obvia_new_context(void *state, void (*rundown)(void *state), obvia_context *handle);

/* Stores the state of a handle in `*state`. The handle must belong to the caller of the method that
 * runs on this thread, and must have been made with this `rundown`; otherwise the result is
 * RPC_X_SS_CONTEXT_MISMATCH. If the caller is another process and the handle is an argument of the
 * method's call, the state stays valid until the method returns or destroys the handle itself.
 * Other calls of the client cannot end the state earlier. */
HRESULT obvia_context_state(const obvia_context *handle, void (*rundown)(void *state), void **state);

/* Destroys a handle, and sets `*handle` to zeros. */
HRESULT obvia_end_context(obvia_context *handle);

/* IAgileObject: any thread may use an object that answers QueryInterface for it. The interface has
 * no methods of its own. */
extern const IID IID_IAgileObject;

/* ---- Classes ---- */

/* Creates an object of a class: `*object` gets an interface pointer, which the caller owns. */
typedef HRESULT (*obvia_make)(void *context, void **object);

/* A class whose objects this process creates for clients. */
typedef struct obvia_class_registration obvia_class_registration;

/* Registers a class, whose objects this process then creates for its clients
 * (CoRegisterClassObject). The clients are processes that connect to an endpoint of this process,
 * and the processes of this user on this host. `make` is called once for each object, on any
 * thread. Clients may query objects for all interfaces of the IDL file that declares `interface`,
 * and of the files that it imports. `class_object` is the class object for
 * obvia_get_class_object(); if it is NULL, an IClassFactory is used. `release`, unless it is NULL,
 * is called once, after the last call of `make`, or when this function fails. The class stays
 * registered until obvia_revoke_class(). */
HRESULT obvia_register_class(const CLSID *class_id, IUnknown *class_object, const obvia_interface *interface, obvia_make make, void *context,
                             void (*release)(void *context), obvia_class_registration **registration);

/* Revokes a class. Existing objects stay. NULL is ignored. */
void obvia_revoke_class(obvia_class_registration *registration);

/* Creates an object of a class (CoCreateInstanceEx). If this process has registered the class, it
 * creates the object itself. Otherwise `server`, which is a name or a string binding as for
 * obvia_connect(), determines the process. If `server` is NULL, the registration of the class on
 * this host leads to a shared library, a running process, a process that the SCM starts, or another
 * host. Fails with REGDB_E_CLASSNOTREG if no process creates objects of the class. The caller
 * releases the object. */
HRESULT obvia_create_instance(const CLSID *class_id, const char *server, const obvia_interface *interface, void **object);

/* The contexts in which objects of a class may be created (CLSCTX). */
#define OBVIA_INPROC_SERVER 0x1u
#define OBVIA_LOCAL_SERVER 0x4u
#define OBVIA_REMOTE_SERVER 0x10u

/* Creates an object of a class by a registration on this host. `contexts` are the allowed contexts,
 * combined by |. */
HRESULT obvia_create_instance_in(const CLSID *class_id, uint32_t contexts, const obvia_interface *interface, void **object);

/* Returns the class object of a class (CoGetClassObject). `server` has the same meaning as for
 * obvia_create_instance(). */
HRESULT obvia_get_class_object(const CLSID *class_id, const char *server, const obvia_interface *interface, void **object);

/* Returns the class that is registered under a name on this host (CLSIDFromProgID). */
HRESULT obvia_class_named(const char *name, CLSID *class_id);

/* Serves until this process has been idle for `milliseconds`. A server that is started on demand
 * calls this function at the end of main(). On return, no more objects are created, and the next
 * activation starts a new server. */
HRESULT obvia_serve_until_idle(uint32_t milliseconds);

/* A lock that keeps this process from counting as idle (CoAddRefServerProcess). */
typedef struct obvia_server_lock obvia_server_lock;
HRESULT obvia_lock_server(obvia_server_lock **lock);
/* Releases a lock. NULL is ignored. */
void obvia_unlock_server(obvia_server_lock *lock);

/* ---- Objects that are called over virtual interfaces ---- */

/* IMarshal: an object that answers QueryInterface for it marshals its references itself. */
extern const IID IID_IMarshal;

/* Creates a marshaler that becomes a part of an object: the object is then called over virtual
 * interfaces, even by clients that reach its process by another binding. The object must answer
 * QueryInterface for IID_IMarshal by querying this part, must not give the part to other code in
 * any other way, and must release the part in its destructor. `outer` is the object; the marshaler
 * does not own a reference to it. `endpoint` is the process's endpoint for objects with such a
 * marshaler, as in `ncacn_vi_fabric:10.0.0.1`. The endpoint is opened when such an object is first
 * sent to another host. If `endpoint` is NULL or empty, ncacn_vi_udp is used at those addresses on
 * which the process listens with ncacn_ip_tcp, but not with a protocol sequence of virtual
 * interfaces. */
HRESULT obvia_vi_marshaler(IUnknown *outer, const char *endpoint, IUnknown **marshaler);

/* Stores in `*binding` the string binding over which the calls of an interface pointer go, or NULL
 * for an object of this process. The caller frees the string with obvia_free(). */
HRESULT obvia_binding_of(IUnknown *object, char **binding);

/* ---- Memory that calls pass by reference ---- */

/* The access that the receiving processes have to the memory. */
typedef enum obvia_access {
    OBVIA_READ, /* read: the kernel allows nothing else */
    OBVIA_WRITE /* read and write at any time from the first call with the memory to its release */
} obvia_access;

/* Allocates memory that calls pass by reference: an array in this memory is not copied if its
 * parameter has the attribute zero_copy or map. The memory is zeroed and page-aligned. Pages are
 * allocated when they are first touched. A process that receives such an array maps the whole
 * memory, so data of different confidentiality belongs in different memory. The mapping lasts as
 * described at obvia_unshare(). */
HRESULT obvia_share(size_t bytes, obvia_access access, void **memory);

/* Frees memory of obvia_share() in this process. No call may be using the memory. NULL is ignored.
 *
 * A process that has received the memory over a connection keeps it mapped until a later call over
 * this connection passes memory of obvia_share() that is new to the process, or until the
 * connection ends. Each calling thread has a connection of its own to each process. */
void obvia_unshare(void *memory);

/* ---- Time, waiting, cancelling ---- */

typedef enum obvia_waiting {
    OBVIA_POLL,     /* poll: the lowest latency, at the cost of a whole processor */
    OBVIA_BLOCK,    /* sleep in the kernel at once */
    OBVIA_ADAPTIVE  /* poll for some tens of microseconds, then sleep: the default */
} obvia_waiting;

/* Sets how this process waits for messages on connections that are made from now on. */
void obvia_set_waiting(obvia_waiting waiting);

/* The default time limit of calls: 30 seconds. This default is not sent to servers. */
#define OBVIA_DEFAULT_TIMEOUT UINT32_MAX

/* Sets the time limit of each later call of this thread in milliseconds. Returns the previous
 * limit, which is OBVIA_DEFAULT_TIMEOUT at first. */
uint32_t obvia_set_timeout(uint32_t milliseconds);

/* A canceller of other threads' calls. */
typedef struct obvia_canceller obvia_canceller;

/* Creates a canceller. Any thread may free the canceller when no thread uses it any more. */
obvia_canceller *obvia_new_canceller(void);
/* Frees a canceller. NULL is ignored. */
void obvia_free_canceller(obvia_canceller *canceller);

/* Adds a canceller to this thread: obvia_cancel() of the canceller then ends the thread's calls
 * with RPC_E_CALL_CANCELED, both the call in progress and later calls. A thread may have several
 * cancellers, each of which ends the thread's calls. Several threads may have the same canceller.
 * NULL is ignored.
 *
 * Methods are not interrupted: methods in other processes can poll obvia_is_cancelled(). Three
 * waits cannot be cancelled: the resolution of a host's name, the wait for a host to accept a
 * connection, and the wait for a file system to open the directory of names. The last of these
 * waits takes at most ten seconds.
 */
void obvia_add_canceller(obvia_canceller *canceller);

/* Removes a canceller from this thread: obvia_cancel() of this canceller then no longer ends the
 * thread's calls. A canceller that was added twice is removed by two calls. Cancellers may be
 * removed in any order. The end of the thread removes its remaining cancellers. NULL, and a
 * canceller that the thread does not have, are ignored. */
void obvia_remove_canceller(obvia_canceller *canceller);

/* Cancels the calls of all threads that have the canceller. Any thread may call this function, any
 * number of times. NULL is ignored. */
void obvia_cancel(obvia_canceller *canceller);

/* Whether the caller of the method that runs on this thread has given up or ended. */
int obvia_is_cancelled(void);

/* ---- Security of calls over networks and ncalrpc ---- */

/* The protection of a call. Each level includes the previous ones. A binding has its level as an
 * option, as in `ncacn_ip_tcp:host[port,security=privacy]`. In obvia_connect() and obvia_bind(),
 * this is the requested level; in obvia_listen(), it is the minimum level. */
typedef enum obvia_level {
    OBVIA_SECURITY_NONE = 1, /* no protection */
    OBVIA_SECURITY_CONNECT = 2, /* the caller authenticates itself when it connects */
    OBVIA_SECURITY_INTEGRITY = 5, /* calls and results are signed */
    OBVIA_SECURITY_PRIVACY = 6 /* arguments and results are encrypted */
} obvia_level;

/* Sets the credentials of this process for later connections by bindings that ask for security.
 * `domain` may be NULL. The process keeps a hash of the password instead of the password. To an
 * attacker the hash is worth as much as the password. */
HRESULT obvia_set_credentials(const char *domain, const char *user, const char *password);

/* A user who may call this process. */
typedef struct obvia_account {
    const char *user;
    const char *password;
} obvia_account;

/* Sets the accounts that may call this process where authentication is required. From the next
 * connection on, these accounts replace the previous ones. Names of users are compared without
 * regard to case. */
HRESULT obvia_set_accounts(const obvia_account *accounts, size_t count);

/* The value of `uid` for a caller whose user the kernel does not report. */
#define OBVIA_NOBODY UINT32_MAX

/* The caller of a method. */
typedef struct obvia_caller {
    uint32_t process;  /* the ID of a process of this host, this one included, as the kernel
                        * reports it; else 0 */
    uint32_t uid;      /* the user of that process, as the kernel reports it; else OBVIA_NOBODY */
    int32_t level;     /* an obvia_level: the protection of the call */
    char *host;        /* the address of a caller over a network; else NULL */
    char *domain;      /* the authenticated account, "" without a domain; NULL below OBVIA_SECURITY_CONNECT */
    char *user;
} obvia_caller;

/* Stores the caller of the method that runs on this thread in `*caller`. obvia_clear_caller() frees
 * the strings of the structure. */
HRESULT obvia_get_caller(obvia_caller *caller);
/* Frees the strings of the structure. NULL is ignored. */
void obvia_clear_caller(obvia_caller *caller);

/* ---- Access rules: docs/access.md ---- */

/* An access rule. `permits` returns a value other than 0 if the caller has access. Any thread may
 * call `permits`. The function runs before the arguments of a call are read, so it must decide from
 * data in memory, and must make no calls itself. The answer applies to the caller's connection
 * until any rule is changed. */
typedef struct obvia_callers {
    int (*permits)(void *context, const obvia_caller *caller);
    void *context;
    void (*release)(void *context); /* called once, on removal or refusal; may be NULL */
} obvia_callers;

/* Sets the access rule of an object, from the next call on. The rule applies to calls from other
 * processes: calls by any of the object's interfaces, and calls of functions that the object
 * serves. The rule takes precedence over the default rule; NULL removes the object's rule. Callers
 * that the rule refuses get E_ACCESSDENIED, and are logged. Objects without IWeakReferenceSource,
 * such as those of obvia.hpp, are kept alive until the rule is removed. */
HRESULT obvia_set_access(void *object, const obvia_callers *callers);

/* Sets the access rule of objects and functions without a rule of their own. By default, every
 * caller that reaches this process has access. */
HRESULT obvia_set_default_access(const obvia_callers *callers);

/* Accepts connections from processes of other users over shared memory and ncalrpc. Fails with
 * E_INVALIDARG if obvia_set_default_access() has not been called, or if this process has already
 * exported an object or listened. The other users must have access to the directory of names. For
 * each of these users, the directory must belong to the superuser or to that user. */
HRESULT obvia_admit_other_users(void);

/* Sets the function that receives a line of text for each refused request. The line has no control
 * characters. The number of lines for each caller is limited. Any thread may call the function;
 * `release` is called as for obvia_callers. Until a function is set, the lines go to the standard
 * error. */
HRESULT obvia_set_audit(void (*audit)(void *context, const char *line), void *context, void (*release)(void *context));

/* ---- Errors and memory ---- */

/* Returns the description of this thread's last failure if that failure had the HRESULT `result`.
 * Otherwise returns the name of `result`, or its number if it has no name. Never returns NULL. The
 * text is valid until the thread's next call of this function. */
const char *obvia_error_text(HRESULT result);

/* Sets the text that describes the failure of the method that runs now. Returns `result`. */
HRESULT obvia_fail(HRESULT result, const char *text);

/* Sets the description of the failure of the method that runs now, from a text that was not written
 * for callers, such as an exception's text. obvia_set_exception_texts() determines whether callers
 * get the text. If that function was not called, callers get the text if `by_default` is not 0.
 * Processes of other users and on other hosts never get the text, because it may contain
 * confidential values. */
HRESULT obvia_fail_unforeseen(HRESULT result, const char *text, int by_default);

/* Sets whether callers get the texts of obvia_fail_unforeseen() and of panics in Rust. By default,
 * callers of methods in C++ get these texts if the program was compiled with assertions (without
 * NDEBUG). */
void obvia_set_exception_texts(int are_told);

/* The details of a failure beside its HRESULT: COM's error information. Texts are UTF-8; an unknown
 * text is "". */
typedef struct obvia_error_info {
    const char *description;
    const char *source; /* the name of the object or component that failed */
    const char *help_file;
    uint32_t help_context; /* the topic in the help file */
} obvia_error_info;

/* Stores the details of this thread's last failure in `*info` if the failure had the HRESULT
 * `result`. Otherwise the texts are "", and help_context is 0. The texts are valid until the
 * thread's next call of this function. */
void obvia_get_error_info(HRESULT result, obvia_error_info *info);

/* Sets all details of the failure of the method that runs now, as obvia_fail() does. A text that is
 * NULL or not UTF-8 becomes "". */
HRESULT obvia_fail_with(HRESULT result, const obvia_error_info *info);

/* Memory for results that the caller of a method frees: the C library's malloc() and free(). */
void *obvia_alloc(size_t bytes);
void obvia_free(void *memory);

#ifdef __cplusplus
}
#endif

#endif
