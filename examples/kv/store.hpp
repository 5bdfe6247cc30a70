#pragma once

// Keys and values in 64 shards, each with a mutex. Time is a parameter, so tests are exact.

#include "resp.hpp"

#include <roost/base/clock.hpp>

#include <mutex>
#include <unordered_map>

namespace kv {

class entry {
public:
    std::string value;
    roost::time_point expires = roost::no_deadline;
};

class store {
public:
    static constexpr std::size_t shards = 64;
    using shard_lock = std::unique_lock<std::mutex>;

    // find(), set() and erase() require that the shard of the key is locked. An expired entry is as good as none.
    [[nodiscard]] shard_lock lock(std::string_view key) { return shard_lock(shard_of(key).mutex); }
    [[nodiscard]] entry* find(std::string_view key, roost::time_point now) {
        map& entries = shard_of(key).entries;
        const auto found = entries.find(key);
        return found != entries.end() && found->second.expires > now ? &found->second : nullptr;
    }
    void set(std::string_view key, std::string_view value, roost::time_point expires) {
        map& entries = shard_of(key).entries;
        auto found = entries.find(key);
        if (found == entries.end()) found = entries.try_emplace(std::string(key)).first;
        std::string& old = found->second.value;
        if (old.capacity() > 2 * value.size() + 64) std::string().swap(old);  // frees the memory of a much longer value
        old = value;
        found->second.expires = expires;
    }
    void erase(std::string_view key) { shard_of(key).entries.erase(std::string(key)); }

    // Counts expired entries, too.
    [[nodiscard]] std::size_t size() {
        std::size_t sum = 0;
        for (shard& s : shards_) {
            const shard_lock held(s.mutex);
            sum += s.entries.size();
        }
        return sum;
    }

    // Erases the expired entries of one shard, so that they hold no memory.
    void sweep(std::size_t which, roost::time_point now) {
        const shard_lock held(shards_[which].mutex);
        std::erase_if(shards_[which].entries, [now](const auto& e) { return e.second.expires <= now; });
    }

private:
    class hash {
    public:
        using is_transparent = void;
        // Not noexcept: libstdc++ then stores the hashes, and a search does not compute those of other keys.
        std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
    };
    using map = std::unordered_map<std::string, entry, hash, std::equal_to<>>;
    class alignas(64) shard {
    public:
        std::mutex mutex;
        map entries;
    };

    shard& shard_of(std::string_view key) { return shards_[hash()(key) >> 58]; }

    shard shards_[shards];
};

}  // namespace kv
