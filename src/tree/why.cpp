// Orders L1 and L2: src/tree/raise.cpp.

#include <roost/tree/detail/node.hpp>

#include <roost/tree/detail/node_access.hpp>

#include "why_word.hpp"

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
// The word: src/tree/why_word.hpp. raise.cpp sets it.
//
// id  operation                order    pairs  carries                                    fails in
// Y2  why: load why_           acquire  Y1     the link                                   why_model: reason_with_level
// Y3  ~node: load why_         relaxed  -      no other holder is left                    (floor)
// Y6  origin_of: load, CAS     relaxed  -      an ancestor, known since the level         (floor)

namespace roost::inline ROOST_ABI {

using namespace seam;

using namespace detail;
using namespace detail::why_word;

namespace {

// Shorter climbs neither read a stored origin nor store one.
#if defined(ROOST_SEAM_MODEL)
constexpr unsigned short_climb = 1;
#else
constexpr unsigned short_climb = 8;
#endif

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
        return base_access::at_origin(plain_reason, from->name());
    } catch (const std::bad_alloc&) {
        return plain_reason;
    }
}

}  // namespace roost::inline ROOST_ABI
