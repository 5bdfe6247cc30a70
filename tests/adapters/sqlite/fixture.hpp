#pragma once

#include <roost/adapters/sqlite/connection.hpp>
#include <roost/runtime/run.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include <unistd.h>

namespace sqlite_testing {

inline constexpr const char* endless =
    "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n";

// A folder of its own, and a runtime with so many threads in its blocking lane.
class with_folder : public testing::Test {
protected:
    explicit with_folder(unsigned workers = 2, std::size_t lane = 64)
        : rt(roost::runtime_options().workers(workers).blocking_threads(lane)) {
        std::string name = (std::filesystem::temp_directory_path() / "roost_sqlite_XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~with_folder() override {
        rt.shut_down();  // pools may be closing connections, which removes files
        std::filesystem::remove_all(folder_);
    }
    [[nodiscard]] std::string file(const char* name = "test.db") const { return folder_ + "/" + name; }
    [[nodiscard]] roost::pool_options options(std::uint32_t capacity, const char* name = "db") {
        roost::pool_options o(capacity, name);
        o.where = rt;
        o.timers = &rt.timers();
        return o;
    }

    roost::runtime rt;

private:
    std::string folder_;
};

}  // namespace sqlite_testing
