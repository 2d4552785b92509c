// The leak sanitizer's defaults for programs of tests.

const char *__lsan_default_options(void);
const char *__lsan_default_suppressions(void);

// The text of suppressed leaks would disturb tests that read the standard error.
const char *__lsan_default_options(void) {
    return "print_suppressions=0";
}

// The C library keeps the last error of dlsym, dlopen and dlclose for each thread, and frees it when
// the thread ends. The sanitizer stops looking at the memory of the thread before the error is
// freed. If the process ends before the error is freed, the sanitizer reports the error. The function
// `_dlerror_run`, which stores the error, is not exported, so the sanitizer knows its name only
// where the C library's debug symbols are installed.
const char *__lsan_default_suppressions(void) {
    return "leak:_dlerror_run\n";
}
