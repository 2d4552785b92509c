//! Names of the standard headers and of libobvia.

use crate::emit::Words;
use crate::model::apart;

/// Macros, also those of compilers and of POSIX's headers. No declaration may have such a name,
/// because macros apply everywhere.
pub(super) static MACROS: Words = Words::new(|| {
    "\
    CO_E_CLASSSTRING CO_E_SERVER_EXEC_FAILURE EPT_S_CANT_PERFORM_OP EPT_S_NOT_REGISTERED EXIT_FAILURE \
    EXIT_SUCCESS E_ABORT E_ACCESSDENIED E_FAIL E_INVALIDARG E_NOINTERFACE E_NOTIMPL E_OUTOFMEMORY E_POINTER \
    E_UNEXPECTED FAILED GUID_DEFINED INT16_C INT16_MAX INT16_MIN INT32_C INT32_MAX INT32_MIN INT64_C INT64_MAX \
    INT64_MIN INT8_C INT8_MAX INT8_MIN INTMAX_C INTMAX_MAX INTMAX_MIN INTPTR_MAX INTPTR_MIN INT_FAST16_MAX \
    INT_FAST16_MIN INT_FAST32_MAX INT_FAST32_MIN INT_FAST64_MAX INT_FAST64_MIN INT_FAST8_MAX INT_FAST8_MIN \
    INT_LEAST16_MAX INT_LEAST16_MIN INT_LEAST32_MAX INT_LEAST32_MIN INT_LEAST64_MAX INT_LEAST64_MIN \
    INT_LEAST8_MAX INT_LEAST8_MIN MB_CUR_MAX PTRDIFF_MAX PTRDIFF_MIN RAND_MAX REGDB_E_CLASSNOTREG \
    REGDB_E_IIDNOTREG RPC_E_CALL_CANCELED RPC_E_DISCONNECTED RPC_E_INVALID_DATA RPC_E_INVALID_OBJREF \
    RPC_E_SERVERFAULT RPC_E_TIMEOUT RPC_E_VERSION_MISMATCH RPC_S_NO_BINDINGS RPC_S_SEC_PKG_ERROR \
    RPC_S_SERVER_UNAVAILABLE RPC_S_TYPE_ALREADY_REGISTERED RPC_S_UNKNOWN_AUTHN_SERVICE RPC_S_UNKNOWN_IF \
    RPC_X_SS_CONTEXT_MISMATCH SIG_ATOMIC_MAX SIG_ATOMIC_MIN SIZE_MAX SUCCEEDED S_FALSE S_OK UINT16_C UINT16_MAX \
    UINT32_C UINT32_MAX UINT64_C UINT64_MAX UINT8_C UINT8_MAX UINTMAX_C UINTMAX_MAX UINTPTR_MAX UINT_FAST16_MAX \
    UINT_FAST32_MAX UINT_FAST64_MAX UINT_FAST8_MAX UINT_LEAST16_MAX UINT_LEAST32_MAX UINT_LEAST64_MAX \
    UINT_LEAST8_MAX WCHAR_MAX WCHAR_MIN WINT_MAX WINT_MIN alloca assert be16toh be32toh be64toh htobe16 htobe32 \
    htobe64 htole16 htole32 htole64 le16toh le32toh le64toh offsetof strdupa strndupa \
    complex d_fileno h_addr h_errno i386 linux major makedev minor noreturn s6_addr sa_handler sa_sigaction si_addr \
    si_band si_fd si_int si_overrun si_pid si_ptr si_status si_stime si_timerid si_uid si_utime si_value st_atime \
    st_ctime st_mtime unix va_arg va_copy va_end va_start \
    pthread_cleanup_pop pthread_cleanup_pop_restore_np pthread_cleanup_push pthread_cleanup_push_defer_np \
    si_addr_lsb si_arch si_call_addr si_lower si_pkey si_syscall si_upper sigev_notify_attributes \
    sigev_notify_function sigmask"
        .split(' ')
        .collect()
});

/// Functions, types and variables of the standard headers and of those headers of POSIX that most
/// programs include: `fcntl.h`, `poll.h`, `pthread.h`, `signal.h`, `sys/socket.h`, `sys/stat.h` and
/// `unistd.h`. Only declarations in the same scope must not have these names.
pub(super) static LIBRARY: Words = Words::new(|| {
    "\
    CLSID FILE IID REFGUID REFIID a64l abort abs accept accept4 access acct alarm aligned_alloc arc4random \
    arc4random_buf arc4random_uniform asctime asctime_r asprintf at_quick_exit atexit atof atoi atol atoll \
    basename bcmp bcopy bind blkcnt64_t blkcnt_t blksize_t brk bsearch btowc bzero caddr_t calloc \
    canonicalize_file_name chdir chmod chown chroot clearenv clearerr clearerr_unlocked clock clock_adjtime \
    clock_getcpuclockid clock_getres clock_gettime clock_nanosleep clock_settime clock_t clockid_t clone close \
    close_range closefrom cmsghdr comparison_fn_t confstr connect cookie_close_function_t cookie_io_functions_t \
    cookie_read_function_t cookie_seek_function_t cookie_write_function_t copy_file_range cpu_set_t creat \
    creat64 crypt ctermid ctime ctime_r cuserid daddr_t daemon daylight decimal_point dev_t difftime div div_t \
    dprintf drand48 drand48_data drand48_r dup dup2 dup3 duplocale dysize eaccess ecvt ecvt_r endusershell \
    environ erand48 erand48_r errno error_t euidaccess execl execle execlp execv execve execveat execvp execvpe \
    exit explicit_bzero f_owner_ex faccessat fallocate fallocate64 fchdir fchmod fchmodat fchown fchownat fclose \
    fcloseall fcntl fcntl64 fcvt fcvt_r fd_mask fd_set fdatasync fdopen feof feof_unlocked ferror \
    ferror_unlocked fexecve fflush fflush_unlocked ffs ffsl ffsll fgetc fgetc_unlocked fgetpos fgetpos64 fgets \
    fgets_unlocked fgetwc fgetwc_unlocked fgetws fgetws_unlocked file_handle fileno fileno_unlocked flock \
    flock64 flockfile fmemopen fopen fopen64 fopencookie fork fpathconf fpos64_t fpos_t fpregset_t fprintf fputc \
    fputc_unlocked fputs fputs_unlocked fputwc fputwc_unlocked fputws fputws_unlocked fread fread_unlocked free \
    freelocale freopen freopen64 fsblkcnt64_t fsblkcnt_t fscanf fseek fseeko fseeko64 fsetpos fsetpos64 \
    fsfilcnt64_t fsfilcnt_t fsid_t fstat fstat64 fstatat fstatat64 fsync ftell ftello ftello64 ftruncate \
    ftruncate64 ftrylockfile funlockfile futimens fwide fwprintf fwrite fwrite_unlocked fwscanf gcvt \
    get_current_dir_name getc getc_unlocked getchar getchar_unlocked getcpu getcwd getdate getdate_err getdate_r \
    getdelim getdomainname getdtablesize getegid getentropy getenv geteuid getgid getgroups gethostid \
    gethostname getline getloadavg getlogin getlogin_r getopt getpagesize getpass getpeername getpgid getpgrp \
    getpid getppid getpt getresgid getresuid getsid getsockname getsockopt getsubopt gettid getuid getumask \
    getusershell getw getwc getwc_unlocked getwchar getwchar_unlocked getwd gid_t gmtime gmtime_r grantpt greg_t \
    gregset_t group_member gsignal id_t index initstate initstate_r ino64_t ino_t int16_t int32_t int64_t int8_t \
    int_fast16_t int_fast32_t int_fast64_t int_fast8_t int_least16_t int_least32_t int_least64_t int_least8_t \
    intmax_t intptr_t iovec isalnum isalnum_l isalpha isalpha_l isascii isatty isblank isblank_l iscntrl \
    iscntrl_l isctype isdigit isdigit_l isfdtype isgraph isgraph_l islower islower_l isprint isprint_l ispunct \
    ispunct_l isspace isspace_l isupper isupper_l isxdigit isxdigit_l itimerspec jrand48 jrand48_r key_t kill \
    killpg l64a labs lchmod lchown lcong48 lcong48_r lconv ldiv ldiv_t linger link linkat listen llabs lldiv \
    lldiv_t locale_t localeconv localtime localtime_r lockf lockf64 loff_t lrand48 lrand48_r lseek lseek64 lstat \
    lstat64 malloc max_align_t mblen mbrlen mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstate_t mbstowcs mbtowc \
    mcontext_t memccpy memchr memcmp memcpy memfrob memmem memmove mempcpy memrchr memset mkdir mkdirat mkdtemp \
    mkfifo mkfifoat mknod mknodat mkostemp mkostemp64 mkostemps mkostemps64 mkstemp mkstemp64 mkstemps \
    mkstemps64 mktemp mktime mmsghdr mode_t mrand48 mrand48_r msghdr name_to_handle_at nanosleep newlocale \
    nfds_t nice nlink_t nrand48 nrand48_r nullptr_t obstack obstack_printf obstack_vprintf off64_t off_t on_exit \
    open open64 open_by_handle_at open_memstream open_wmemstream openat openat64 optarg opterr optind optopt \
    osockaddr pathconf pause pclose perror pid_t pipe pipe2 poll pollfd popen posix_fadvise posix_fadvise64 \
    posix_fallocate posix_fallocate64 posix_memalign posix_openpt ppoll pread pread64 printf profil \
    program_invocation_name program_invocation_short_name pselect psiginfo psignal pthread_atfork \
    pthread_attr_destroy pthread_attr_getaffinity_np pthread_attr_getdetachstate pthread_attr_getguardsize \
    pthread_attr_getinheritsched pthread_attr_getschedparam pthread_attr_getschedpolicy pthread_attr_getscope \
    pthread_attr_getsigmask_np pthread_attr_getstack pthread_attr_getstackaddr pthread_attr_getstacksize \
    pthread_attr_init pthread_attr_setaffinity_np pthread_attr_setdetachstate pthread_attr_setguardsize \
    pthread_attr_setinheritsched pthread_attr_setschedparam pthread_attr_setschedpolicy pthread_attr_setscope \
    pthread_attr_setsigmask_np pthread_attr_setstack pthread_attr_setstackaddr pthread_attr_setstacksize \
    pthread_attr_t pthread_barrier_destroy pthread_barrier_init pthread_barrier_t pthread_barrier_wait \
    pthread_barrierattr_destroy pthread_barrierattr_getpshared pthread_barrierattr_init \
    pthread_barrierattr_setpshared pthread_barrierattr_t pthread_cancel pthread_clockjoin_np \
    pthread_cond_broadcast pthread_cond_clockwait pthread_cond_destroy pthread_cond_init pthread_cond_signal \
    pthread_cond_t pthread_cond_timedwait pthread_cond_wait pthread_condattr_destroy pthread_condattr_getclock \
    pthread_condattr_getpshared pthread_condattr_init pthread_condattr_setclock pthread_condattr_setpshared \
    pthread_condattr_t pthread_create pthread_detach pthread_equal pthread_exit pthread_getaffinity_np \
    pthread_getattr_default_np pthread_getattr_np pthread_getconcurrency pthread_getcpuclockid \
    pthread_getname_np pthread_getschedparam pthread_getspecific pthread_join pthread_key_create \
    pthread_key_delete pthread_key_t pthread_kill pthread_mutex_clocklock pthread_mutex_consistent \
    pthread_mutex_consistent_np pthread_mutex_destroy pthread_mutex_getprioceiling pthread_mutex_init \
    pthread_mutex_lock pthread_mutex_setprioceiling pthread_mutex_t pthread_mutex_timedlock \
    pthread_mutex_trylock pthread_mutex_unlock pthread_mutexattr_destroy pthread_mutexattr_getprioceiling \
    pthread_mutexattr_getprotocol pthread_mutexattr_getpshared pthread_mutexattr_getrobust \
    pthread_mutexattr_getrobust_np pthread_mutexattr_gettype pthread_mutexattr_init \
    pthread_mutexattr_setprioceiling pthread_mutexattr_setprotocol pthread_mutexattr_setpshared \
    pthread_mutexattr_setrobust pthread_mutexattr_setrobust_np pthread_mutexattr_settype pthread_mutexattr_t \
    pthread_once pthread_once_t pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock pthread_rwlock_destroy \
    pthread_rwlock_init pthread_rwlock_rdlock pthread_rwlock_t pthread_rwlock_timedrdlock \
    pthread_rwlock_timedwrlock pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_unlock \
    pthread_rwlock_wrlock pthread_rwlockattr_destroy pthread_rwlockattr_getkind_np pthread_rwlockattr_getpshared \
    pthread_rwlockattr_init pthread_rwlockattr_setkind_np pthread_rwlockattr_setpshared pthread_rwlockattr_t \
    pthread_self pthread_setaffinity_np pthread_setattr_default_np pthread_setcancelstate pthread_setcanceltype \
    pthread_setconcurrency pthread_setname_np pthread_setschedparam pthread_setschedprio pthread_setspecific \
    pthread_sigmask pthread_sigqueue pthread_spin_destroy pthread_spin_init pthread_spin_lock \
    pthread_spin_trylock pthread_spin_unlock pthread_spinlock_t pthread_t pthread_testcancel \
    pthread_timedjoin_np pthread_tryjoin_np pthread_yield ptrdiff_t ptsname ptsname_r putc putc_unlocked putchar \
    putchar_unlocked putenv puts putw putwc putwc_unlocked putwchar putwchar_unlocked pwrite pwrite64 qecvt \
    qecvt_r qfcvt qfcvt_r qgcvt qsort qsort_r quad_t quick_exit raise rand rand_r random random_data random_r \
    rawmemchr read readahead readlink readlinkat realloc reallocarray realpath recv recvfrom recvmmsg recvmsg \
    register_t remove rename renameat renameat2 revoke rewind rindex rmdir rpmatch sa_family_t sbrk scanf \
    sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getcpu sched_getparam \
    sched_getscheduler sched_param sched_priority sched_rr_get_interval sched_setaffinity sched_setparam \
    sched_setscheduler sched_yield secure_getenv seed48 seed48_r select send sendmmsg sendmsg sendto setbuf \
    setbuffer setdomainname setegid setenv seteuid setgid sethostid sethostname setlinebuf setlocale setlogin \
    setns setpgid setpgrp setregid setresgid setresuid setreuid setsid setsockopt setstate setstate_r setuid \
    setusershell setvbuf shutdown sig_atomic_t sig_t sigabbrev_np sigaction sigaddset sigaltstack sigandset \
    sigblock sigcontext sigdelset sigdescr_np sigemptyset sigevent sigevent_t sigfillset siggetmask sighandler_t \
    sighold sigignore siginfo_t siginterrupt sigisemptyset sigismember signal sigorset sigpause sigpending \
    sigprocmask sigqueue sigrelse sigreturn sigset sigset_t sigsetmask sigstack sigsuspend sigtimedwait sigval \
    sigval_t sigwait sigwaitinfo size_t sleep snprintf sockaddr sockaddr_storage sockatmark socket socketpair \
    socklen_t splice sprintf srand srand48 srand48_r srandom srandom_r sscanf ssignal ssize_t stack_t stat \
    stat64 statx statx_timestamp stderr stdin stdout stpcpy stpncpy strcasecmp strcasecmp_l strcasestr strcat \
    strchr strchrnul strcmp strcoll strcoll_l strcpy strcspn strdup strerror strerror_l strerror_r \
    strerrordesc_np strerrorname_np strfromd strfromf strfroml strfry strftime strftime_l strlen strncasecmp \
    strncasecmp_l strncat strncmp strncpy strndup strnlen strpbrk strptime strptime_l strrchr strsep strsignal \
    strspn strstr strtod strtod_l strtof strtof_l strtok strtok_r strtol strtol_l strtold strtold_l strtoll \
    strtoll_l strtoq strtoul strtoul_l strtoull strtoull_l strtouq strverscmp strxfrm strxfrm_l suseconds_t swab \
    swprintf swscanf symlink symlinkat sync sync_file_range syncfs syscall sysconf system sysv_signal tcgetpgrp \
    tcsetpgrp tee tempnam tgkill time time_t timegm timelocal timer_create timer_delete timer_getoverrun \
    timer_gettime timer_settime timer_t timespec timespec_get timespec_getres timeval timex timezone tm tmpfile \
    tmpfile64 tmpnam tmpnam_r toascii tolower tolower_l toupper toupper_l truncate truncate64 ttyname ttyname_r \
    ttyslot tzname tzset u_char u_int u_int16_t u_int32_t u_int64_t u_int8_t u_long u_quad_t u_short ualarm \
    ucontext_t ucred uid_t uint uint16_t uint32_t uint64_t uint8_t uint_fast16_t uint_fast32_t uint_fast64_t \
    uint_fast8_t uint_least16_t uint_least32_t uint_least64_t uint_least8_t uintmax_t uintptr_t ulong umask \
    ungetc ungetwc unlink unlinkat unlockpt unsetenv unshare useconds_t uselocale ushort usleep utimensat \
    va_list valloc vasprintf vdprintf vfork vfprintf vfscanf vfwprintf vfwscanf vhangup vmsplice vprintf vscanf \
    vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf wchar_t wcpcpy wcpncpy wcrtomb wcscasecmp \
    wcscasecmp_l wcscat wcschr wcschrnul wcscmp wcscoll wcscoll_l wcscpy wcscspn wcsdup wcsftime wcsftime_l \
    wcslen wcsncasecmp wcsncasecmp_l wcsncat wcsncmp wcsncpy wcsnlen wcsnrtombs wcspbrk wcsrchr wcsrtombs wcsspn \
    wcsstr wcstod wcstod_l wcstof wcstof_l wcstok wcstol wcstol_l wcstold wcstold_l wcstoll wcstoll_l wcstombs \
    wcstoq wcstoul wcstoul_l wcstoull wcstoull_l wcstouq wcswcs wcswidth wcsxfrm wcsxfrm_l wctob wctomb wcwidth \
    wint_t wmemchr wmemcmp wmemcpy wmemmove wmempcpy wmemset wprintf write wscanf"
        .split(' ')
        .collect()
});

/// The members of `obvia::object` and of the classes that implement objects.
const TAKEN: [&str; 14] = [
    "as",
    "as_or_null",
    "attach",
    "complete",
    "copy_to",
    "default_interface",
    "detach",
    "get",
    "in_out",
    "put",
    "put_void",
    "reset",
    "self",
    "try_as",
];

/// Returns the name of a method that differs from these members and from the template's parameter.
pub(super) fn name_of_method(raw: &str) -> String {
    apart(raw, |stem| TAKEN.contains(&stem) || raw.starts_with("Object_"))
}
