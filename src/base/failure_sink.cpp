#include <roost/base/failure_sink.hpp>

#include <roost/base/atomic.hpp>
#include <roost/base/detail/subject_text.hpp>
#include <roost/base/detail/write_stderr.hpp>
#include <roost/base/misuse.hpp>

#include <cxxabi.h>
#include <cstdlib>
#include <memory>
#include <string>
#include <typeinfo>

// id  operation             order    pairs  carries                            fails in
// F1  set: exchange         seq_cst  F2     what the sink uses                 (no model: failures are rare)
// F2  report: load          seq_cst  F1     what the sink uses                 (no model: failures are rare)

namespace roost::inline ROOST_ABI {

using namespace ext;

using namespace seam;

namespace {

// Failures are reported by threads that others depend on: a stuck reader of standard error must not block them.
constexpr duration stderr_limit = std::chrono::milliseconds(20);

// Returns the rule that was broken if the error is a misuse, else an empty string.
std::string misuse_of(const std::exception_ptr& error) {
    try {
        if (error) {
            std::rethrow_exception(error);
        }
    } catch (const misuse& e) {
        const std::string text(e.what());
        const std::string code = ": " + e.code().message();
        return text.substr(0, text.size() - (text.ends_with(code) ? code.size() : 0));
    } catch (...) {
        return {};
    }
    return {};
}

void print_failure(std::string_view what, std::string_view name, site made_at, std::exception_ptr error) noexcept {
    try {
        std::string line("roost: ");
        if (const std::string rule = misuse_of(error); !rule.empty()) {
            detail::append_subject(line, what, name, made_at);
            line.append(": ").append(rule).append("\n");
            detail::write_stderr(line, stderr_limit);
            return;
        }
        line.append("unhandled failure of ");
        detail::append_subject(line, what, name, made_at);
        line.append(": ").append(describe(error)).append("\n");
        detail::write_stderr(line, stderr_limit);
    } catch (...) {
        detail::write_stderr("roost: unhandled failure; there is no memory to print its name and error\n", stderr_limit);
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

void ext::report_failure(std::string_view what, std::string_view name, site made_at, std::exception_ptr error) noexcept {
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
