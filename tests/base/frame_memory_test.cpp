#include <roost/base/atomic.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <vector>

#include <malloc.h>

namespace {

TEST(frame_memory, BASE_19_a_freed_frame_is_used_again) {
    if (ROOST_ASAN) {
        GTEST_SUCCEED() << "frames go straight to the heap under AddressSanitizer";
        return;
    }
    for (const std::size_t size : {1U, 63U, 64U, 65U, 400U, 1024U}) {
        void* first = roost::seam::allocate_frame(size);
        roost::seam::deallocate_frame(first, size);
        void* second = roost::seam::allocate_frame(size);
        EXPECT_EQ(first, second) << size;
        roost::seam::deallocate_frame(second, size);
    }
}

TEST(frame_memory, BASE_19_frames_do_not_overlap) {
    std::vector<std::pair<unsigned char*, std::size_t>> frames;
    for (std::size_t i = 0; i < 200; ++i) {
        const std::size_t size = 1 + (i * 37) % 1500;
        auto* memory = static_cast<unsigned char*>(roost::seam::allocate_frame(size));
        std::memset(memory, static_cast<int>(i), size);
        frames.emplace_back(memory, size);
    }
    for (std::size_t i = 0; i < frames.size(); ++i) {
        for (std::size_t b = 0; b < frames[i].second; ++b) {
            ASSERT_EQ(frames[i].first[b], static_cast<unsigned char>(i));
        }
        roost::seam::deallocate_frame(frames[i].first, frames[i].second);
    }
}

TEST(frame_memory, BASE_60_takes_no_more_than_its_size_takes_from_the_heap) {
    void* one = std::malloc(1);
    const bool is_sanitized = malloc_usable_size(one) == 1;
    std::free(one);
    if (is_sanitized) {
        GTEST_SUCCEED() << "the heap is a sanitizer's, with other sizes";
        return;
    }
    for (std::size_t size = 1; size <= 1200; ++size) {
        // Of several, because the heap gives a little more when its free piece is too small to be split.
        std::array<void*, 8> exact{};
        std::array<void*, 8> frames{};
        std::size_t exact_bytes = SIZE_MAX;
        std::size_t frame_bytes = SIZE_MAX;
        for (std::size_t i = 0; i < exact.size(); ++i) {
            exact[i] = std::malloc(size);
            frames[i] = roost::seam::allocate_frame(size);
            exact_bytes = std::min(exact_bytes, malloc_usable_size(exact[i]));
            frame_bytes = std::min(frame_bytes, malloc_usable_size(frames[i]));
        }
        EXPECT_EQ(frame_bytes, exact_bytes) << size;
        for (std::size_t i = 0; i < exact.size(); ++i) {
            std::free(exact[i]);
            roost::seam::deallocate_frame(frames[i], size);
        }
    }
}

TEST(frame_memory, BASE_19_may_be_freed_on_another_thread) {
    std::vector<void*> frames;
    for (int i = 0; i < 10'000; ++i) {
        frames.push_back(roost::seam::allocate_frame(128));
    }
    EXPECT_EQ(std::set<void*>(frames.begin(), frames.end()).size(), frames.size());
    roost::seam::thread other([&] {
        for (void* frame : frames) {
            roost::seam::deallocate_frame(frame, 128);
        }
    });
    other.join();
}

// A thread-local that frees a frame after the thread's own free blocks are gone.
struct late_owner {
    void* frame = nullptr;
    ~late_owner() {
        if (frame != nullptr) {
            roost::seam::deallocate_frame(frame, 100);
            roost::seam::deallocate_frame(roost::seam::allocate_frame(100), 100);
        }
    }
};
struct late_tag;

TEST(frame_memory, BASE_19_works_while_a_thread_ends) {
    roost::seam::thread other([] {
        roost::seam::thread_value<late_tag, late_owner>::get().frame =
            nullptr;  // constructed before the cache, destroyed after it
        roost::seam::thread_value<late_tag, late_owner>::get().frame = roost::seam::allocate_frame(100);
    });
    other.join();
}

TEST(frame_memory, BASE_19_over_aligned_nodes_are_aligned) {
    void* node = roost::seam::allocate(200, 128);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(node) % 128, 0U);
    roost::seam::deallocate(node, 200, 128);
}

}  // namespace
