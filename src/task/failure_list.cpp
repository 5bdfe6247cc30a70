// Orders K1 to K3: task/detail/job/failure_list.hpp.

#include <roost/task/detail/job/failure_list.hpp>

#include <cstring>
#include <new>
#include <unordered_set>

namespace roost::inline ROOST_ABI::detail {

namespace {

constexpr unsigned deepest_without_memory = 500;
constexpr unsigned most_without_memory = 2000;

// What it refers to: an exception_ptr is a pointer, compares as one, and has no hash.
const void* object_of(const std::exception_ptr& error) noexcept {
    const void* object = nullptr;
    static_assert(sizeof(error) == sizeof(object));
    std::memcpy(static_cast<void*>(&object), static_cast<const void*>(&error), sizeof(object));
    return object;
}

}  // namespace

failure_list::link* failure_list::retained(link* l) noexcept {
    if (l != nullptr) {
        l->holders.fetch_add(1, mo::relaxed);  // K1
    }
    return l;
}

void failure_list::drop(link* l, link*& gone) noexcept {
    if (l != nullptr && l->holders.fetch_sub(1, mo::acq_rel) == 1) {  // K2
        l->next_gone = gone;
        gone = l;
    }
}

// Links without a holder wait in a chain, so that a long list takes no stack.
void failure_list::release(link* l) noexcept {
    link* gone = nullptr;
    drop(l, gone);
    while (gone != nullptr) {
        link* const mine = gone;
        gone = mine->next_gone;
        drop(mine->before.get(), gone);
        drop(mine->after.get(), gone);
        delete mine;
    }
}

void failure_list::add(std::exception_ptr error) { top_.set(new link(top_.get(), std::move(error), nullptr)); }

void failure_list::add(const failure_list& more) {
    if (is_empty()) {
        *this = more;
    } else if (!more.is_empty()) {
        link* const both = new link(top_.get(), nullptr, more.top_.get());
        static_cast<void>(retained(more.top_.get()));
        top_.set(both);
    }
}

// A walk through all links, each once: shared ones could be met more often than there is time.
class failure_list::collector {
public:
    explicit collector(const std::exception_ptr& except) : except_(object_of(except)) {}
    void walk(const link* top) {
        enter(top);
        while (!open_.empty()) {
            const link* const mine = open_.back();
            open_.pop_back();
            if (mine->error) {
                add(mine->error);
            }
            enter(mine->after.get());
        }
    }
    [[nodiscard]] std::vector<std::exception_ptr>& all() noexcept { return all_; }

private:
    // And those before it, the first of them last: its turn comes next.
    void enter(const link* l) {
        while (l != nullptr && (l->holders.load(mo::relaxed) == 1 || met_.insert(l).second)) {  // K3
            open_.push_back(l);
            l = l->before.get();
        }
    }
    void add(const std::exception_ptr& error) {
        if (object_of(error) != except_ && known_.insert(object_of(error)).second) {
            all_.push_back(error);
        }
    }

    const void* except_;
    std::vector<const link*> open_;
    std::unordered_set<const link*> met_;
    std::unordered_set<const void*> known_;
    std::vector<std::exception_ptr> all_;
};

std::vector<std::exception_ptr> failure_list::to_vector(const std::exception_ptr& except) const {
    collector all(except);
    all.walk(top_.get());
    return std::move(all.all());
}

void failure_list::visit(const std::exception_ptr& except, void* to, visitor each) const noexcept {
    try {
        for (const std::exception_ptr& error : to_vector(except)) {
            each(to, error);
        }
    } catch (const std::bad_alloc&) {
        unsigned visits = most_without_memory;
        visit_without_memory(top_.get(), to, each, deepest_without_memory, visits);
    }
}

// A part that several lists share is met once for each way to it.
void failure_list::visit_without_memory(const link* l, void* to, visitor each, unsigned deeper, unsigned& visits) noexcept {
    if (l == nullptr || deeper == 0 || visits == 0) {
        return;
    }
    --visits;
    visit_without_memory(l->before.get(), to, each, deeper - 1, visits);
    if (l->error) {
        each(to, l->error);
    }
    visit_without_memory(l->after.get(), to, each, deeper - 1, visits);
}

}  // namespace roost::inline ROOST_ABI::detail
