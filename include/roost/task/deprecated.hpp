#pragma once

// Names of the previous release. The next release removes them. Each message names the replacement.

#include <roost/task/owned_scope.hpp>
#include <roost/task/promise.hpp>
#include <roost/task/scope.hpp>
#include <roost/task/with_note.hpp>

namespace roost::inline ROOST_ABI {

using limited_scope [[deprecated("take a scope&; every scope can have a limit")]] = scope;
using service_scope [[deprecated("take a scope&; every scope can have daemons")]] = scope;

template <class Fn, class... Args>
[[deprecated("use with_scope(scope_options(\"name\").at_most(n), fn, args...)"), nodiscard]] auto with_limited_scope(
    std::uint32_t limit, Fn&& fn, Args&&... args) {
    return with_scope(scope_options("limited scope").at_most(limit), std::forward<Fn>(fn), std::forward<Args>(args)...);
}
template <class Fn, class... Args>
[[deprecated("use with_scope(fn, args...); every scope has daemon()"), nodiscard]] auto with_services(Fn&& fn,
                                                                                                      Args&&... args) {
    return with_scope(scope_options("services"), std::forward<Fn>(fn), std::forward<Args>(args)...);
}
template <class Fn, class... Args>
[[deprecated("use with_scope(scope_options(\"name\").keep_going(), fn, args...)"), nodiscard]] auto collect(Fn&& fn,
                                                                                                            Args&&... args) {
    return with_scope(scope_options("collect").keep_going(), std::forward<Fn>(fn), std::forward<Args>(args)...);
}

template <class T, class Cancel>
[[deprecated("use make_promise<T>(scope, name, cancel)"), nodiscard]] std::pair<deferred<T>, promise<T>> bridge(
    scope& in, node_name name, Cancel cancel, std::source_location where = std::source_location::current()) {
    return make_promise<T>(in, name, std::move(cancel), where);
}
template <class T>
[[deprecated("use with_note(text, task)"), nodiscard]] task<T> trace(
    std::string text, task<T> t, std::source_location where = std::source_location::current()) {
    return with_note(std::move(text), std::move(t), where);
}

class [[deprecated("use owned_scope(executor, scope_options(\"name\").report_failures())")]] root_scope final
    : public owned_scope {
public:
    explicit root_scope(executor_ref where, node_name name = "root",
                        std::source_location made_at = std::source_location::current())
        : owned_scope(where, scope_options(name, made_at).report_failures()) {}
    root_scope(const node& parent, executor_ref where, node_name name,
               std::source_location made_at = std::source_location::current())
        : owned_scope(parent, where, scope_options(name, made_at).report_failures()) {}

    void close() noexcept { request_close(); }
    void join_blocking() { close_blocking(); }
    [[nodiscard]] bool has_ended() const noexcept { return is_closed(); }
};

}  // namespace roost::inline ROOST_ABI
