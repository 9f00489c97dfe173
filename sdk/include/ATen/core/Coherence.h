// SPDX-License-Identifier: Apache-2.0
//
// at::CoherencyEnforcer: who has a tensor open, and what to do about combinations that can see stale data.
// It counts only; it moves no data. Facts: spec device-runtime.md §8.
#pragma once

#include <c10/util/Exception.h>

namespace at {

/// Per-handle counters of open accessors. Any number of readers, or one writer, or any number of element
/// accessors; TCM accessors are outside the scheme.
class CoherencyEnforcer {
 public:
  /// What to do on a combination that may be incoherent.
  enum Policy : unsigned {
    COHERENT = 0,            ///< abort, unless compiled with NDEBUG
    INCOHERENT_VERBOSE = 1,  ///< print a warning and go on
    INCOHERENT_QUIET = 2,    ///< go on
  };

  CoherencyEnforcer() = default;
  // A copied or moved handle starts with nothing open: its accessors are its own (spec device-runtime.md §5.1).
  CoherencyEnforcer(const CoherencyEnforcer& other) : policy_(other.policy_) {}
  CoherencyEnforcer& operator=(const CoherencyEnforcer& other) {
    policy_ = other.policy_;
    return *this;
  }

  Policy get_policy() const { return policy_; }
  void set_policy(Policy policy) { policy_ = policy; }

  void acquire_buffered_reader() {
    if (buffered_writers_ != 0 || unbuffered_accessors_ != 0) {
      violation("Coherence.h:42 buffered_writers_ == 0 && unbuffered_accessors_ == 0");
    }
    ++buffered_readers_;
  }
  void release_buffered_reader() {
    check("Coherence.h:53 buffered_readers_ > 0", buffered_readers_ > 0);
    --buffered_readers_;
  }

  void acquire_buffered_writer() {
    if (buffered_readers_ != 0 || buffered_writers_ != 0 || unbuffered_accessors_ != 0) {
      violation("Coherence.h:62 buffered_readers_ == 0 && buffered_writers_ == 0 && unbuffered_accessors_ == 0");
    }
    ++buffered_writers_;
  }
  void release_buffered_writer() {
    check("Coherence.h:74 buffered_writers_ > 0", buffered_writers_ > 0);
    --buffered_writers_;
  }

  void acquire_unbuffered_accessor() {
    if (buffered_readers_ != 0 || buffered_writers_ != 0) {
      violation("Coherence.h:83 buffered_readers_ == 0 && buffered_writers_ == 0");
    }
    ++unbuffered_accessors_;
  }
  void release_unbuffered_accessor() {
    check("Coherence.h:94 unbuffered_accessors_ > 0", unbuffered_accessors_ > 0);
    --unbuffered_accessors_;
  }

 private:
  /// Applies the policy; `tail` is what a COHERENT abort prints.
  void violation(const char* tail) const {
#ifndef NDEBUG
    if (policy_ == COHERENT) ::_Assert(tail, 0);
#else
    (void)tail;
#endif
    if (policy_ == INCOHERENT_VERBOSE) warn();
  }
  /// Prints the counts of open accessors on stdout.
  void warn() const;

  static void check(const char* tail, bool holds) {
#ifndef NDEBUG
    if (!holds) ::_Assert(tail, 0);
#else
    (void)tail, (void)holds;
#endif
  }

  int buffered_readers_ = 0;
  int buffered_writers_ = 0;
  int unbuffered_accessors_ = 0;
  Policy policy_ = COHERENT;
};

static_assert(sizeof(CoherencyEnforcer) == 16 && alignof(CoherencyEnforcer) == 4, "spec device-runtime.md §8.1");

}  // namespace at
