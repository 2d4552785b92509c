//! Names of the standard headers and of libobvia.

use crate::emit::Words;
use crate::model::distinct;

/// Functions, types, variables and enumerators of the standard headers and of those headers of
/// POSIX that most programs include: `arpa/inet.h`, `dirent.h`, `fcntl.h`, `netdb.h`, `poll.h`,
/// `pthread.h`, `signal.h`, `sys/mman.h`, `sys/socket.h`, `sys/stat.h`, `sys/time.h`, `sys/uio.h`,
/// `sys/wait.h` and `unistd.h`. Declarations in other scopes may have these names.
pub(super) static LIBRARY: Words = Words::new(|| {
    "\
    BUS_ADRALN BUS_ADRERR BUS_MCEERR_AO BUS_MCEERR_AR BUS_OBJERR CLD_CONTINUED CLD_DUMPED CLD_EXITED CLD_KILLED \
    CLD_STOPPED CLD_TRAPPED CLSID DIR DT_BLK DT_CHR DT_DIR DT_FIFO DT_LNK DT_REG DT_SOCK DT_UNKNOWN DT_WHT FILE \
    FPE_CONDTRAP FPE_FLTDIV FPE_FLTINV FPE_FLTOVF FPE_FLTRES FPE_FLTSUB FPE_FLTUND FPE_FLTUNK FPE_INTDIV FPE_INTOVF \
    F_OWNER_GID F_OWNER_PGRP F_OWNER_PID F_OWNER_TID IID ILL_BADIADDR ILL_BADSTK ILL_COPROC ILL_ILLADR ILL_ILLOPC \
    ILL_ILLOPN ILL_ILLTRP ILL_PRVOPC ILL_PRVREG IPPORT_BIFFUDP IPPORT_CMDSERVER IPPORT_DAYTIME IPPORT_DISCARD \
    IPPORT_ECHO IPPORT_EFSSERVER IPPORT_EXECSERVER IPPORT_FINGER IPPORT_FTP IPPORT_LOGINSERVER IPPORT_MTP \
    IPPORT_NAMESERVER IPPORT_NETSTAT IPPORT_RJE IPPORT_ROUTESERVER IPPORT_SMTP IPPORT_SUPDUP IPPORT_SYSTAT \
    IPPORT_TELNET IPPORT_TFTP IPPORT_TIMESERVER IPPORT_TTYLINK IPPORT_USERRESERVED IPPORT_WHOIS IPPORT_WHOSERVER \
    IPPROTO_AH IPPROTO_BEETPH IPPROTO_COMP IPPROTO_DCCP IPPROTO_DSTOPTS IPPROTO_EGP IPPROTO_ENCAP IPPROTO_ESP \
    IPPROTO_ETHERNET IPPROTO_FRAGMENT IPPROTO_GRE IPPROTO_HOPOPTS IPPROTO_ICMP IPPROTO_ICMPV6 IPPROTO_IDP \
    IPPROTO_IGMP IPPROTO_IP IPPROTO_IPIP IPPROTO_IPV6 IPPROTO_MAX IPPROTO_MH IPPROTO_MPLS IPPROTO_MPTCP IPPROTO_MTP \
    IPPROTO_NONE IPPROTO_PIM IPPROTO_PUP IPPROTO_RAW IPPROTO_ROUTING IPPROTO_RSVP IPPROTO_SCTP IPPROTO_TCP \
    IPPROTO_TP IPPROTO_UDP IPPROTO_UDPLITE ITIMER_PROF ITIMER_REAL ITIMER_VIRTUAL MSG_BATCH MSG_CMSG_CLOEXEC \
    MSG_CONFIRM MSG_CTRUNC MSG_DONTROUTE MSG_DONTWAIT MSG_EOR MSG_ERRQUEUE MSG_FASTOPEN MSG_FIN MSG_MORE \
    MSG_NOSIGNAL MSG_OOB MSG_PEEK MSG_PROXY MSG_RST MSG_SYN MSG_TRUNC MSG_WAITALL MSG_WAITFORONE MSG_ZEROCOPY \
    POLL_ERR POLL_HUP POLL_IN POLL_MSG POLL_OUT POLL_PRI PTHREAD_CANCEL_ASYNCHRONOUS PTHREAD_CANCEL_DEFERRED \
    PTHREAD_CANCEL_DISABLE PTHREAD_CANCEL_ENABLE PTHREAD_CREATE_DETACHED PTHREAD_CREATE_JOINABLE \
    PTHREAD_EXPLICIT_SCHED PTHREAD_INHERIT_SCHED PTHREAD_MUTEX_ADAPTIVE_NP PTHREAD_MUTEX_DEFAULT \
    PTHREAD_MUTEX_ERRORCHECK PTHREAD_MUTEX_ERRORCHECK_NP PTHREAD_MUTEX_FAST_NP PTHREAD_MUTEX_NORMAL \
    PTHREAD_MUTEX_RECURSIVE PTHREAD_MUTEX_RECURSIVE_NP PTHREAD_MUTEX_ROBUST PTHREAD_MUTEX_ROBUST_NP \
    PTHREAD_MUTEX_STALLED PTHREAD_MUTEX_STALLED_NP PTHREAD_MUTEX_TIMED_NP PTHREAD_PRIO_INHERIT PTHREAD_PRIO_NONE \
    PTHREAD_PRIO_PROTECT PTHREAD_PROCESS_PRIVATE PTHREAD_PROCESS_SHARED PTHREAD_RWLOCK_DEFAULT_NP \
    PTHREAD_RWLOCK_PREFER_READER_NP PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP PTHREAD_RWLOCK_PREFER_WRITER_NP \
    PTHREAD_SCOPE_PROCESS PTHREAD_SCOPE_SYSTEM P_ALL P_PGID P_PID P_PIDFD REFGUID REFIID REG_CR2 REG_CSGSFS REG_EFL \
    REG_ERR REG_OLDMASK REG_R10 REG_R11 REG_R12 REG_R13 REG_R14 REG_R15 REG_R8 REG_R9 REG_RAX REG_RBP REG_RBX \
    REG_RCX REG_RDI REG_RDX REG_RIP REG_RSI REG_RSP REG_TRAPNO SCM_CREDENTIALS SCM_RIGHTS SEGV_ACCADI SEGV_ACCERR \
    SEGV_ADIDERR SEGV_ADIPERR SEGV_BNDERR SEGV_MAPERR SEGV_MTEAERR SEGV_MTESERR SEGV_PKUERR SHUT_RD SHUT_RDWR \
    SHUT_WR SIGEV_NONE SIGEV_SIGNAL SIGEV_THREAD SIGEV_THREAD_ID SI_ASYNCIO SI_ASYNCNL SI_DETHREAD SI_KERNEL \
    SI_MESGQ SI_QUEUE SI_SIGIO SI_TIMER SI_TKILL SI_USER SOCK_CLOEXEC SOCK_DCCP SOCK_DGRAM SOCK_NONBLOCK SOCK_PACKET \
    SOCK_RAW SOCK_RDM SOCK_SEQPACKET SOCK_STREAM SS_DISABLE SS_ONSTACK TRAP_BRANCH TRAP_BRKPT TRAP_HWBKPT TRAP_TRACE \
    TRAP_UNK a64l abort abs accept accept4 access acct acos acosf acosh acoshf acoshl acosl addrinfo adjtime alarm \
    aligned_alloc alphasort alphasort64 arc4random arc4random_buf arc4random_uniform asctime asctime_r asin asinf \
    asinh asinhf asinhl asinl asprintf at_quick_exit atan atan2 atan2f atan2l atanf atanh atanhf atanhl atanl atexit \
    atof atoi atol atoll atomic_bool atomic_char atomic_char16_t atomic_char32_t atomic_flag atomic_flag_clear \
    atomic_flag_clear_explicit atomic_flag_test_and_set atomic_flag_test_and_set_explicit atomic_int \
    atomic_int_fast16_t atomic_int_fast32_t atomic_int_fast64_t atomic_int_fast8_t atomic_int_least16_t \
    atomic_int_least32_t atomic_int_least64_t atomic_int_least8_t atomic_intmax_t atomic_intptr_t atomic_llong \
    atomic_long atomic_ptrdiff_t atomic_schar atomic_short atomic_signal_fence atomic_size_t atomic_thread_fence \
    atomic_uchar atomic_uint atomic_uint_fast16_t atomic_uint_fast32_t atomic_uint_fast64_t atomic_uint_fast8_t \
    atomic_uint_least16_t atomic_uint_least32_t atomic_uint_least64_t atomic_uint_least8_t atomic_uintmax_t \
    atomic_uintptr_t atomic_ullong atomic_ulong atomic_ushort atomic_wchar_t basename bcmp bcopy bind bindresvport \
    bindresvport6 blkcnt64_t blkcnt_t blksize_t brk bsearch btowc bzero c16rtomb c32rtomb c8rtomb cabs cabsf cabsl \
    cacos cacosf cacosh cacoshf cacoshl cacosl caddr_t call_once calloc canonicalize canonicalize_file_name \
    canonicalizef canonicalizel carg cargf cargl casin casinf casinh casinhf casinhl casinl catan catanf catanh \
    catanhf catanhl catanl cbrt cbrtf cbrtl ccos ccosf ccosh ccoshf ccoshl ccosl ceil ceilf ceill cexp cexpf cexpl \
    chdir chmod chown chroot cimag cimagf cimagl clearenv clearerr clearerr_unlocked clock clock_adjtime \
    clock_getcpuclockid clock_getres clock_gettime clock_nanosleep clock_settime clock_t clockid_t clog clog10 \
    clog10f clog10l clogf clogl clone close close_range closedir closefrom cmsghdr cnd_broadcast cnd_destroy \
    cnd_init cnd_signal cnd_t cnd_timedwait cnd_wait comparison_fn_t confstr conj conjf conjl connect \
    cookie_close_function_t cookie_io_functions_t cookie_read_function_t cookie_seek_function_t \
    cookie_write_function_t copy_file_range copysign copysignf copysignl cos cosf cosh coshf coshl cosl cpow cpowf \
    cpowl cproj cprojf cprojl cpu_set_t creal crealf creall creat creat64 crypt csin csinf csinh csinhf csinhl csinl \
    csqrt csqrtf csqrtl ctan ctanf ctanh ctanhf ctanhl ctanl ctermid ctime ctime_r cuserid daddl daddr_t daemon \
    daylight ddivl decimal_point dev_t dfmal difftime dirent dirent64 dirfd div div_t dmull double_t dprintf drand48 \
    drand48_data drand48_r drem dremf dreml dsqrtl dsubl dup dup2 dup3 duplocale dysize eaccess ecvt ecvt_r \
    endhostent endnetent endnetgrent endprotoent endrpcent endservent endusershell environ erand48 erand48_r erf \
    erfc erfcf erfcl erff erfl errno error_t euidaccess execl execle execlp execv execve execveat execvp execvpe \
    exit exp exp10 exp10f exp10l exp2 exp2f exp2l expf expl explicit_bzero expm1 expm1f expm1l f_owner_ex fabs fabsf \
    fabsl faccessat fadd faddl fallocate fallocate64 fchdir fchmod fchmodat fchown fchownat fclose fcloseall fcntl \
    fcntl64 fcvt fcvt_r fd_mask fd_set fdatasync fdim fdimf fdiml fdiv fdivl fdopen fdopendir feclearexcept \
    fedisableexcept feenableexcept fegetenv fegetexcept fegetexceptflag fegetmode fegetround feholdexcept femode_t \
    fenv_t feof feof_unlocked feraiseexcept ferror ferror_unlocked fesetenv fesetexcept fesetexceptflag fesetmode \
    fesetround fetestexcept fetestexceptflag feupdateenv fexcept_t fexecve fflush fflush_unlocked ffma ffmal ffs \
    ffsl ffsll fgetc fgetc_unlocked fgetpos fgetpos64 fgets fgets_unlocked fgetwc fgetwc_unlocked fgetws \
    fgetws_unlocked file_handle fileno fileno_unlocked finite finitef finitel float_t flock flock64 flockfile floor \
    floorf floorl fma fmaf fmal fmax fmaxf fmaximum fmaximum_mag fmaximum_mag_num fmaximum_mag_numf \
    fmaximum_mag_numl fmaximum_magf fmaximum_magl fmaximum_num fmaximum_numf fmaximum_numl fmaximumf fmaximuml fmaxl \
    fmaxmag fmaxmagf fmaxmagl fmemopen fmin fminf fminimum fminimum_mag fminimum_mag_num fminimum_mag_numf \
    fminimum_mag_numl fminimum_magf fminimum_magl fminimum_num fminimum_numf fminimum_numl fminimumf fminimuml fminl \
    fminmag fminmagf fminmagl fmod fmodf fmodl fmul fmull fopen fopen64 fopencookie fork fpathconf fpos64_t fpos_t \
    fpregset_t fprintf fputc fputc_unlocked fputs fputs_unlocked fputwc fputwc_unlocked fputws fputws_unlocked fread \
    fread_unlocked free freeaddrinfo freelocale freopen freopen64 frexp frexpf frexpl fromfp fromfpf fromfpl fromfpx \
    fromfpxf fromfpxl fsblkcnt64_t fsblkcnt_t fscanf fseek fseeko fseeko64 fsetpos fsetpos64 fsfilcnt64_t fsfilcnt_t \
    fsid_t fsqrt fsqrtl fstat fstat64 fstatat fstatat64 fsub fsubl fsync ftell ftello ftello64 ftruncate ftruncate64 \
    ftrylockfile funlockfile futimens futimes futimesat fwide fwprintf fwrite fwrite_unlocked fwscanf gai_cancel \
    gai_error gai_strerror gai_suspend gaicb gamma gammaf gammal gcvt get_current_dir_name getaddrinfo getaddrinfo_a \
    getc getc_unlocked getchar getchar_unlocked getcpu getcwd getdate getdate_err getdate_r getdelim getdents64 \
    getdirentries getdirentries64 getdomainname getdtablesize getegid getentropy getenv geteuid getgid getgroups \
    gethostbyaddr gethostbyaddr_r gethostbyname gethostbyname2 gethostbyname2_r gethostbyname_r gethostent \
    gethostent_r gethostid gethostname getipv4sourcefilter getitimer getline getloadavg getlogin getlogin_r \
    getnameinfo getnetbyaddr getnetbyaddr_r getnetbyname getnetbyname_r getnetent getnetent_r getnetgrent \
    getnetgrent_r getopt getpagesize getpass getpayload getpayloadf getpayloadl getpeername getpgid getpgrp getpid \
    getppid getprotobyname getprotobyname_r getprotobynumber getprotobynumber_r getprotoent getprotoent_r getpt \
    getresgid getresuid getrpcbyname getrpcbyname_r getrpcbynumber getrpcbynumber_r getrpcent getrpcent_r \
    getservbyname getservbyname_r getservbyport getservbyport_r getservent getservent_r getsid getsockname \
    getsockopt getsourcefilter getsubopt gettid gettimeofday getuid getumask getusershell getw getwc getwc_unlocked \
    getwchar getwchar_unlocked getwd gid_t gmtime gmtime_r grantpt greg_t gregset_t group_filter group_member \
    group_req group_source_req gsignal herror hostent hstrerror htonl htons hypot hypotf hypotl id_t idtype_t ilogb \
    ilogbf ilogbl imaxabs imaxdiv imaxdiv_t in6_addr in6_pktinfo in6addr_any in6addr_loopback in_addr in_addr_t \
    in_pktinfo in_port_t index inet6_opt_append inet6_opt_find inet6_opt_finish inet6_opt_get_val inet6_opt_init \
    inet6_opt_next inet6_opt_set_val inet6_option_alloc inet6_option_append inet6_option_find inet6_option_init \
    inet6_option_next inet6_option_space inet6_rth_add inet6_rth_getaddr inet6_rth_init inet6_rth_reverse \
    inet6_rth_segments inet6_rth_space inet_addr inet_aton inet_lnaof inet_makeaddr inet_net_ntop inet_net_pton \
    inet_neta inet_netof inet_network inet_nsap_addr inet_nsap_ntoa inet_ntoa inet_ntop inet_pton initstate \
    initstate_r innetgr ino64_t ino_t int16_t int32_t int64_t int8_t int_fast16_t int_fast32_t int_fast64_t \
    int_fast8_t int_least16_t int_least32_t int_least64_t int_least8_t intmax_t intptr_t iovec ip6_mtuinfo ip_mreq \
    ip_mreq_source ip_mreqn ip_msfilter ip_opts ipv6_mreq iruserok iruserok_af isalnum isalnum_l isalpha isalpha_l \
    isascii isatty isblank isblank_l iscntrl iscntrl_l isctype isdigit isdigit_l isfdtype isgraph isgraph_l isinf \
    isinff isinfl islower islower_l isnan isnanf isnanl isprint isprint_l ispunct ispunct_l isspace isspace_l \
    isupper isupper_l iswalnum iswalnum_l iswalpha iswalpha_l iswblank iswblank_l iswcntrl iswcntrl_l iswctype \
    iswctype_l iswdigit iswdigit_l iswgraph iswgraph_l iswlower iswlower_l iswprint iswprint_l iswpunct iswpunct_l \
    iswspace iswspace_l iswupper iswupper_l iswxdigit iswxdigit_l isxdigit isxdigit_l itimerspec itimerval j0 j0f \
    j0l j1 j1f j1l jmp_buf jn jnf jnl jrand48 jrand48_r key_t kill killpg l64a labs lchmod lchown lcong48 lcong48_r \
    lconv ldexp ldexpf ldexpl ldiv ldiv_t lgamma lgamma_r lgammaf lgammaf_r lgammal lgammal_r linger link linkat \
    listen llabs lldiv lldiv_t llogb llogbf llogbl llrint llrintf llrintl llround llroundf llroundl locale_t \
    localeconv localtime localtime_r lockf lockf64 loff_t log log10 log10f log10l log1p log1pf log1pl log2 log2f \
    log2l logb logbf logbl logf logl longjmp lrand48 lrand48_r lrint lrintf lrintl lround lroundf lroundl lseek \
    lseek64 lstat lstat64 lutimes madvise malloc max_align_t mblen mbrlen mbrtoc16 mbrtoc32 mbrtoc8 mbrtowc mbsinit \
    mbsnrtowcs mbsrtowcs mbstate_t mbstowcs mbtowc mcontext_t memccpy memchr memcmp memcpy memfd_create memfrob \
    memmem memmove memory_order memory_order_acq_rel memory_order_acquire memory_order_consume memory_order_relaxed \
    memory_order_release memory_order_seq_cst mempcpy memrchr memset mincore mkdir mkdirat mkdtemp mkfifo mkfifoat \
    mknod mknodat mkostemp mkostemp64 mkostemps mkostemps64 mkstemp mkstemp64 mkstemps mkstemps64 mktemp mktime \
    mlock mlock2 mlockall mmap mmap64 mmsghdr mode_t modf modff modfl mprotect mrand48 mrand48_r mremap msghdr msync \
    mtx_destroy mtx_init mtx_lock mtx_plain mtx_recursive mtx_t mtx_timed mtx_timedlock mtx_trylock mtx_unlock \
    munlock munlockall munmap name_to_handle_at nan nanf nanl nanosleep nearbyint nearbyintf nearbyintl netent \
    newlocale nextafter nextafterf nextafterl nextdown nextdownf nextdownl nexttoward nexttowardf nexttowardl nextup \
    nextupf nextupl nfds_t nice nlink_t nrand48 nrand48_r ntohl ntohs nullptr_t obstack obstack_printf \
    obstack_vprintf off64_t off_t on_exit once_flag open open64 open_by_handle_at open_memstream open_wmemstream \
    openat openat64 opendir optarg opterr optind optopt osockaddr pathconf pause pclose perror pid_t pipe pipe2 \
    pkey_alloc pkey_free pkey_get pkey_mprotect pkey_set poll pollfd popen posix_fadvise posix_fadvise64 \
    posix_fallocate posix_fallocate64 posix_madvise posix_memalign posix_openpt pow powf powl ppoll pread pread64 \
    preadv preadv2 preadv64 preadv64v2 printf process_madvise process_mrelease process_vm_readv process_vm_writev \
    profil program_invocation_name program_invocation_short_name protoent pselect psiginfo psignal pthread_atfork \
    pthread_attr_destroy pthread_attr_getaffinity_np pthread_attr_getdetachstate pthread_attr_getguardsize \
    pthread_attr_getinheritsched pthread_attr_getschedparam pthread_attr_getschedpolicy pthread_attr_getscope \
    pthread_attr_getsigmask_np pthread_attr_getstack pthread_attr_getstackaddr pthread_attr_getstacksize \
    pthread_attr_init pthread_attr_setaffinity_np pthread_attr_setdetachstate pthread_attr_setguardsize \
    pthread_attr_setinheritsched pthread_attr_setschedparam pthread_attr_setschedpolicy pthread_attr_setscope \
    pthread_attr_setsigmask_np pthread_attr_setstack pthread_attr_setstackaddr pthread_attr_setstacksize \
    pthread_attr_t pthread_barrier_destroy pthread_barrier_init pthread_barrier_t pthread_barrier_wait \
    pthread_barrierattr_destroy pthread_barrierattr_getpshared pthread_barrierattr_init \
    pthread_barrierattr_setpshared pthread_barrierattr_t pthread_cancel pthread_clockjoin_np pthread_cond_broadcast \
    pthread_cond_clockwait pthread_cond_destroy pthread_cond_init pthread_cond_signal pthread_cond_t \
    pthread_cond_timedwait pthread_cond_wait pthread_condattr_destroy pthread_condattr_getclock \
    pthread_condattr_getpshared pthread_condattr_init pthread_condattr_setclock pthread_condattr_setpshared \
    pthread_condattr_t pthread_create pthread_detach pthread_equal pthread_exit pthread_getaffinity_np \
    pthread_getattr_default_np pthread_getattr_np pthread_getconcurrency pthread_getcpuclockid pthread_getname_np \
    pthread_getschedparam pthread_getspecific pthread_join pthread_key_create pthread_key_delete pthread_key_t \
    pthread_kill pthread_mutex_clocklock pthread_mutex_consistent pthread_mutex_consistent_np pthread_mutex_destroy \
    pthread_mutex_getprioceiling pthread_mutex_init pthread_mutex_lock pthread_mutex_setprioceiling pthread_mutex_t \
    pthread_mutex_timedlock pthread_mutex_trylock pthread_mutex_unlock pthread_mutexattr_destroy \
    pthread_mutexattr_getprioceiling pthread_mutexattr_getprotocol pthread_mutexattr_getpshared \
    pthread_mutexattr_getrobust pthread_mutexattr_getrobust_np pthread_mutexattr_gettype pthread_mutexattr_init \
    pthread_mutexattr_setprioceiling pthread_mutexattr_setprotocol pthread_mutexattr_setpshared \
    pthread_mutexattr_setrobust pthread_mutexattr_setrobust_np pthread_mutexattr_settype pthread_mutexattr_t \
    pthread_once pthread_once_t pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock pthread_rwlock_destroy \
    pthread_rwlock_init pthread_rwlock_rdlock pthread_rwlock_t pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock \
    pthread_rwlock_tryrdlock pthread_rwlock_trywrlock pthread_rwlock_unlock pthread_rwlock_wrlock \
    pthread_rwlockattr_destroy pthread_rwlockattr_getkind_np pthread_rwlockattr_getpshared pthread_rwlockattr_init \
    pthread_rwlockattr_setkind_np pthread_rwlockattr_setpshared pthread_rwlockattr_t pthread_self \
    pthread_setaffinity_np pthread_setattr_default_np pthread_setcancelstate pthread_setcanceltype \
    pthread_setconcurrency pthread_setname_np pthread_setschedparam pthread_setschedprio pthread_setspecific \
    pthread_sigmask pthread_sigqueue pthread_spin_destroy pthread_spin_init pthread_spin_lock pthread_spin_trylock \
    pthread_spin_unlock pthread_spinlock_t pthread_t pthread_testcancel pthread_timedjoin_np pthread_tryjoin_np \
    pthread_yield ptrdiff_t ptsname ptsname_r putc putc_unlocked putchar putchar_unlocked putenv puts putw putwc \
    putwc_unlocked putwchar putwchar_unlocked pwrite pwrite64 pwritev pwritev2 pwritev64 pwritev64v2 qecvt qecvt_r \
    qfcvt qfcvt_r qgcvt qsort qsort_r quad_t quick_exit raise rand rand_r random random_data random_r rawmemchr rcmd \
    rcmd_af read readahead readdir readdir64 readdir64_r readdir_r readlink readlinkat readv realloc reallocarray \
    realpath recv recvfrom recvmmsg recvmsg register_t remainder remainderf remainderl remap_file_pages remove \
    remquo remquof remquol rename renameat renameat2 revoke rewind rewinddir rexec rexec_af rindex rint rintf rintl \
    rmdir round roundeven roundevenf roundevenl roundf roundl rpcent rpmatch rresvport rresvport_af rusage ruserok \
    ruserok_af sa_family_t sbrk scalb scalbf scalbl scalbln scalblnf scalblnl scalbn scalbnf scalbnl scandir \
    scandir64 scandirat scandirat64 scanf sched_get_priority_max sched_get_priority_min sched_getaffinity \
    sched_getcpu sched_getparam sched_getscheduler sched_param sched_priority sched_rr_get_interval \
    sched_setaffinity sched_setparam sched_setscheduler sched_yield secure_getenv seed48 seed48_r seekdir select \
    send sendmmsg sendmsg sendto servent setbuf setbuffer setdomainname setegid setenv seteuid setgid sethostent \
    sethostid sethostname setipv4sourcefilter setitimer setjmp setlinebuf setlocale setlogin setnetent setnetgrent \
    setns setpayload setpayloadf setpayloadl setpayloadsig setpayloadsigf setpayloadsigl setpgid setpgrp setprotoent \
    setregid setresgid setresuid setreuid setrpcent setservent setsid setsockopt setsourcefilter setstate setstate_r \
    settimeofday setuid setusershell setvbuf shm_open shm_unlink shutdown sig_atomic_t sig_t sigabbrev_np sigaction \
    sigaddset sigaltstack sigandset sigblock sigcontext sigdelset sigdescr_np sigemptyset sigevent sigevent_t \
    sigfillset siggetmask sighandler_t sighold sigignore siginfo_t siginterrupt sigisemptyset sigismember sigjmp_buf \
    siglongjmp signal signgam significand significandf significandl sigorset sigpause sigpending sigprocmask \
    sigqueue sigrelse sigreturn sigset sigset_t sigsetmask sigstack sigsuspend sigtimedwait sigval sigval_t sigwait \
    sigwaitinfo sin sincos sincosf sincosl sinf sinh sinhf sinhl sinl size_t sleep snprintf sockaddr sockaddr_in \
    sockaddr_in6 sockaddr_storage sockatmark socket socketpair socklen_t splice sprintf sqrt sqrtf sqrtl srand \
    srand48 srand48_r srandom srandom_r sscanf ssignal ssize_t stack_t stat stat64 statx statx_timestamp stderr \
    stdin stdout stpcpy stpncpy strcasecmp strcasecmp_l strcasestr strcat strchr strchrnul strcmp strcoll strcoll_l \
    strcpy strcspn strdup strerror strerror_l strerror_r strerrordesc_np strerrorname_np strfromd strfromf strfroml \
    strfry strftime strftime_l strlen strncasecmp strncasecmp_l strncat strncmp strncpy strndup strnlen strpbrk \
    strptime strptime_l strrchr strsep strsignal strspn strstr strtod strtod_l strtof strtof_l strtoimax strtok \
    strtok_r strtol strtol_l strtold strtold_l strtoll strtoll_l strtoq strtoul strtoul_l strtoull strtoull_l \
    strtoumax strtouq strverscmp strxfrm strxfrm_l suseconds_t swab swprintf swscanf symlink symlinkat sync \
    sync_file_range syncfs syscall sysconf system sysv_signal tan tanf tanh tanhf tanhl tanl tcgetpgrp tcsetpgrp tee \
    telldir tempnam tgamma tgammaf tgammal tgkill thrd_busy thrd_create thrd_current thrd_detach thrd_equal \
    thrd_error thrd_exit thrd_join thrd_nomem thrd_sleep thrd_start_t thrd_success thrd_t thrd_timedout thrd_yield \
    time time_t timegm timelocal timer_create timer_delete timer_getoverrun timer_gettime timer_settime timer_t \
    timespec timespec_get timespec_getres timeval timex timezone tm tmpfile tmpfile64 tmpnam tmpnam_r toascii \
    tolower tolower_l totalorder totalorderf totalorderl totalordermag totalordermagf totalordermagl toupper \
    toupper_l towctrans towctrans_l towlower towlower_l towupper towupper_l trunc truncate truncate64 truncf truncl \
    tss_create tss_delete tss_dtor_t tss_get tss_set tss_t ttyname ttyname_r ttyslot tzname tzset u_char u_int \
    u_int16_t u_int32_t u_int64_t u_int8_t u_long u_quad_t u_short ualarm ucontext_t ucred ufromfp ufromfpf ufromfpl \
    ufromfpx ufromfpxf ufromfpxl uid_t uint uint16_t uint32_t uint64_t uint8_t uint_fast16_t uint_fast32_t \
    uint_fast64_t uint_fast8_t uint_least16_t uint_least32_t uint_least64_t uint_least8_t uintmax_t uintptr_t ulong \
    umask ungetc ungetwc unlink unlinkat unlockpt unsetenv unshare useconds_t uselocale ushort usleep utimensat \
    utimes va_list valloc vasprintf vdprintf versionsort versionsort64 vfork vfprintf vfscanf vfwprintf vfwscanf \
    vhangup vmsplice vprintf vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf vwprintf vwscanf wait wait3 wait4 \
    waitid waitpid wchar_t wcpcpy wcpncpy wcrtomb wcscasecmp wcscasecmp_l wcscat wcschr wcschrnul wcscmp wcscoll \
    wcscoll_l wcscpy wcscspn wcsdup wcsftime wcsftime_l wcslen wcsncasecmp wcsncasecmp_l wcsncat wcsncmp wcsncpy \
    wcsnlen wcsnrtombs wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstod_l wcstof wcstof_l wcstoimax wcstok \
    wcstol wcstol_l wcstold wcstold_l wcstoll wcstoll_l wcstombs wcstoq wcstoul wcstoul_l wcstoull wcstoull_l \
    wcstoumax wcstouq wcswcs wcswidth wcsxfrm wcsxfrm_l wctob wctomb wctrans wctrans_l wctrans_t wctype wctype_l \
    wctype_t wcwidth wint_t wmemchr wmemcmp wmemcpy wmemmove wmempcpy wmemset wprintf write writev wscanf y0 y0f y0l \
    y1 y1f y1l yn ynf ynl"
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

/// The parameter of the template `calls`. No name of the IDL begins with `obvia_` in C++, because
/// [`names::distinct`] changes such names.
///
/// [`names::distinct`]: super::names::distinct
pub(super) const HOLDER: &str = "obvia_holder";

/// Returns the name of a method, which differs from the members in [`TAKEN`].
pub(super) fn name_of_method(raw: &str) -> String {
    distinct(raw, |stem| TAKEN.contains(&stem))
}
