#pragma once

#include <roost/tree/node.hpp>
#include <roost/tree/visit.hpp>

#include <concepts>
#include <new>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI {

namespace detail {

// Cancel or completion: one of them claims, the other finds out. See src/tree/external_resource.cpp.
class external_node : public node {
public:
    [[nodiscard]] bool try_complete() noexcept;
    void fire() noexcept;           // cancel: runs on_cancel when it wins
    void close_handle() noexcept;   // waits for on_cancel on another thread, gives back unit and reference

protected:
    using cancel_function = void (*)(external_node&);
    external_node(const node_functions& functions, node& parent, node_name name, site made_at, cancel_function on_cancel);
    ~external_node() = default;

    static void level_raised_entry(node& self, level now) noexcept;
    static void describe_entry(const node& self, node_description& d) noexcept;

private:
    cancel_function on_cancel_;
    atomic<std::uint32_t> state_{0};
};

template <class OnCancel>
class external_node_of final : public external_node {
public:
    template <class F>
    external_node_of(node& parent, node_name name, site made_at, F&& on_cancel)
        : external_node(
              functions_table, parent, name, made_at,
              +[](external_node& self) { static_cast<external_node_of&>(self).fn_(); }),
          fn_(std::forward<F>(on_cancel)) {}

private:
    static void destroy_entry(node& self) noexcept {
        auto& me = static_cast<external_node_of&>(self);
        me.~external_node_of();
        deallocate_frame(&me, sizeof(external_node_of));
    }
    static constexpr node_functions functions_table{
        .kind = "external resource",
        .destroy = &destroy_entry,
        .level_raised = &level_raised_entry,
        .describe = &describe_entry,
    };
    OnCancel fn_;
};

}  // namespace detail

// Work that happens outside: a request to another service, an operation of an event loop, a child process. It is a named
// unit of its parent's work until this handle goes. When the parent is cancelled, on_cancel runs once, on the canceller's
// stack, because whoever would have to run it elsewhere may be the one that is blocked in the operation. So it has to be short
// (tell the event loop; post) and takes no lock that anybody holds who cancels; what needs more is a `callback`. What it throws
// goes to the failure sink. Cancel and completion race fairly: exactly one of on_cancel and a try_complete() that says true
// happens.
class external_resource {
public:
    external_resource() noexcept = default;
    // Empty when the parent is closing. Under a cancelled parent on_cancel has run when this returns.
    template <std::invocable<> OnCancel>
    [[nodiscard]] static external_resource open(node& parent, node_name name, OnCancel&& on_cancel,
                                                site made_at = std::source_location::current(),
                                                admission as = admission::outsider) {
        using block = detail::external_node_of<std::decay_t<OnCancel>>;
        void* memory = allocate_frame(sizeof(block));
        block* made = nullptr;
        try {
            made = ::new (memory) block(parent, name, made_at, std::forward<OnCancel>(on_cancel));
        } catch (...) {
            deallocate_frame(memory, sizeof(block));
            throw;
        }
        if (made->attach(child_kind::working, as) == attached::refused) {
            made->discard();
            return {};
        }
        if (made->should_stop_now()) {
            made->fire();
        }
        return external_resource(made);
    }
    external_resource(external_resource&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    external_resource& operator=(external_resource&& other) noexcept {
        if (this != &other) {
            reset();
            node_ = std::exchange(other.node_, nullptr);
        }
        return *this;
    }
    ~external_resource() { reset(); }

    // The operation has completed. True: act on it; on_cancel has not run and never will. False: it was cancelled first, or
    // completed before.
    [[nodiscard]] bool try_complete() noexcept { return node_ != nullptr && node_->try_complete(); }
    // Gives the unit back. If the parent is cancelled and the operation has not completed, on_cancel has run, here at the
    // latest. Afterwards it neither runs nor is running (unless this is called from inside it).
    void reset() noexcept {
        if (detail::external_node* held = std::exchange(node_, nullptr)) {
            held->close_handle();
        }
    }
    [[nodiscard]] explicit operator bool() const noexcept { return node_ != nullptr; }
    [[nodiscard]] node* target() const noexcept { return node_; }

private:
    explicit external_resource(detail::external_node* held) noexcept : node_(held) {}
    detail::external_node* node_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI
