// SPDX-License-Identifier: Apache-2.0
//
// Calls a library's native twin for gpsimd-build: arguments on standard input, results on standard output. Unaware of what
// the twin computes; its interface is sdk/native/native.h.
//
// A call is a line of words (kernel, cores, how many arguments; dtype, rank and sizes of each, the output first), then the
// bytes of all but the output. An answer is a line of two numbers (status, how many bytes), then them: the output, or why not.
#include <dlfcn.h>
#include <stdint.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

struct Argument {
  void* data;
  const int64_t* sizes;
  uint32_t rank;
  uint32_t dtype;
};

/// Of the interface that this file was written for.
constexpr uint32_t VERSION = 1;

static size_t element_bytes(uint32_t dtype) {
  switch (dtype) {
    case 0: case 1: return 1;          // uint8, int8
    case 2: case 5: case 15: return 2;  // int16, float16, bfloat16
    case 4: return 8;                  // int64
    default: return 4;                 // int32, float32
  }
}

int main(int, char** argv) {
  // what kernels print is no answer
  const int answers = dup(1);
  dup2(2, 1);
  const auto answer = [answers](int status, const char* bytes, size_t count) {
    const std::string head = std::to_string(status) + " " + std::to_string(count) + "\n";
    const auto put = [answers](const char* from, size_t left) {
      while (left != 0) {
        const ssize_t written = write(answers, from, left);
        if (written <= 0) _exit(1);
        from += written;
        left -= static_cast<size_t>(written);
      }
    };
    put(head.data(), head.size());
    put(bytes, count);
  };
  const auto refuse = [&answer](const std::string& why) {
    answer(1, why.data(), why.size());
    return 1;
  };
  void* const twin = dlopen(argv[1], RTLD_NOW);
  if (twin == nullptr) return refuse(dlerror());
  const auto version = reinterpret_cast<uint32_t (*)()>(dlsym(twin, "gpsimd_native_version"));
  const auto call = reinterpret_cast<int (*)(const char*, const Argument*, uint32_t, uint32_t, char*, size_t)>(
      dlsym(twin, "gpsimd_native_call"));
  if (version == nullptr || call == nullptr || version() != VERSION) return refuse("it is no native twin of this version");
  answer(0, "", 0);

  std::string kernel;
  uint32_t cores = 0, count = 0;
  while (std::cin >> kernel >> cores >> count) {
    std::vector<Argument> arguments(count);
    std::vector<std::vector<int64_t>> sizes(count);
    std::vector<std::vector<char>> data(count);
    for (uint32_t i = 0; i < count; ++i) {
      std::cin >> arguments[i].dtype >> arguments[i].rank;
      sizes[i].resize(arguments[i].rank);
      size_t bytes = element_bytes(arguments[i].dtype);
      for (int64_t& size : sizes[i]) {
        std::cin >> size;
        bytes *= static_cast<size_t>(size);
      }
      data[i].resize(bytes);
      arguments[i].data = data[i].data();
      arguments[i].sizes = sizes[i].data();
    }
    std::cin.get();  // the line's end
    for (uint32_t i = 1; i < count; ++i) std::cin.read(data[i].data(), static_cast<std::streamsize>(data[i].size()));
    char message[4096] = "";
    if (call(kernel.c_str(), arguments.data(), count, cores, message, sizeof message) != 0) {
      answer(1, message, std::char_traits<char>::length(message));
    } else {
      answer(0, data[0].data(), data[0].size());
    }
  }
  return 0;
}
