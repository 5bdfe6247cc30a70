#include <roost/base/failure_sink.hpp>

#include <roost/base/atomic.hpp>

#include <cxxabi.h>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <typeinfo>

// id  operation             order    pairs  carries                            fails in
// F1  set: exchange         seq_cst  F2     what the sink stands on            (no model: failures are rare)
// F2  report: load          seq_cst  F1     what the sink stands on            (no model: failures are rare)

namespace roost::inline ROOST_ABI {

namespace {

void print_failure(std::string_view what, std::string_view name, site made_at, std::exception_ptr error) noexcept {
    try {
        std::string line("roost: ");
        line.append(what).append(" '").append(name).append("' (").append(made_at.to_string());
        line.append(") failed, and nobody is left to tell: ").append(describe(error)).append("\n");
        std::fputs(line.c_str(), stderr);
    } catch (...) {
        std::fputs("roost: a job failed, nobody is left to tell, and there is no memory to say more\n", stderr);
    }
}

atomic<failure_sink>& current_sink() noexcept {
    static atomic<failure_sink> sink{print_failure};
    return sink;
}

std::string type_name(const std::type_info& type) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                      std::free);
    return status == 0 ? text.get() : type.name();
}

}  // namespace

failure_sink set_failure_sink(failure_sink sink) noexcept {
    return current_sink().exchange(sink == nullptr ? print_failure : sink, mo::seq_cst);  // F1
}

void report_failure(std::string_view what, std::string_view name, site made_at, std::exception_ptr error) noexcept {
    current_sink().load(mo::seq_cst)(what, name, made_at, std::move(error));  // F2
}

std::string describe(const std::exception_ptr& error) {
    if (!error) {
        return "no error";
    }
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& e) {
        return type_name(typeid(e)) + ": " + e.what();
    } catch (...) {
        const std::type_info* type = abi::__cxa_current_exception_type();
        return type == nullptr ? std::string("something that is not a std::exception") : type_name(*type);
    }
}

}  // namespace roost::inline ROOST_ABI
