#pragma once

#include <roost/pool/detail/access.hpp>
#include <roost/pool/detail/pool_core.hpp>

#include <exception>
#include <utility>

namespace roost::inline ROOST_ABI {

template <class R>
class pool;
template <class R>
class acquired;

// A handle to an acquired resource. Its destructor returns the resource to the pool, also after the pool object is
// destroyed. Movable, also to another thread. Not thread-safe. Dereferencing an empty handle ends the program.
template <class R>
class [[nodiscard("the resource goes back at once unless the handle has a name")]] pooled {
public:
    pooled() noexcept = default;
    pooled(pooled&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)), is_distrusted_(other.is_distrusted_) {
        note_moved();
    }
    pooled& operator=(pooled&& other) noexcept {
        if (this != &other) {
            finish();
            slot_ = std::exchange(other.slot_, nullptr);
            is_distrusted_ = other.is_distrusted_;
            note_moved();
        }
        return *this;
    }
    ~pooled() { finish(); }

    // Returns true if it holds a resource.
    [[nodiscard]] explicit operator bool() const noexcept { return slot_ != nullptr; }
    [[nodiscard]] R& operator*() const noexcept { return held(); }
    [[nodiscard]] R* operator->() const noexcept { return &held(); }
    [[nodiscard]] int stripe() const noexcept { return slot_ == nullptr ? -1 : static_cast<int>(slot_->home->number); }

    // Returns the resource to the pool now. The handle is empty afterwards.
    void give_back() noexcept {
        if (detail::slot_base* s = std::exchange(slot_, nullptr)) {
            s->core->give_back(*s);
        }
    }
    // Destroys the resource, for example because it is broken. The first waiter may create another one. The handle is empty
    // afterwards.
    void discard() noexcept {
        if (detail::slot_base* s = std::exchange(slot_, nullptr)) {
            s->core->note_release(*s);
            s->core->creation().discard(*s);
        }
    }
    // Between distrust() and trust() the destructor discards the resource. For a protocol exchange that an exception or a
    // cancel may interrupt.
    void distrust() noexcept { is_distrusted_ = true; }
    void trust() noexcept { is_distrusted_ = false; }

private:
    friend class acquired<R>;
    explicit pooled(detail::slot_base* s) noexcept : slot_(static_cast<detail::slot<R>*>(s)) {}
    // The handle of an acquired<R>, for the caller: no move that observers count.
    [[nodiscard]] static pooled taken_out(pooled& of) noexcept {
        return pooled(std::exchange(of.slot_, nullptr), of.is_distrusted_);
    }
    pooled(detail::slot<R>* s, bool is_distrusted) noexcept : slot_(s), is_distrusted_(is_distrusted) {}
    void note_moved() const noexcept {
        if (detail::holdings::is_on() && slot_ != nullptr) [[unlikely]] {
            detail::holdings::moved(slot_->core, slot_, slot_);
        }
    }
    [[nodiscard]] R& held() const noexcept {
        if (slot_ == nullptr) [[unlikely]] {
            detail::panic_empty_handle();
        }
        return slot_->value();
    }
    void finish() noexcept {
        if (slot_ != nullptr) {
            if (is_distrusted_) [[unlikely]] {
                discard();
            } else {
                give_back();
            }
        }
    }

    detail::slot<R>* slot_ = nullptr;
    bool is_distrusted_ = false;
};

// The result of an acquire: a handle, or a status and an error. status() returns how the acquire ended:
//   ok         a resource
//   empty      a try_ form found nothing idle, or a waiter is queued
//   stopped    the pool's node is stopped, or an ancestor is closed
//   closed     the pool is closed
//   expired    the deadline passed
//   cancelled  a stop token cancelled it
//   failed     no resource could be created
template <class R>
class [[nodiscard]] acquired {
public:
    explicit acquired(wait_status why, std::exception_ptr error = nullptr) noexcept
        : status_(why), error_(std::move(error)) {}

    using value_type = pooled<R>;

    [[nodiscard]] bool has_value() const noexcept { return status_ == wait_status::ok; }
    [[nodiscard]] explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] wait_status status() const noexcept { return status_; }
    // Returns the error, a pool_error with its cause. Null if the status is ok, empty or cancelled.
    [[nodiscard]] const std::exception_ptr& error() const noexcept { return error_; }

    // Returns the resource. Ends the program if there is none.
    [[nodiscard]] R& operator*() noexcept {
        check();
        return *handle_;
    }
    [[nodiscard]] R* operator->() noexcept {
        check();
        return handle_.operator->();
    }
    [[nodiscard]] pooled<R>& handle() noexcept { return handle_; }
    // Returns the handle. Throws error() if there is no resource, or roost::error if error() is null.
    [[nodiscard]] pooled<R> value() && {
        if (status_ != wait_status::ok) {
            detail::throw_no_value(status_, "pool acquire", error_);
        }
        return pooled<R>::taken_out(handle_);
    }
    [[nodiscard]] outcome<pooled<R>> to_outcome() && {
        if (status_ == wait_status::ok) {
            return outcome<pooled<R>>(std::in_place, pooled<R>::taken_out(handle_));
        }
        if (status_ == wait_status::cancelled) {
            return outcome<pooled<R>>(cancelled(reason::plain_kind(reason_kind::requested)));
        }
        return outcome<pooled<R>>(error_ ? error_ : detail::error_of(status_, "pool acquire"));
    }
    explicit operator outcome<pooled<R>>() && { return std::move(*this).to_outcome(); }

private:
    friend struct detail::pool_access;
    explicit acquired(detail::slot_base& s) noexcept : handle_(&s), status_(wait_status::ok) {}
    void check() const noexcept {
        if (status_ != wait_status::ok) [[unlikely]] {
            detail::panic_nothing_acquired(status_, error_);
        }
    }

    pooled<R> handle_;
    wait_status status_;
    std::exception_ptr error_;
};

}  // namespace roost::inline ROOST_ABI
