#include <roost/base/wall_clock.hpp>

#include <algorithm>
#include <ctime>

namespace roost::inline ROOST_ABI {

using namespace ext;

wall_time ext::wall_now() noexcept {
    timespec spec{};
    ::clock_gettime(CLOCK_REALTIME, &spec);
    return wall_time(std::chrono::seconds(spec.tv_sec) + std::chrono::nanoseconds(spec.tv_nsec));
}

namespace {

void put(char* to, unsigned digits, unsigned value) noexcept {
    while (digits-- > 0) {
        to[digits] = static_cast<char>('0' + value % 10);
        value /= 10;
    }
}

}  // namespace

std::string_view ext::write_wall_time(wall_time t, char (&to)[wall_text_size]) noexcept {
    using namespace std::chrono;
    const sys_days day = floor<days>(t);
    const year_month_day date(day);
    const hh_mm_ss clock(floor<milliseconds>(t - day));
    const std::string_view shape = "0000-00-00T00:00:00.000Z";
    static_assert(wall_text_size == sizeof "0000-00-00T00:00:00.000Z" - 1);
    std::copy(shape.begin(), shape.end(), to);
    put(to, 4, static_cast<unsigned>(std::clamp(static_cast<int>(date.year()), 0, 9999)));
    put(to + 5, 2, static_cast<unsigned>(date.month()));
    put(to + 8, 2, static_cast<unsigned>(date.day()));
    put(to + 11, 2, static_cast<unsigned>(clock.hours().count()));
    put(to + 14, 2, static_cast<unsigned>(clock.minutes().count()));
    put(to + 17, 2, static_cast<unsigned>(clock.seconds().count()));
    put(to + 20, 3, static_cast<unsigned>(clock.subseconds().count()));
    return {to, wall_text_size};
}

}  // namespace roost::inline ROOST_ABI
