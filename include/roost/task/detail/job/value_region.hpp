#pragma once

// A level that holds one value of a job_local.
//
// id  operation          order    pairs  carries                                              fails in
// V2  shown: store, load seq_cst  -      the key, written before; set once, with one value    (no model: an own word)

#include <roost/base/atomic.hpp>
#include <roost/task/detail/job/region.hpp>

#include <cstddef>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

class value_region final : public guest_region {
public:
    [[nodiscard]] static value_region& make(region& parent, site made_at, const void* key, const void* value);
    void leave_for_good() noexcept;
    // Returns the value of the nearest level that has the key, from `from` upwards; null if there is none.
    [[nodiscard]] static const void* find(const node& from, const void* key) noexcept;

    // The one value that descriptions of suspended jobs show. `text` returns a text that is part of the value.
    using text_function = std::string_view (*)(const void* value) noexcept;
    static void show(const void* key, text_function text) noexcept;
    // Copies it into d. Requires that a body below `from` cannot leave its wait: the value is in a frame above.
    static void describe_shown(const node& from, node_description& d) noexcept;

    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { deallocate_frame(memory, size); }

private:
    value_region(region& parent, site made_at, const void* key, const void* value)
        : guest_region(functions, parent, "value", made_at, {}, parent.owner()), key_(key), value_(value) {}
    static void destroy(node& self) noexcept { delete &static_cast<value_region&>(static_cast<region&>(self)); }
    static const node_functions functions;

    const void* key_;
    const void* value_;  // in the frame of the awaiting coroutine; not looked up after it has resumed
};

}  // namespace roost::inline ROOST_ABI::detail
