#pragma once

// The slots of a group with the types of their results.

#include <roost/base/detail/result.hpp>
#include <roost/flow/detail/group/fork.hpp>
#include <roost/task/detail/frame/boundary_await.hpp>
#include <roost/task/task.hpp>

#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace roost::inline ROOST_ABI::detail {

// A slot with the result of its child.
template <class T, class Base>
class fork_slot_of final : public boundary_link<fork_slot_of<T, Base>, T>, public Base {
public:
    fork_slot_of(std::uint32_t index, task<T>& t) noexcept : Base(static_cast<settled_link&>(*this), index) {
        this->keep_first(task_access::release_frame(t));
    }

    [[nodiscard]] kept_t<T> take_kept() { return result_in<T>::keep(this->value()); }

private:
    friend class boundary_link<fork_slot_of, T>;
    next_step ended(ending how, reason& why) noexcept {
        if (how == ending::cancelled) {
            this->settle_cancelled(why);
        }
        return this->group().child_done(*this, how, why);
    }
};

// Slots whose number and types are known at compile time.
template <class Base, class Indexes, class... T>
class fork_tuple;
template <class Base, std::size_t... I, class... T>
class fork_tuple<Base, std::index_sequence<I...>, T...> {
    template <std::size_t Index, class U>
    struct indexed {
        explicit indexed(task<U>& t) noexcept : slot(Index, t) {}
        fork_slot_of<U, Base> slot;
    };

public:
    explicit fork_tuple(std::tuple<task<T>...>& tasks) noexcept : slots_(std::get<I>(tasks)...) {}
    template <class Fn>
    void for_each([[maybe_unused]] Fn fn) {
        (fn(std::get<I>(slots_).slot), ...);
    }
    template <std::size_t Index>
    [[nodiscard]] auto& get() noexcept {
        return std::get<Index>(slots_).slot;
    }

private:
    std::tuple<indexed<I, T>...> slots_;
};

// As many slots as there are tasks in a vector, in frame memory.
template <class Base, class T>
class fork_array {
public:
    using slot = fork_slot_of<T, Base>;
    explicit fork_array(std::vector<task<T>>& tasks) : count_(tasks.size()) {
        if (count_ == 0) {
            return;
        }
        if constexpr (alignof(slot) > alignof(std::max_align_t)) {
            first_ = static_cast<slot*>(allocate(bytes(), alignof(slot)));
        } else {
            first_ = static_cast<slot*>(allocate_frame(bytes()));
        }
        for (std::size_t i = 0; i < count_; ++i) {
            ::new (static_cast<void*>(first_ + i)) slot(static_cast<std::uint32_t>(i), tasks[i]);
        }
    }
    fork_array(const fork_array&) = delete;
    fork_array& operator=(const fork_array&) = delete;
    ~fork_array() {
        if (count_ == 0) {
            return;
        }
        std::destroy_n(first_, count_);
        if constexpr (alignof(slot) > alignof(std::max_align_t)) {
            deallocate(first_, bytes(), alignof(slot));
        } else {
            deallocate_frame(first_, bytes());
        }
    }
    template <class Fn>
    void for_each(Fn fn) {
        for (std::size_t i = 0; i < count_; ++i) {
            fn(first_[i]);
        }
    }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] slot& at(std::size_t i) noexcept { return first_[i]; }

private:
    [[nodiscard]] std::size_t bytes() const noexcept { return count_ * sizeof(slot); }
    std::size_t count_;
    slot* first_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
