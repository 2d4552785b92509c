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
    st_ctime st_mtime unix va_arg va_copy va_end va_start"
        .split(' ')
        .collect()
});

/// Functions, types and variables. Only declarations in the same scope must not have these names.
pub(super) static LIBRARY: Words = Words::new(|| {
    "\
    CLSID FILE IID REFGUID REFIID a64l abort abs aligned_alloc arc4random arc4random_buf arc4random_uniform \
    asctime asctime_r asprintf at_quick_exit atexit atof atoi atol atoll basename bcmp bcopy blkcnt64_t blkcnt_t \
    blksize_t bsearch btowc bzero caddr_t calloc canonicalize_file_name clearenv clearerr clearerr_unlocked \
    clock clock_adjtime clock_getcpuclockid clock_getres clock_gettime clock_nanosleep clock_settime clock_t \
    clockid_t clone comparison_fn_t cookie_close_function_t cookie_io_functions_t cookie_read_function_t \
    cookie_seek_function_t cookie_write_function_t cpu_set_t ctermid ctime ctime_r cuserid daddr_t daylight \
    decimal_point dev_t difftime div div_t dprintf drand48 drand48_data drand48_r duplocale dysize ecvt ecvt_r \
    erand48 erand48_r errno error_t exit explicit_bzero fclose fcloseall fcvt fcvt_r fd_mask fd_set fdopen feof \
    feof_unlocked ferror ferror_unlocked fflush fflush_unlocked ffs ffsl ffsll fgetc fgetc_unlocked fgetpos \
    fgetpos64 fgets fgets_unlocked fgetwc fgetwc_unlocked fgetws fgetws_unlocked fileno fileno_unlocked \
    flockfile fmemopen fopen fopen64 fopencookie fpos64_t fpos_t fprintf fputc fputc_unlocked fputs \
    fputs_unlocked fputwc fputwc_unlocked fputws fputws_unlocked fread fread_unlocked free freelocale freopen \
    freopen64 fsblkcnt64_t fsblkcnt_t fscanf fseek fseeko fseeko64 fsetpos fsetpos64 fsfilcnt64_t fsfilcnt_t \
    fsid_t ftell ftello ftello64 ftrylockfile funlockfile fwide fwprintf fwrite fwrite_unlocked fwscanf gcvt \
    getc getc_unlocked getchar getchar_unlocked getcpu getdate getdate_err getdate_r getdelim getenv getline \
    getloadavg getpt getsubopt getw getwc getwc_unlocked getwchar getwchar_unlocked gid_t gmtime gmtime_r \
    grantpt id_t index initstate initstate_r ino64_t ino_t int16_t int32_t int64_t int8_t int_fast16_t \
    int_fast32_t int_fast64_t int_fast8_t int_least16_t int_least32_t int_least64_t int_least8_t intmax_t \
    intptr_t isalnum isalnum_l isalpha isalpha_l isascii isblank isblank_l iscntrl iscntrl_l isctype isdigit \
    isdigit_l isgraph isgraph_l islower islower_l isprint isprint_l ispunct ispunct_l isspace isspace_l isupper \
    isupper_l isxdigit isxdigit_l itimerspec jrand48 jrand48_r key_t l64a labs lcong48 lcong48_r lconv ldiv \
    ldiv_t llabs lldiv lldiv_t locale_t localeconv localtime localtime_r loff_t lrand48 lrand48_r malloc \
    max_align_t mblen mbrlen mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstate_t mbstowcs mbtowc memccpy memchr \
    memcmp memcpy memfrob memmem memmove mempcpy memrchr memset mkdtemp mkostemp mkostemp64 mkostemps \
    mkostemps64 mkstemp mkstemp64 mkstemps mkstemps64 mktemp mktime mode_t mrand48 mrand48_r nanosleep newlocale \
    nlink_t nrand48 nrand48_r nullptr_t obstack obstack_printf obstack_vprintf off64_t off_t on_exit \
    open_memstream open_wmemstream pclose perror pid_t popen posix_memalign posix_openpt printf \
    program_invocation_name program_invocation_short_name pselect ptrdiff_t ptsname ptsname_r putc putc_unlocked \
    putchar putchar_unlocked putenv puts putw putwc putwc_unlocked putwchar putwchar_unlocked qecvt qecvt_r \
    qfcvt qfcvt_r qgcvt qsort qsort_r quad_t quick_exit rand rand_r random random_data random_r rawmemchr \
    realloc reallocarray realpath remove rename renameat renameat2 rewind rindex rpmatch scanf \
    sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getcpu sched_getparam \
    sched_getscheduler sched_param sched_priority sched_rr_get_interval sched_setaffinity sched_setparam \
    sched_setscheduler sched_yield secure_getenv seed48 seed48_r select setbuf setbuffer setenv setlinebuf \
    setlocale setns setstate setstate_r setvbuf sigabbrev_np sigdescr_np sigevent sigset_t size_t snprintf \
    sprintf srand srand48 srand48_r srandom srandom_r sscanf ssize_t stderr stdin stdout stpcpy stpncpy \
    strcasecmp strcasecmp_l strcasestr strcat strchr strchrnul strcmp strcoll strcoll_l strcpy strcspn strdup \
    strerror strerror_l strerror_r strerrordesc_np strerrorname_np strfromd strfromf strfroml strfry strftime \
    strftime_l strlen strncasecmp strncasecmp_l strncat strncmp strncpy strndup strnlen strpbrk strptime \
    strptime_l strrchr strsep strsignal strspn strstr strtod strtod_l strtof strtof_l strtok strtok_r strtol \
    strtol_l strtold strtold_l strtoll strtoll_l strtoq strtoul strtoul_l strtoull strtoull_l strtouq strverscmp \
    strxfrm strxfrm_l suseconds_t swprintf swscanf system tempnam time time_t timegm timelocal timer_create \
    timer_delete timer_getoverrun timer_gettime timer_settime timer_t timespec timespec_get timespec_getres \
    timeval timex timezone tm tmpfile tmpfile64 tmpnam tmpnam_r toascii tolower tolower_l toupper toupper_l \
    tzname tzset u_char u_int u_int16_t u_int32_t u_int64_t u_int8_t u_long u_quad_t u_short uid_t uint uint16_t \
    uint32_t uint64_t uint8_t uint_fast16_t uint_fast32_t uint_fast64_t uint_fast8_t uint_least16_t \
    uint_least32_t uint_least64_t uint_least8_t uintmax_t uintptr_t ulong ungetc ungetwc unlockpt unsetenv \
    unshare useconds_t uselocale ushort va_list valloc vasprintf vdprintf vfprintf vfscanf vfwprintf vfwscanf \
    vprintf vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf wchar_t wcpcpy wcpncpy wcrtomb \
    wcscasecmp wcscasecmp_l wcscat wcschr wcschrnul wcscmp wcscoll wcscoll_l wcscpy wcscspn wcsdup wcsftime \
    wcsftime_l wcslen wcsncasecmp wcsncasecmp_l wcsncat wcsncmp wcsncpy wcsnlen wcsnrtombs wcspbrk wcsrchr \
    wcsrtombs wcsspn wcsstr wcstod wcstod_l wcstof wcstof_l wcstok wcstol wcstol_l wcstold wcstold_l wcstoll \
    wcstoll_l wcstombs wcstoq wcstoul wcstoul_l wcstoull wcstoull_l wcstouq wcswcs wcswidth wcsxfrm wcsxfrm_l \
    wctob wctomb wcwidth wint_t wmemchr wmemcmp wmemcpy wmemmove wmempcpy wmemset wprintf wscanf"
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
    apart(raw, |stem| TAKEN.contains(&stem) || stem == "obvia_holder")
}
