#include <roost/tree/detail/node.hpp>

#include <roost/tree/detail/node_access.hpp>

#include <mutex>
#include <new>

// Why a node was raised.
//
// A node that a raise reached from above has no reason of its own: the answer is its parent's, whose reason for that level
// was there first and never changes. So only the node at which raise() was called stores anything, and why() climbs to it.
//
// Nearly every node that stores a reason stores one. It is kept in why_ as a bare record, without allocation. A second one
// (stop, then cancel, on the same node) needs a link. If it is only a kind, or if there is no memory for the link, the kind
// is kept in the level word and the text is lost, never the level.
//
// why() climbs, and every cancelled node below a deep one calls it. So a long climb stores the origin at the nodes on its way
// that store no reason. The next climb is short, and why() of a whole chain takes time in proportion to it. An origin is an
// ancestor, whose memory a node keeps, and it never changes.
//   why_      null | reason record of every own level that has no link and no kind bits | link* + 1 | known origin* + 2 * level
//   link      reason, its level, the value why_ had before
//
// id  operation                order    pairs  carries                                    fails in
// Y1  latch_own: store why_    release  Y2     the link, to readers of a lower level      why_model: reason_with_level
// Y2  why: load why_           acquire  Y1     the link                                   why_model: reason_with_level
// Y3  ~node: load why_         relaxed  -      no other holder is left                    (floor)
// Y4  latch_own: why_          relaxed  -      under the lock; not read yet               (floor)
// Y5  latch_own: CAS level_    release  L1     out: why_                                  why_model: reason_with_level
// Y6  origin_of: load, CAS     relaxed  -      an ancestor, known since the level         (floor)

namespace roost::inline ROOST_ABI {

using namespace seam;

using namespace detail;

namespace {

struct link {
    reason why;
    plain<level> at;
    plain<void*> before;
    link(const reason& w, level l, void* b) noexcept : why(w), at(l), before(b) {}
};

constexpr std::uintptr_t link_tag = 1;

link* as_link(void* p) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(p);
    return (bits & link_tag) != 0 ? reinterpret_cast<link*>(bits & ~link_tag) : nullptr;
}
// An origin that a climb has stored, and the level it answers for.
constexpr std::uintptr_t level_bits = 6;
void* known(const detail::node* origin, level at) noexcept {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(origin) | (static_cast<std::uintptr_t>(at) << 1U));
}
bool is_known(void* p) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(p);
    return (bits & link_tag) == 0 && (bits & level_bits) != 0;
}
const detail::node* known_origin(void* p, level at) noexcept {
    const auto bits = reinterpret_cast<std::uintptr_t>(p);
    const bool answers = (bits & link_tag) == 0 && (bits & level_bits) == static_cast<std::uintptr_t>(at) << 1U;
    return answers ? reinterpret_cast<const detail::node*>(bits & ~level_bits) : nullptr;
}
static_assert(static_cast<std::uintptr_t>(level::abort) << 1U <= level_bits && alignof(detail::node) > level_bits);

// Shorter climbs neither read a stored origin nor store one.
#if defined(ROOST_SEAM_MODEL)
constexpr unsigned short_climb = 1;
#else
constexpr unsigned short_climb = 8;
#endif

void* tagged(link* l) noexcept { return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(l) | link_tag); }

bool is_only_a_kind(const reason& r) noexcept {
    return r.text().empty() && r.payload() == nullptr && r.origin().empty() && !r.site().is_known();
}

link* try_make_link(const reason& why, level at, void* before) noexcept {
    try {
        return ::new (allocate_frame(sizeof(link))) link(why, at, before);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

void drop_link(link* l) noexcept {
    l->~link();
    deallocate_frame(l, sizeof(link));
}

// A reason is one pointer wide, so it can live in why_ itself.
static_assert(sizeof(reason) == sizeof(void*));
void* to_word(reason why) noexcept {
    void* word = nullptr;
    alignas(reason) unsigned char raw[sizeof(reason)];
    ::new (static_cast<void*>(raw)) reason(std::move(why));
    __builtin_memcpy(static_cast<void*>(&word), raw, sizeof word);
    return word;
}
reason from_word(void* word) noexcept {
    alignas(reason) unsigned char raw[sizeof(reason)];
    __builtin_memcpy(raw, static_cast<const void*>(&word), sizeof word);
    return *std::launder(reinterpret_cast<reason*>(raw));  // a copy; the stored one stays
}
void destroy_word(void* word) noexcept {
    alignas(reason) unsigned char raw[sizeof(reason)];
    __builtin_memcpy(raw, static_cast<const void*>(&word), sizeof word);
    std::launder(reinterpret_cast<reason*>(raw))->~reason();
}

}  // namespace

void detail::node_access::release_reasons(void* chain) noexcept {
    while (link* l = as_link(chain)) {
        chain = l->before.get();
        drop_link(l);
    }
    if (chain != nullptr && !is_known(chain)) {
        destroy_word(chain);
    }
}

// Sets the raised bit of this node with its own reason, and stores the word before in before_word. Returns false if it was
// raised already.
bool detail::node::latch_own(level to, reason& why, level_word& before_word) noexcept {
    const std::lock_guard guard(lock_);
    level_word seen = level_.load(mo::relaxed);  // L2
    if (is_raised(seen, to)) {
        return false;
    }
    void* before = why_.load(mo::relaxed);  // Y4
    before = is_known(before) ? nullptr : before;
    void* after = before;
    level_word kind = 0;
    if (before == nullptr) {
        after = to_word(std::move(why));
    } else {
        link* l = is_only_a_kind(why) ? nullptr : try_make_link(why, to, before);
        if (l != nullptr) {
            after = tagged(l);
        } else {
            kind = kind_bits(to, static_cast<std::uint32_t>(why.kind()));
        }
    }
    why_.store(after, mo::release);  // Y1
    const level_word bits = raised_bit(to) | own_bit(to) | kind;
    while (!level_.compare_exchange_weak(seen, seen | bits, mo::release, mo::relaxed)) {  // Y5
        if (!is_raised(seen, to)) {
            continue;
        }
        // A raise from above came in between: its reason counts. A bare record is taken back, because why_ is not read before
        // a level of its own is raised. A link stays, unused, because another thread may be reading the chain.
        if (before == nullptr) {
            why_.store(nullptr, mo::relaxed);  // Y4
            destroy_word(after);
        }
        return false;
    }
    before_word = seen;
    return true;
}

// Returns the node whose own reason answers for `at`, which is raised here. One acquire on the way in is enough: a level that
// reached this node from above was ordered after the origin's own latch.
const detail::node* detail::node::origin_of(level at) const noexcept {
    const detail::node* n = this;
    const detail::node* found = nullptr;
    unsigned steps = 0;
    while (n->parent_ != nullptr && (n->level_.load(mo::relaxed) & own_bit(at)) == 0) {  // L2
        if (++steps > short_climb) {
            found = known_origin(n->why_.load(mo::relaxed), at);  // Y6
            if (found != nullptr) {
                break;
            }
        }
        n = n->parent_;
    }
    found = found == nullptr ? n : found;
    if (steps > short_climb) [[unlikely]] {
        for (const detail::node* m = this; m != n; m = m->parent_) {
            void* before = m->why_.load(mo::relaxed);  // Y6
            if (before == nullptr || is_known(before)) {  // perhaps for another level
                static_cast<void>(const_cast<node*>(m)->why_.compare_exchange_strong(before, known(found, at), mo::relaxed,
                                                                                     mo::relaxed));  // Y6
            }
        }
    }
    return found;
}

const detail::node* detail::node::origin(level l) const noexcept {
    const level at = answering_level(level_.load(mo::acquire), l);  // L1
    return at == level::running ? nullptr : origin_of(at);
}

reason detail::node::why(level l) const noexcept {
    const level at = answering_level(level_.load(mo::acquire), l);  // L1
    if (at == level::running) {
        return {};
    }
    const detail::node* n = origin_of(at);
    if (const std::uint32_t kind = kind_of(n->level_.load(mo::relaxed), at); kind != 0) {  // L2
        return reason::plain_kind(static_cast<reason_kind>(kind));
    }
    void* chain = n->why_.load(mo::acquire);  // Y2
    while (link* k = as_link(chain)) {
        if (k->at.get() == at) {
            return k->why;
        }
        chain = k->before.get();
    }
    return chain == nullptr ? reason() : from_word(chain);
}

reason detail::node::why_with_origin(level l) const noexcept {
    reason plain_reason = why(l);
    const detail::node* from = origin(l);
    if (from == nullptr || from->name().empty()) {
        return plain_reason;
    }
    try {
        return plain_reason.at_origin(from->name());
    } catch (const std::bad_alloc&) {
        return plain_reason;
    }
}

}  // namespace roost::inline ROOST_ABI
