#include "explore_engine.hpp"

#if defined(ROOST_SEAM_MODEL)

#include <algorithm>
#include <new>

#include <sys/mman.h>

#if ROOST_ASAN
#include <sanitizer/asan_interface.h>
#endif

// Node and frame memory: one arena, reset for every execution, so that addresses are the same each time. Quarantine never
// returns a block twice. Reissue returns the block freed last for the next request of its size, which makes ABA bugs
// appear; then the order of allocations matters, so an allocation is a step.

namespace roost::inline ROOST_ABI {
namespace testkit::detail {

namespace {

constexpr std::size_t arena_bytes = std::size_t(64) << 20U;
constexpr std::size_t redzone = 16;

void poison([[maybe_unused]] const void* p, [[maybe_unused]] std::size_t n) {
#if ROOST_ASAN
    __asan_poison_memory_region(p, n);
#endif
}
void unpoison([[maybe_unused]] const void* p, [[maybe_unused]] std::size_t n) {
#if ROOST_ASAN
    __asan_unpoison_memory_region(p, n);
#endif
}

}  // namespace

engine::engine() : objects_(256) {
    void* p = mmap(nullptr, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        throw std::bad_alloc();
    }
    arena_ = static_cast<char*>(p);
}

engine::~engine() {
    unpoison(arena_, arena_bytes);
    munmap(arena_, arena_bytes);
}

block_record* engine::block_at(const void* p) {
    const auto* at = static_cast<const char*>(p);
    if (blocks_.empty() || at < blocks_.front().begin || at >= arena_ + arena_used_) {
        return nullptr;
    }
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), at,
                                        [](const char* a, const block_record& b) { return a < b.begin; });
    block_record& block = *(after - 1);
    return at < block.begin + block.size ? &block : nullptr;
}

void* engine::allocate(std::size_t size, std::size_t alignment, model_site at) {
    if (allocations_to_fail_ > 0 && pick_value(2) == 1) {
        --allocations_to_fail_;
        if (tracing()) {
            trace_note("allocation of " + std::to_string(size) + " bytes fails at " + place(at));
        }
        throw std::bad_alloc();
    }
    if (how.reuse == reuse::reissue) {
        operation what;
        what.op = model_op::allocate;
        what.at = at;
        what.add(allocator_object, true);
        visible(what);
        done(what);
        const block_record* newest = nullptr;
        for (const block_record& b : blocks_) {
            if (!b.live && b.size == size && (newest == nullptr || b.freed_order > newest->freed_order)) {
                newest = &b;
            }
        }
        if (newest != nullptr) {
            block_record& block = blocks_[static_cast<std::size_t>(newest - blocks_.data())];
            block.live = true;
            block.allocated_at = at;
            unpoison(block.begin, block.size);
            return block.begin;
        }
    }
    const std::size_t begin = (arena_used_ + redzone + alignment - 1) / alignment * alignment;
    if (begin + size > arena_bytes) {
        fail("a model allocates at most 64 MiB in one execution", at);
    }
    poison(arena_ + arena_used_, begin + size + redzone - arena_used_);
    arena_used_ = begin + size;
    unpoison(arena_ + begin, size);
    blocks_.push_back(block_record{arena_ + begin, size, true, 0, at, {}});
    if (tracing()) {
        trace_note("allocates " + std::to_string(size) + " bytes at " + place(at));
    }
    return arena_ + begin;
}

void engine::deallocate(void* memory, std::size_t size, model_site at) {
    if (memory == nullptr) {
        return;
    }
    if (memory < arena_ || memory >= arena_ + arena_bytes) {
        ::operator delete(memory);  // made outside any execution
        return;
    }
    if (how.reuse == reuse::reissue) {
        operation what;
        what.op = model_op::deallocate;
        what.at = at;
        what.add(allocator_object, true);
        visible(what);
        done(what);
    }
    block_record* block = block_at(memory);
    if (block == nullptr || block->begin != memory) {
        fail("memory is freed that was not allocated in this execution", at);
    }
    if (!block->live) {
        fail_with(verdict::double_free, "memory freed at " + place(block->freed_at) + " is freed again at " + place(at) +
                                            " by thread " + std::to_string(current_));
    }
    if (block->size != size) {
        fail("memory is freed with another size than it was allocated with", at);
    }
    release_block(*block, at);
}

void engine::release_block(block_record& block, model_site at) {
    if (tracing()) {
        trace_note("frees " + std::to_string(block.size) + " bytes at " + place(at));
    }
    block.live = false;
    block.freed_at = at;
    block.freed_order = ++frees_;
    for (std::uint32_t i = first_real_object; i < object_count_; ++i) {
        object_record& record = objects_[i];
        const auto* where = reinterpret_cast<const char*>(record.where);
        if (!record.dead && where >= block.begin && where < block.begin + block.size) {
            end_lifetime(record, "freed");
            record.ended_at = at;
        }
    }
    poison(block.begin, block.size);
}

void engine::check_leaks() {
    for (const block_record& b : blocks_) {
        if (b.live) {
            fail_with(verdict::leak,
                      std::to_string(b.size) + " bytes allocated at " + place(b.allocated_at) + " are never freed");
        }
    }
}

}  // namespace testkit::detail
}  // namespace roost::inline ROOST_ABI

#endif  // ROOST_SEAM_MODEL
