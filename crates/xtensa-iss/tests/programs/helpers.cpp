// What the helpers of libstdc++'s tests declare and define beside functions that throw: counters, and no limits.
#include <testsuite_allocator.h>
#include <testsuite_hooks.h>

#include <cstdio>

namespace __gnu_test {

object_counter::size_type object_counter::count;
unsigned copy_constructor::count_, copy_constructor::throw_on_;
unsigned assignment_operator::count_, assignment_operator::throw_on_;
unsigned destructor::_M_count;
int copy_tracker::next_id_;

tracker_allocator_counter::size_type tracker_allocator_counter::allocationCount_;
tracker_allocator_counter::size_type tracker_allocator_counter::deallocationCount_;
int tracker_allocator_counter::constructCount_;
int tracker_allocator_counter::destructCount_;

void set_memory_limits(float) {}

bool check_construct_destroy(const char* tag, int constructed, int destroyed) {
    const bool is_right = tracker_allocator_counter::get_construct_count() == constructed &&
                          tracker_allocator_counter::get_destruct_count() == destroyed;
    if (!is_right) std::printf("%s: constructed or destroyed otherwise\n", tag);
    return is_right;
}

}  // namespace __gnu_test
