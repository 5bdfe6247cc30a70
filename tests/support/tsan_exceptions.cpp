// Part of every test program, because threads share exceptions. False positives of the C++ library, which is not instrumented:
// exception_ptr counts its references with atomics that ThreadSanitizer does not see, so it takes the last owner's destruction
// of an exception for a race with an earlier reader.

extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
    return "race:std::__exception_ptr::exception_ptr::_M_release\nrace:std::runtime_error::~runtime_error\n";
}
