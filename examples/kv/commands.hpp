#pragma once

// The commands: what a request does to the store, and its reply.

#include "store.hpp"

namespace kv {

class command {
public:
    // Appends the reply to `out`.
    command(store& data, arguments request, roost::time_point now, std::string& out)
        : data_(data), args_(request), name_(folded(request[0])), now_(now), out_(out) {}

    void execute() {
        using namespace std::chrono_literals;
        if (is("get", 2)) return append_value(args_[1]);
        if (is("set", 3)) return set(roost::no_deadline);
        if (is("set", 5) && folded(args_[3]) == folded("ex")) return set(time_after(args_[4], 1s));
        if (is("set", 5) && folded(args_[3]) == folded("px")) return set(time_after(args_[4], 1ms));
        if (is("incr", 2)) return incr();
        if (is("mget", 2, any)) return mget();
        if (is("del", 2, any)) return del();
        if (is("expire", 3)) return expire(time_after(args_[2], 1s));
        if (is("ttl", 2)) return ttl();
        if (is("echo", 2)) return bulk(args_[1]);
        if (is("ping", 1)) return line('+', "PONG");
        if (is("info", 1, any)) return bulk("# Keyspace\r\ndb0:keys=" + std::to_string(data_.size()) + "\r\n");
        if (is("config", 3, any)) return line('*', "0");   // redis-benchmark asks for two settings; there are none
        if (is("command", 1, any)) return line('*', "0");  // redis-cli asks for the texts of its help
        line('-', "ERR unknown command, or arguments that do not fit");
    }

private:
    using expiry = std::optional<roost::time_point>;
    static constexpr std::size_t any = ~std::size_t{0};

    // Returns up to eight letters as a number that is the same for upper and lower case; 0 for longer words.
    static constexpr std::uint64_t folded(std::string_view word) noexcept {
        std::uint64_t n = 0;
        for (const char c : word) n = n << 8 | static_cast<unsigned char>(c | 0x20);
        return word.size() <= 8 ? n : 0;
    }
    // The number of arguments counts the name.
    [[nodiscard]] bool is(std::string_view name, std::size_t least, std::size_t most = 0) const {
        return name_ == folded(name) && args_.size() >= least && args_.size() <= std::max(least, most);
    }

    void line(char kind, std::string_view text) { out_.append(1, kind).append(text).append("\r\n"); }
    void number(char kind, std::int64_t n) { line(kind, std::to_string(n)); }
    void bulk(std::string_view bytes) { line('$', std::to_string(bytes.size())), out_.append(bytes).append("\r\n"); }
    void not_an_integer() { line('-', "ERR value is not an integer or out of range"); }

    // Returns nothing if there is no such time.
    [[nodiscard]] expiry time_after(std::string_view text, roost::duration unit) const {
        const auto count = to_integer(text);
        if (!count || *count > (roost::no_deadline - now_) / unit) return std::nullopt;
        return now_ + std::max<std::int64_t>(*count, 0) * unit;
    }

    void append_value(std::string_view key) {
        const auto held = data_.lock(key);
        const entry* const found = data_.find(key, now_);
        found != nullptr ? bulk(found->value) : line('$', "-1");
    }

    void mget() {
        line('*', std::to_string(args_.size() - 1));
        for (const auto key : args_.subspan(1)) append_value(key);
    }

    void set(expiry expires) {
        if (!expires) return not_an_integer();
        const auto held = data_.lock(args_[1]);
        data_.set(args_[1], args_[2], *expires);
        line('+', "OK");
    }

    void incr() {
        const auto held = data_.lock(args_[1]);
        const entry* const found = data_.find(args_[1], now_);
        const auto old = found != nullptr ? to_integer(found->value) : 0;
        std::int64_t sum = 0;
        if (!old || __builtin_add_overflow(*old, 1, &sum)) return not_an_integer();
        data_.set(args_[1], std::to_string(sum), found != nullptr ? found->expires : roost::no_deadline);
        number(':', sum);
    }

    void del() {
        std::int64_t count = 0;
        for (const auto key : args_.subspan(1)) {
            const auto held = data_.lock(key);
            count += data_.find(key, now_) != nullptr ? 1 : 0;
            data_.erase(key);
        }
        number(':', count);
    }

    void expire(expiry expires) {
        if (!expires) return not_an_integer();
        const auto held = data_.lock(args_[1]);
        entry* const found = data_.find(args_[1], now_);
        if (found != nullptr) found->expires = *expires;
        number(':', found != nullptr ? 1 : 0);
    }

    void ttl() {
        const auto held = data_.lock(args_[1]);
        const entry* const found = data_.find(args_[1], now_);
        if (found == nullptr || found->expires == roost::no_deadline) return number(':', found == nullptr ? -2 : -1);
        number(':', std::chrono::round<std::chrono::seconds>(found->expires - now_).count());
    }

    store& data_;
    arguments args_;
    std::uint64_t name_;
    roost::time_point now_;
    std::string& out_;
};

}  // namespace kv
