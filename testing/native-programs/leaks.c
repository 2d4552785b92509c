// The leak sanitizer's defaults for programs of tests.

const char *__lsan_default_options(void);
const char *__lsan_default_suppressions(void);

// The text of suppressed leaks would disturb tests that read the standard error.
const char *__lsan_default_options(void) {
    return "print_suppressions=0";
}

// The C library keeps the last error of dlsym, dlopen and dlclose for each thread, and frees it when
// the thread ends. The sanitizer stops looking at the memory of the thread before the error is
// freed, and would report the error if the process ends in between. The function is not exported,
// so its name is known only where the C library's debug symbols are installed.
const char *__lsan_default_suppressions(void) {
    return "leak:_dlerror_run\n";
}
