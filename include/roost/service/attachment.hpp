#pragma once

// What options::attach() adds to a service: a function that is called with the host before the root task begins.
//
//   service::run(serve, service::options().name("shop").attach(admin::listen(9090)));
//
// host::keep() keeps an object alive until the service has ended.

#include <roost/base/config.hpp>
#include <roost/service/detail/forward.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace roost::inline ROOST_ABI::service {

class host;

// A function of a host. A copy has a copy of the function. Copying throws std::bad_alloc, and what that of the function
// throws.
class attachment {
public:
    constexpr attachment() noexcept = default;
    // f(host&) may throw; then the service is not started. Throws std::bad_alloc.
    template <class F>
        requires(!std::same_as<std::remove_cvref_t<F>, attachment>) && std::copy_constructible<F> &&
                std::invocable<const F&, host&>
    explicit(false) attachment(F f) : held_(new holder<F>(std::move(f))) {}
    constexpr attachment(const attachment& other) : held_(other.held_ == nullptr ? nullptr : other.held_->clone()) {}
    constexpr attachment(attachment&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
    constexpr attachment& operator=(attachment other) noexcept {
        std::swap(held_, other.held_);
        return *this;
    }
    constexpr ~attachment() {
        if (held_ != nullptr) {
            delete held_;
        }
    }

    [[nodiscard]] constexpr explicit operator bool() const noexcept { return held_ != nullptr; }
    // Calls the function. Does nothing if there is none.
    void operator()(host& h) const {
        if (held_ != nullptr) {
            held_->call(h);
        }
    }
    // Returns an attachment that calls both, this one first.
    [[nodiscard]] constexpr attachment then(attachment next) && {
        if (held_ == nullptr) {
            return next;
        }
        return attachment([first = std::move(*this), second = std::move(next)](host& h) {
            first(h);
            second(h);
        });
    }

private:
    class any {
    public:
        any() noexcept = default;
        any(const any&) = default;
        any& operator=(const any&) = delete;
        virtual ~any() = default;
        [[nodiscard]] virtual const any* clone() const = 0;
        virtual void call(host& h) const = 0;
    };
    template <class F>
    class holder final : public any {
    public:
        explicit holder(F f) : f_(std::move(f)) {}
        [[nodiscard]] const any* clone() const override { return new holder(*this); }
        void call(host& h) const override { f_(h); }

    private:
        F f_;
    };

    const any* held_ = nullptr;
};

}  // namespace roost::inline ROOST_ABI::service
