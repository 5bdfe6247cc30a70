#pragma once

#include <roost/base/config.hpp>

#include <cstdint>
#include <string_view>

// Forked children, and names of threads.

namespace roost::inline ROOST_ABI::detail {

// The number of forks between the first process and this one. Only a child writes it, while it has one thread, so reads are
// free.
extern std::uint32_t forks_seen;

// Objects with threads of their own store the count at their construction. If it has changed, this is a forked child, and
// the threads exist only in the parent.
class fork_check {
public:
    fork_check() noexcept;
    [[nodiscard]] bool is_forked_child() const noexcept { return made_under_ != forks_seen; }
    void require_parent(std::string_view object, std::string_view name) const noexcept {
        if (is_forked_child()) [[unlikely]] {
            fail(object, name);
        }
    }

private:
    [[noreturn]] static void fail(std::string_view object, std::string_view name) noexcept;

    std::uint32_t made_under_;
};

// Sets the name that ps and debuggers show, cut to the 15 characters that the kernel keeps.
void name_this_thread(std::string_view name, unsigned number) noexcept;

}  // namespace roost::inline ROOST_ABI::detail
