#pragma once

// The metrics of a runtime, a pool or a service, for a scrape. Each source is in a list of the process from enlist() to delist().
//
// Fields   prev, next, readers, leaving   under the lock of the list
// I1       an entry that is being read stays in the list

#include <roost/base/atomic.hpp>
#include <roost/base/detail/fine_histogram.hpp>

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace roost::inline ROOST_ABI::detail {

struct metric_label {
    const char* name;
    std::string_view value;
};

// Names and helps are literals. Each function may throw std::bad_alloc.
class metric_sink {
public:
    using labels = std::initializer_list<metric_label>;
    virtual void gauge(const char* name, const char* help, double value, labels of) = 0;
    virtual void counter(const char* name, const char* help, std::uint64_t value, labels of) = 0;
    // Nanoseconds, shown as seconds.
    virtual void times(const char* name, const char* help, const distribution& all, labels of) = 0;

protected:
    ~metric_sink() = default;
};

class metric_source {
public:
    metric_source() noexcept = default;
    metric_source(const metric_source&) = delete;
    metric_source& operator=(const metric_source&) = delete;

    // enlist() is called when the source can be read, delist() before it can no longer be read. delist() waits for a read() that
    // is running. It does nothing if the source is not in the list. Not for models.
    void enlist() noexcept;
    void delist() noexcept;
    // Calls read() of every source, outside the lock.
    static void read_all(metric_sink& to);

protected:
    ~metric_source() = default;
    virtual void read(metric_sink& to) = 0;

private:
    struct list;
    static list& all() noexcept;

    metric_source* prev_ = nullptr;
    metric_source* next_ = nullptr;
    std::uint32_t readers_ = 0;
    bool is_listed_ = false;
    bool is_leaving_ = false;
};

}  // namespace roost::inline ROOST_ABI::detail
