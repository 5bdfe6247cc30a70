#include <roost/task/with_note.hpp>

namespace roost::inline ROOST_ABI::detail {

void add_note_at(job_core& to, const std::string& text, site where) noexcept {
    try {
        to.add_note(text + " (" + where.to_string() + ")");
    } catch (const std::bad_alloc&) {  // notes are best effort
    }
}

}  // namespace roost::inline ROOST_ABI::detail
