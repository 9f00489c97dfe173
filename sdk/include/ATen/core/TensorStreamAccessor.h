// SPDX-License-Identifier: Apache-2.0
//
// Sequential access to a tensor through a 4 KiB buffer in core-local memory.
// Storage order, strides ignored, transfers synchronous. Facts: spec device-runtime.md §7.1 and §7.2.
#pragma once

#include <ATen/core/Coherence.h>
#include <neuron_torch_extension/Q7PtrType.h>

namespace at {

namespace detail {
/// Aborts: a stream over `elements` elements was used past its end.
[[noreturn]] void stream_past_end(size_t elements);
/// Does nothing: the simulator sees that a closed stream was used.
void stream_is_closed();
}  // namespace detail

/// Buffer and position shared by readers and writers; move-only. When TCM is exhausted it silently falls back to a buffer of
/// one element inside the object.
template <typename T>
class TensorStream {
 public:
  /// Bytes of TCM that an open stream holds.
  static constexpr size_t BUFFER_SIZE_BYTES = 4096;

  /// A stream over `nbytes` bytes at `data`.
  TensorStream(const c10::Q7PtrType& data, size_t nbytes) : data_(data), data_size_(nbytes / sizeof(T)) {
    void* block = nullptr;
    if (neuron_dataram_allocate(BUFFER_SIZE_BYTES, &block) == 0) {
      buffer_ptr_ = static_cast<T*>(block);
      deleter_ = &free_block;
      buffer_size_ = BUFFER_SIZE_BYTES / sizeof(T);
    } else {
      buffer_ptr_ = &backup_buffer_;
      deleter_ = &keep_block;
      buffer_size_ = 1;
    }
    limit_to_rest();
  }
  TensorStream(TensorStream&& other) noexcept
      : data_(other.data_),
        data_size_(other.data_size_),
        data_idx_(other.data_idx_),
        backup_buffer_(other.backup_buffer_),
        buffer_ptr_(other.buffer_ptr_ == &other.backup_buffer_ ? &backup_buffer_ : other.buffer_ptr_),
        deleter_(other.deleter_),
        buffer_size_(other.buffer_size_),
        buffer_idx_(other.buffer_idx_) {
    other.buffer_ptr_ = nullptr;
  }
  TensorStream(const TensorStream&) = delete;
  TensorStream& operator=(const TensorStream&) = delete;
  ~TensorStream() { close(); }

  bool closed() const { return buffer_ptr_ == nullptr; }
  /// Gives the buffer back; nothing is flushed.
  void close() {
    if (T* block = buffer_ptr_) {
      buffer_ptr_ = nullptr;
      buffer_size_ = 0;
      buffer_idx_ = 0;
      deleter_(block);
    }
  }

  /// Fills the buffer from the tensor at the current position; -1 when closed. The buffer never counts as larger than what
  /// is left of the tensor, so that running past the end comes here.
  int refill() {
    if (closed()) return -1;
    limit_to_rest();
    neuron_memcpy(static_cast<void*>(buffer_ptr_), address(data_idx_), sizeof(T) * buffer_size_);
    buffer_idx_ = 0;
    return 0;
  }
  /// Sends what the buffer holds to the tensor just before the current position; -1 when closed.
  int flush() {
    if (closed()) return -1;
    neuron_memcpy(address(data_idx_ - buffer_idx_), static_cast<void*>(buffer_ptr_), sizeof(T) * buffer_idx_);
    limit_to_rest();
    buffer_idx_ = 0;
    return 0;
  }

  T read() {
    if (buffer_idx_ >= buffer_size_) {
      if (refill() != 0) {
        detail::stream_is_closed();
        return T();
      }
      if (buffer_size_ == 0) detail::stream_past_end(data_size_);
    }
    ++data_idx_;
    return buffer_ptr_[buffer_idx_++];
  }
  void write(T value) {
    if (buffer_idx_ >= buffer_size_) {
      if (flush() != 0) return detail::stream_is_closed();
      if (buffer_size_ == 0) detail::stream_past_end(data_size_);
    }
    ++data_idx_;
    buffer_ptr_[buffer_idx_++] = value;
  }

 private:
  static void free_block(T* block) { neuron_dataram_deallocate(block); }
  static void keep_block(T*) {}
  unsigned long long address(size_t element) const { return data_.template operator+<T>(element).hbm_addr; }
  void limit_to_rest() {
    const size_t left = data_size_ - data_idx_;
    if (left < buffer_size_) buffer_size_ = left;
  }

  const c10::Q7PtrType data_;
  size_t data_size_;
  size_t data_idx_ = 0;
  T backup_buffer_ = T();
  T* buffer_ptr_;
  void (*deleter_)(T*);
  size_t buffer_size_;
  size_t buffer_idx_ = 0;
};

/// Reads a tensor from first to last element. Reading past the end, which the documentation leaves undefined, aborts; after
/// `close()` it gives a zero.
template <typename T>
class TensorReadStreamAccessor {
 public:
  TensorReadStreamAccessor(const c10::Q7PtrType& data, size_t nbytes, CoherencyEnforcer& enforcer)
      : stream_(data, nbytes), coherency_enforcer_(enforcer) {
    coherency_enforcer_.acquire_buffered_reader();
    stream_.refill();
  }
  TensorReadStreamAccessor(TensorReadStreamAccessor&&) = default;
  ~TensorReadStreamAccessor() { close(); }

  /// The next element.
  T read() { return stream_.read(); }
  /// Ends the stream and gives its buffer back; a second call has no effect. Returns 0.
  int close() {
    if (!stream_.closed()) {
      coherency_enforcer_.release_buffered_reader();
      stream_.close();
    }
    return 0;
  }

 private:
  TensorStream<T> stream_;
  CoherencyEnforcer& coherency_enforcer_;
};

/// Writes a tensor from first to last element. Writing past the end, which the documentation leaves undefined, aborts; after
/// `close()` it has no effect.
template <typename T>
class TensorWriteStreamAccessor {
 public:
  TensorWriteStreamAccessor(const c10::Q7PtrType& data, size_t nbytes, CoherencyEnforcer& enforcer)
      : stream_(data, nbytes), coherency_enforcer_(enforcer) {
    coherency_enforcer_.acquire_buffered_writer();
  }
  TensorWriteStreamAccessor(TensorWriteStreamAccessor&&) = default;
  ~TensorWriteStreamAccessor() { close(); }

  /// The next element.
  void write(T value) { stream_.write(value); }
  /// Sends what is buffered, ends the stream and gives its buffer back; a second call has no effect. Returns 0.
  int close() {
    if (!stream_.closed()) {
      stream_.flush();
      coherency_enforcer_.release_buffered_writer();
      stream_.close();
    }
    return 0;
  }

 private:
  TensorStream<T> stream_;
  CoherencyEnforcer& coherency_enforcer_;
};

}  // namespace at
