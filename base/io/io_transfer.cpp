#include "base/io/io_transfer.h"

#include <unistd.h>

#include <cerrno>

#include "base/invariant.h"

namespace swizzle {
namespace {

std::int64_t blocking_step(const IoRequest& request) noexcept {
  const auto offset = static_cast<off_t>(request.offset + request.transferred);
  std::byte* data = request.data + request.transferred;
  std::int64_t result = 0;
  switch (request.kind) {
    case IoRequest::Kind::read:
      result = pread(request.descriptor, data, step_size(request), offset);
      break;
    case IoRequest::Kind::write:
      result = pwrite(request.descriptor, data, step_size(request), offset);
      break;
    case IoRequest::Kind::sync:
      result = fdatasync(request.descriptor);
      break;
  }
  return result < 0 ? -errno : result;
}

}  // namespace

void begin_transfer(int descriptor, IoRequest& request) noexcept {
  INVARIANT(request.done != nullptr);
  request.descriptor = descriptor;
  request.transferred = 0;
  request.error = 0;
}

IoProgress advance_transfer(IoRequest& request, std::int64_t result) noexcept {
  if (result == -EINTR || result == -EAGAIN) return IoProgress::again;
  if (result < 0) {
    // A direct read that the end of the file cut short continues at a misaligned offset: EINVAL
    // then means the end of the file.
    const bool past_the_end = result == -EINVAL && request.transferred > 0;
    request.error = past_the_end ? EIO : static_cast<int>(-result);
    return IoProgress::finished;
  }
  if (request.kind == IoRequest::Kind::sync || request.size == 0) return IoProgress::finished;
  if (result == 0) {
    request.error = EIO;
    return IoProgress::finished;
  }
  request.transferred += static_cast<std::size_t>(result);
  INVARIANT(request.transferred <= request.size);
  return request.transferred == request.size ? IoProgress::finished : IoProgress::again;
}

void transfer_blocking(IoRequest& request) noexcept {
  while (advance_transfer(request, blocking_step(request)) == IoProgress::again) continue;
}

}  // namespace swizzle
