// Orders P5 and P11: shutdown/detail/guard_slots.hpp.

#include <roost/shutdown/detail/guard_slots.hpp>

#include <new>

namespace roost::inline ROOST_ABI::detail {

guard_table::~guard_table() {
    for (chunk* c = chunks_.load(mo::relaxed); c != nullptr;) {  // P5
        chunk* next = c->next.load(mo::relaxed);                 // P5
        const std::size_t bytes = sizeof(chunk) + c->size * sizeof(guard_slot);
        for (std::size_t i = 0; i < c->size; ++i) {
            c->slots()[i].~guard_slot();
        }
        c->~chunk();
        deallocate(c, bytes);
        c = next;
    }
}

void guard_table::next_chunk() noexcept {
    in_ = in_ == nullptr ? chunks_.load(mo::relaxed) : in_->next.load(mo::relaxed);  // P5
    at_ = 0;
}

// Searches the table round robin. A round that finds less than a quarter of the slots free grows the table. So a free slot costs
// a few loads on average, and the table's size follows the largest number of guards it ever held.
guard_slot* guard_table::find_free() noexcept {
    for (std::size_t looks = 0; looks <= 2 * total_; ++looks) {
        const std::size_t size = in_ == nullptr ? first_slots : in_->size;
        if (at_ == size) {
            next_chunk();
            if (in_ == nullptr) {  // a round is complete
                const bool scarce = found_ * 4 < total_;
                found_ = 0;
                if (scarce && grow()) {
                    in_ = newest_;
                }
            }
        }
        guard_slot* s = (in_ == nullptr ? first_ : in_->slots()) + at_;
        ++at_;
        if (s->is_free()) {
            ++found_;
            last_ = s;
            return s;
        }
    }
    return nullptr;
}

void guard_table::notice_some(std::int64_t now) noexcept {
    for (std::size_t i = 0; i < first_slots; ++i) {
        if (noticed_at_ == (noticed_in_ == nullptr ? first_slots : noticed_in_->size)) {
            noticed_in_ = noticed_in_ == nullptr ? chunks_.load(mo::relaxed) : noticed_in_->next.load(mo::relaxed);  // P5
            noticed_at_ = 0;
        }
        (noticed_in_ == nullptr ? first_ : noticed_in_->slots())[noticed_at_++].notice(now);
    }
}

bool guard_table::grow() noexcept {
    const std::size_t size = total_;
    void* memory = nullptr;
    try {
        memory = allocate(sizeof(chunk) + size * sizeof(guard_slot));
    } catch (const std::bad_alloc&) {
        return false;
    }
    auto* made = ::new (memory) chunk(size);
    for (std::size_t i = 0; i < size; ++i) {
        ::new (static_cast<void*>(made->slots() + i)) guard_slot();
    }
    if (newest_ == nullptr) {
        chunks_.store(made, mo::release);  // P11
    } else {
        newest_->next.store(made, mo::release);  // P11
    }
    newest_ = made;
    total_ += size;
    return true;
}

}  // namespace roost::inline ROOST_ABI::detail
