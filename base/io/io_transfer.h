#pragma once

#include "base/io/file.h"

namespace swizzle {

enum class IoProgress : std::uint8_t { finished, again };

/// Makes a request ready for its first step on `descriptor`.
void begin_transfer(int descriptor, IoRequest& request) noexcept;

/// Processes the result of one step as the kernel gives it (bytes, or a negative errno), and
/// returns if the rest needs another step.
IoProgress advance_transfer(IoRequest& request, std::int64_t result) noexcept;

/// Makes all steps, one blocking system call each. The caller calls `done`.
void transfer_blocking(IoRequest& request) noexcept;

/// Limit of a single step: the kernel counts in 32 bits.
inline constexpr std::size_t kLongestStep = std::size_t{1} << 30;

inline std::size_t step_size(const IoRequest& request) noexcept {
  const std::size_t left = request.size - request.transferred;
  return left < kLongestStep ? left : kLongestStep;
}

/// Requests in the order of their submission, linked through IoRequest::next.
class IoQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] IoRequest* front() const noexcept { return first_; }
  void push(IoRequest& request) noexcept {
    request.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &request;
    last_ = &request;
  }
  IoRequest& pop() noexcept {
    IoRequest& request = *first_;
    first_ = request.next;
    return request;
  }

 private:
  IoRequest* first_ = nullptr;
  IoRequest* last_ = nullptr;
};

}  // namespace swizzle
