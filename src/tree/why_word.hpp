#pragma once

// What a node keeps in why_: the reasons of its own levels, or the origin that a climb has found.
//
//   why_      null | reason record of every own level that has no link and no kind bits | link* + 1 | known origin* + 2 * level
//   link      reason, its level, the value why_ had before
//
// raise.cpp writes the reasons, why.cpp reads them.

#include <roost/tree/node.hpp>

#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace roost::inline ROOST_ABI::detail::why_word {

struct link {
    reason why;
    plain<level> at;
    plain<void*> before;
    link(const reason& w, level l, void* b) noexcept : why(w), at(l), before(b) {}
};

inline constexpr std::uintptr_t link_tag = 1;

[[nodiscard]] inline link* as_link(void* p) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(p);
    return (bits & link_tag) != 0 ? reinterpret_cast<link*>(bits & ~link_tag) : nullptr;
}

// An origin that a climb has stored, and the level it answers for.
inline constexpr std::uintptr_t level_bits = 6;
[[nodiscard]] inline void* known(const node* origin, level at) noexcept {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(origin) | (static_cast<std::uintptr_t>(at) << 1U));
}
[[nodiscard]] inline bool is_known(void* p) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(p);
    return (bits & link_tag) == 0 && (bits & level_bits) != 0;
}
[[nodiscard]] inline const node* known_origin(void* p, level at) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(p);
    const bool answers = (bits & link_tag) == 0 && (bits & level_bits) == static_cast<std::uintptr_t>(at) << 1U;
    return answers ? reinterpret_cast<const node*>(bits & ~level_bits) : nullptr;
}
static_assert(static_cast<std::uintptr_t>(level::abort) << 1U <= level_bits && alignof(node) > level_bits);

[[nodiscard]] inline void* tagged(link* l) noexcept {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(l) | link_tag);
}

[[nodiscard]] inline bool is_only_a_kind(const reason& r) noexcept {
    return r.text().empty() && r.payload() == nullptr && r.origin().empty() && !r.site().is_known();
}

[[nodiscard]] inline link* try_make_link(const reason& why, level at, void* before) noexcept {
    try {
        return ::new (allocate_frame(sizeof(link))) link(why, at, before);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

inline void drop_link(link* l) noexcept {
    l->~link();
    deallocate_frame(l, sizeof(link));
}

// A reason is one pointer wide, so it can live in why_ itself.
static_assert(sizeof(reason) == sizeof(void*));
[[nodiscard]] inline void* to_word(reason why) noexcept {
    void* word = nullptr;
    alignas(reason) unsigned char raw[sizeof(reason)];
    ::new (static_cast<void*>(raw)) reason(std::move(why));
    __builtin_memcpy(static_cast<void*>(&word), raw, sizeof word);
    return word;
}
[[nodiscard]] inline reason from_word(void* word) noexcept {
    alignas(reason) unsigned char raw[sizeof(reason)];
    __builtin_memcpy(raw, static_cast<const void*>(&word), sizeof word);
    return *std::launder(reinterpret_cast<reason*>(raw));  // a copy; the stored one stays
}
inline void destroy_word(void* word) noexcept {
    alignas(reason) unsigned char raw[sizeof(reason)];
    __builtin_memcpy(raw, static_cast<const void*>(&word), sizeof word);
    std::launder(reinterpret_cast<reason*>(raw))->~reason();
}

}  // namespace roost::inline ROOST_ABI::detail::why_word
