#include "explore_mutation.hpp"

#if defined(ROOST_SEAM_MODEL)

#include <roost/base/assert.hpp>

#include <cstdlib>
#include <string_view>
#include <vector>

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

namespace {

std::vector<std::string> split_at_colons(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == ':') {
            parts.emplace_back();
        } else {
            parts.back().push_back(c);
        }
    }
    return parts;
}

[[noreturn]] void not_understood(const std::string& text) {
    roost::detail::panic("ROOST_MUTANT=" + text + " is not understood");
}

model_op op_named(const std::string& name, const std::string& text) {
    for (unsigned i = 0; i <= static_cast<unsigned>(model_op::choose); ++i) {
        if (name == name_of(static_cast<model_op>(i))) {
            return static_cast<model_op>(i);
        }
    }
    not_understood(text);
}

std::memory_order order_named(const std::string& name, const std::string& text) {
    for (const std::memory_order o : {std::memory_order_relaxed, std::memory_order_acquire, std::memory_order_release,
                                      std::memory_order_acq_rel, std::memory_order_seq_cst}) {
        if (name == name_of(o)) {
            return o;
        }
    }
    not_understood(text);
}

}  // namespace

mutation mutation::from_environment() {
    mutation m;
    const char* variable = std::getenv("ROOST_MUTANT");
    if (variable == nullptr || *variable == '\0') {
        return m;
    }
    const std::string text = variable;
    if (text[0] == '#') {
        roost::detail::active_mutant = static_cast<std::uint32_t>(std::strtoul(text.c_str() + 1, nullptr, 10));
        return m;
    }
    const std::vector<std::string> parts = split_at_colons(text);
    if (parts.size() < 4) {
        not_understood(text);
    }
    m.file_ = "/" + parts[0];
    const std::size_t dash = parts[1].find('-');
    m.first_ = static_cast<unsigned>(std::strtoul(parts[1].c_str(), nullptr, 10));
    m.last_ =
        dash == std::string::npos ? m.first_ : static_cast<unsigned>(std::strtoul(parts[1].c_str() + dash + 1, nullptr, 10));
    m.op_ = op_named(parts[2], text);
    const std::string& kind = parts[3];
    if ((kind == "success" || kind == "failure") && parts.size() == 5) {
        m.what_ = kind == "success" ? what::success : what::failure;
        m.order_ = order_named(parts[4], text);
    } else if (kind == "split" || kind == "blind" || kind == "skip") {
        m.what_ = kind == "split" ? what::split : kind == "blind" ? what::blind : what::skip;
    } else {
        not_understood(text);
    }
    return m;
}

bool mutation::is_in(const char* path) const noexcept {
    const std::string_view p = path;
    return p.ends_with(file_) || (p.size() + 1 == file_.size() && file_.ends_with(p));
}

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI

#endif  // ROOST_SEAM_MODEL
