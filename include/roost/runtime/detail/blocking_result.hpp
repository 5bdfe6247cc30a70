#pragma once

// What a blocking function returned or threw, until the coroutine takes it.

#include <roost/base/config.hpp>

#include <exception>
#include <optional>
#include <tuple>
#include <utility>

namespace roost::inline ROOST_ABI::detail {

template <class T>
class blocking_result {
public:
    template <class Fn, class Args>
    void run(Fn& fn, Args& args) noexcept {
        try {
            value_.emplace(std::apply(std::move(fn), std::move(args)));
        } catch (...) {
            error_ = std::current_exception();
        }
    }
    T take() {
        if (error_ != nullptr) {
            std::rethrow_exception(std::move(error_));
        }
        return std::move(*value_);
    }

private:
    std::optional<T> value_;
    std::exception_ptr error_;
};

template <class T>
class blocking_result<T&> {
public:
    template <class Fn, class Args>
    void run(Fn& fn, Args& args) noexcept {
        auto address = [&fn](Args& a) { return &std::apply(std::move(fn), std::move(a)); };
        std::tuple<Args&> wrapped(args);
        pointer_.run(address, wrapped);
    }
    T& take() { return *pointer_.take(); }

private:
    blocking_result<T*> pointer_;
};

template <>
class blocking_result<void> {
public:
    template <class Fn, class Args>
    void run(Fn& fn, Args& args) noexcept {
        try {
            std::apply(std::move(fn), std::move(args));
        } catch (...) {
            error_ = std::current_exception();
        }
    }
    void take() {
        if (error_ != nullptr) {
            std::rethrow_exception(std::move(error_));
        }
    }

private:
    std::exception_ptr error_;
};

}  // namespace roost::inline ROOST_ABI::detail
