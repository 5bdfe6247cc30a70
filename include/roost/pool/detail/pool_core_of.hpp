#pragma once

#include <roost/pool/detail/driver.hpp>
#include <roost/pool/detail/drop_limit.hpp>
#include <roost/pool/detail/pool_core.hpp>

#include <concepts>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

struct no_check {};
struct just_destruct {
    template <class R>
    void operator()(R&) const noexcept {}
};

// The part of a pool that depends on the resource type and the user's functions.
template <class R, class Create, class Destroy, class Check>
class pool_core_of final : public pool_core {
    static constexpr bool creates_async_v = can_be_driven<std::invoke_result_t<Create&>>;
    static constexpr bool destroys_async_v = can_be_driven<std::invoke_result_t<Destroy&, R&>>;
    static constexpr bool has_check_v = !std::is_same_v<Check, no_check>;
    static constexpr bool checks_async_v = [] {
        if constexpr (std::is_invocable_v<Check&, R&>) {
            return can_be_driven<std::invoke_result_t<Check&, R&>>;
        }
        return false;
    }();
    static constexpr pool_kinds kinds_v{creates_async_v, has_check_v, checks_async_v};

    static_assert(
        creates_async_v || std::is_same_v<R, std::invoke_result_t<Create&>> ||
            std::is_constructible_v<R, std::invoke_result_t<Create&>>,
        "create() must return the resource, or an awaitable for it that a plain coroutine can co_await, or a task for it "
        "(then include roost/task/driven.hpp)");
    static_assert(!(creates_async_v || destroys_async_v || checks_async_v) || std::is_move_constructible_v<R>,
                  "a resource that is created, checked or destroyed by an awaitable must be movable");

public:
    pool_core_of(pool_options options, Create create_with, Destroy destroy_with, Check check_with, site made_at)
        : pool_core(std::move(options), kinds_v, made_at),
          create_(std::move(create_with)),
          destroy_(std::move(destroy_with)),
          check_(std::move(check_with)) {
        make_slots();
    }
    pool_core_of(node& parent, pool_options options, Create create_with, Destroy destroy_with, Check check_with,
                 site made_at)
        : pool_core(parent, std::move(options), kinds_v, made_at),
          create_(std::move(create_with)),
          destroy_(std::move(destroy_with)),
          check_(std::move(check_with)) {
        make_slots();
    }

    [[nodiscard]] static pool_core* make(pool_options options, Create create, Destroy destroy, Check check, site made_at) {
        void* memory = allocate(sizeof(pool_core_of), alignof(pool_core_of));
        const roost::node parent = options.parent;
        pool_core_of* made = nullptr;
        try {
            made = !parent ? ::new (memory) pool_core_of(std::move(options), std::move(create), std::move(destroy),
                                                         std::move(check), made_at)
                           : ::new (memory) pool_core_of(tree_access::core_of(parent), std::move(options), std::move(create),
                                                         std::move(destroy), std::move(check), made_at);
        } catch (...) {
            deallocate(memory, sizeof(pool_core_of), alignof(pool_core_of));
            throw;
        }
        if (parent && made->attach(child_kind::idle) == attached::refused) {
            const std::string name(made->name());
            made->discard_node();
            throw pool_error(errc::closed, name, pool_error::no_stripe, pool_error::step::acquire,
                             "its parent node is closed");
        }
        made->open();
        made->upkeep().warm_up();
        made->upkeep().start();
        return made;
    }

private:
    void discard_node() noexcept { node::discard(); }

    ~pool_core_of() {
        for (unsigned i = 0; i < stripes().total_slots(); ++i) {
            slots_[i].~slot<R>();
        }
        deallocate(slots_, sizeof(slot<R>) * stripes().total_slots(), alignof(slot<R>));
    }
    void make_slots() {
        slots_ = static_cast<slot<R>*>(allocate(sizeof(slot<R>) * stripes().total_slots(), alignof(slot<R>)));
        for (unsigned i = 0; i < stripes().total_slots(); ++i) {
            bind_slot(i, *::new (static_cast<void*>(slots_ + i)) slot<R>);
        }
    }
    static slot<R>& mine(slot_base& s) noexcept { return static_cast<slot<R>&>(s); }
    static int stripe_of(const slot_base& s) noexcept { return static_cast<int>(s.home->number); }

    void create_now([[maybe_unused]] slot_base& s) override {
        if constexpr (!creates_async_v) {
            mine(s).emplace_from(create_);
        }
    }

    void start_create([[maybe_unused]] slot_base& s, [[maybe_unused]] std::uint32_t attempt) noexcept override {
        if constexpr (creates_async_v) {
            retain();  // an attempt past its limit may outlive the pool
            try {
                drive(
                    options().where, [this] { return create_(); },
                    [this, &s, attempt](auto& ended) noexcept {
                        end_create(s, attempt, ended);
                        release();
                    },
                    [this, &s, attempt](node& job) noexcept { limits().note_running(s, attempt, job); });
            } catch (...) {  // no memory for the driver
                limits().claim_attempt(s, attempt) ? creation().create_failed(s, std::current_exception())
                                                   : limits().end_late();
                release();
            }
        }
    }
    // Moving the resource into the slot may throw. Then destroy() is called for it where it is, as for a late resource. The
    // result is destroyed before the pool is notified.
    template <class Ended>
    void end_create(slot_base& s, std::uint32_t attempt, Ended& ended) noexcept {
        const int stripe = stripe_of(s);
        const bool is_late = !limits().claim_attempt(s, attempt);
        std::exception_ptr why = ended->error();
        try {
            if (ended->has_value() && !is_late) {
                mine(s).emplace(std::move(ended->value()));
            }
        } catch (...) {
            why = std::current_exception();
        }
        if (ended->has_value() && (is_late || why)) {
            drop(ended->value(), stripe);
        }
        ended.reset();
        if (is_late) {
            limits().end_late();
        } else if (why) {
            creation().create_failed(s, std::move(why));
        } else {
            creation().created(s);
        }
    }

    void destroy_now(slot_base& s, std::uint32_t attempt) noexcept override {
        if constexpr (destroys_async_v) {
            const int stripe = stripe_of(s);
            std::unique_ptr<R> gone = moved_out(mine(s).value(), stripe);
            mine(s).destroy_value();
            retain();
            limits().arm(s, options().destroy_timeout);  // from here on the slot may be reused at any time
            start_drop(
                std::move(gone),
                [this, &s, attempt, stripe](const std::exception_ptr& why) noexcept {
                    const bool is_late = !limits().claim_attempt(s, attempt);
                    if (why && !is_late) {
                        report(pool_error::step::destroy, stripe, why);
                    }
                    is_late ? limits().end_late() : queue().emptied(s);
                    release();
                },
                [this, &s, attempt](node& job) noexcept { limits().note_running(s, attempt, job); });
        } else {
            try {
                destroy_(mine(s).value());
            } catch (...) {
                report(pool_error::step::destroy, stripe_of(s), std::current_exception());
            }
            mine(s).destroy_value();
            if (limits().claim_attempt(s, attempt)) {
                queue().emptied(s);
            }
        }
    }
    // Returns null if the move threw, which is reported. The resource is then destroyed without destroy().
    template <class Value>
    [[nodiscard]] std::unique_ptr<R> moved_out(Value& value, int stripe) noexcept {
        try {
            return std::make_unique<R>(std::move(value));
        } catch (...) {
            report(pool_error::step::destroy, stripe, std::current_exception());
            return nullptr;
        }
    }
    // Destroys a resource in no slot, or a value that R can be constructed from.
    template <class Value>
    void drop(Value& value, int stripe) noexcept {
        if constexpr (std::is_same_v<Value, R> && !destroys_async_v) {
            drop_here(value, stripe);
        } else {
            drop(moved_out(value, stripe), stripe);
        }
    }
    void drop(std::unique_ptr<R> gone, int stripe) noexcept {
        if (gone == nullptr) {
            return;
        }
        if constexpr (destroys_async_v) {
            retain();
            limits().begin_drop();
            drop_limit* const limit = limits().make_drop_limit();
            start_drop(
                std::move(gone),
                [this, stripe, limit](const std::exception_ptr& why) noexcept {
                    delete limit;
                    if (why) {
                        report(pool_error::step::destroy, stripe, why);
                    }
                    limits().end_drop();
                    release();
                },
                [this, limit](node& job) noexcept {
                    if (limit != nullptr) {
                        limit->begin(job, options().destroy_timeout);
                    }
                });
        } else {
            drop_here(*gone, stripe);
        }
    }
    void drop_here(R& gone, int stripe) noexcept {
        try {
            destroy_(gone);
        } catch (...) {
            report(pool_error::step::destroy, stripe, std::current_exception());
        }
    }
    // Calls done(error) after the resource's own destructor has run.
    template <class Done, class Started = nothing_started>
    void start_drop(std::unique_ptr<R> gone, Done done, Started started = {}) noexcept {
        if (gone == nullptr) {
            done(nullptr);
            return;
        }
        try {
            R* const asked = gone.get();
            drive(
                options().where, [this, asked] { return destroy_(*asked); },
                [done, gone = std::move(gone)](auto& ended) mutable noexcept {
                    const std::exception_ptr why = ended->error();
                    ended.reset();
                    gone.reset();
                    done(why);
                },
                started);
        } catch (...) {
            done(std::current_exception());
        }
    }

    bool check([[maybe_unused]] slot_base& s) override {
        if constexpr (has_check_v && !checks_async_v) {
            return static_cast<bool>(check_(mine(s).value()));
        } else {
            return true;
        }
    }
    // The resource leaves its slot during the check. A check past its limit keeps the resource, and the slot is reused.
    void start_check([[maybe_unused]] slot_base& s, [[maybe_unused]] std::uint32_t attempt) noexcept override {
        if constexpr (checks_async_v) {
            std::unique_ptr<R> held;
            try {
                held = std::make_unique<R>(std::move(mine(s).value()));
                mine(s).destroy_value();
                R* const asked = held.get();
                retain();
                limits().arm(s, options().check_timeout);  // from here on the slot may be reused at any time
                drive(
                    options().where, [this, asked] { return check_(*asked); },
                    [this, &s, attempt, asked](auto& ended) noexcept {
                        end_check(s, attempt, std::unique_ptr<R>(asked), ended);
                        release();
                    },
                    [this, &s, attempt](node& job) noexcept { limits().note_running(s, attempt, job); });
                static_cast<void>(held.release());
            } catch (...) {  // no memory, or the move threw
                const bool was_moved = held != nullptr;
                if (!limits().claim_attempt(s, attempt)) {
                    drop(std::move(held), stripe_of(s));
                    limits().end_late();
                } else {
                    const bool is_in_slot = !was_moved || put_back(s, held);
                    is_in_slot ? creation().check_failed(s) : creation().check_lost(s);
                }
                if (was_moved) {
                    release();
                }
            }
        }
    }
    // Returns true if the resource is back in its slot. False: the move threw, and the resource is destroyed.
    bool put_back(slot_base& s, std::unique_ptr<R>& held) noexcept {
        try {
            mine(s).emplace(std::move(*held));
            held.reset();
            return true;
        } catch (...) {
            report(pool_error::step::check, stripe_of(s), std::current_exception());
            drop(std::move(held), stripe_of(s));
            return false;
        }
    }
    template <class Ended>
    void end_check(slot_base& s, std::uint32_t attempt, std::unique_ptr<R> held, Ended& ended) noexcept {
        const bool is_late = !limits().claim_attempt(s, attempt);
        if (!ended->has_value() && !is_late) {
            report(pool_error::step::check, stripe_of(s), ended->error());
        }
        const bool is_fine = ended->has_value() && static_cast<bool>(ended->value());
        ended.reset();
        if (is_late) {
            drop(std::move(held), stripe_of(s));
            limits().end_late();
            return;
        }
        if (!put_back(s, held)) {
            creation().check_lost(s);
            return;
        }
        if (is_fine) {
            creation().checked(s);
        } else {
            creation().check_failed(s);
        }
    }
    void free_self() noexcept override {
        this->~pool_core_of();
        deallocate(this, sizeof(pool_core_of), alignof(pool_core_of));
    }

    Create create_;
    Destroy destroy_;
    [[no_unique_address]] Check check_;
    slot<R>* slots_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::detail
