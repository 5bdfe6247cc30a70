// A name that no metric can have does not compile (OBS-152).

#include <roost/observe/metric_name.hpp>

roost::metrics::metric_name name() {
#ifdef FAIL_1
    // expect: a_metric_name_has_letters_digits_underscores_and_colons
    return "my metric";
#elif defined(FAIL_2)
    // expect: a_label_name_has_letters_digits_and_underscores
    constexpr roost::metrics::label_name label = "le";
    return label.text().empty() ? "a" : "b";
#else
    return "my_metric";
#endif
}
