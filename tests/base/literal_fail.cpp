// Text that may be gone is no literal (BASE-51).

#include <roost/base/literal.hpp>

const char* kept(roost::literal text) { return text.text(); }

const char* use() {
#ifdef FAIL_1
    const char local[] = "local";
    // expect: constant expression
    return kept(local);
#elif defined(FAIL_2)
    const char* pointer = "pointer";
    // expect: deleted
    return kept(pointer);
#else
    return kept("literal");
#endif
}
