#include "sql-lite-frontend/types/text/text_builder.h"

#include <algorithm>

#include "base/runtime/helper_threads.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kFirstChunk = 256;
constexpr std::size_t kLargestChunk = std::size_t{256} << 10U;

}  // namespace

void TextBuilder::begin_chunk(std::size_t wanted) {
  if (current_) {
    const auto used = static_cast<std::size_t>(next_ - begin_);
    count_bytes(used);
    finished_bytes_ += used;
    finished_.push_back({std::move(current_), used});
  }
  const std::size_t size =
      std::clamp(std::max(wanted, finished_bytes_), kFirstChunk, kLargestChunk);
  if (!finished_.empty()) share_.set(arena_.account(), finished_bytes_ + size);
  current_ = std::make_unique_for_overwrite<char[]>(size);
  begin_ = next_ = current_.get();
  end_ = begin_ + size;
}

void TextBuilder::append_slowly(std::string_view text) {
  if (text.size() > kMaxFieldBytes - std::min(size(), kMaxFieldBytes)) {
    throw sql_error(sqlstate::program_limit_exceeded, "out of memory")
        .with_detail(
            fmt::format("Cannot enlarge string buffer containing {} bytes by {} more bytes.",
                        size(), text.size()));
  }
  while (!text.empty()) {
    if (room() == 0) begin_chunk(text.size());
    const std::size_t piece = std::min(room(), text.size());
    std::memcpy(next_, text.data(), piece);
    next_ += piece;
    text.remove_prefix(piece);
  }
}

void TextBuilder::append(std::size_t count, char letter) {
  constexpr std::size_t kPiece = 1024;
  if (count > kMaxFieldBytes - std::min(size(), kMaxFieldBytes)) {
    throw sql_error(sqlstate::program_limit_exceeded, "out of memory")
        .with_detail(fmt::format(
            "Cannot enlarge string buffer containing {} bytes by {} more bytes.", size(), count));
  }
  char letters[kPiece];
  std::memset(letters, letter, std::min(count, kPiece));
  for (; count > 0; count -= std::min(count, kPiece)) append({letters, std::min(count, kPiece)});
}

Value TextBuilder::finish() {
  const std::size_t whole = size();
  // Allocate the result first: if that fails, no chunk has been freed.
  std::byte* const out = arena_.allocate(whole, 1);
  std::byte* next = out;
  // Free each chunk at once. Freeing all at the end would delay other threads, and need twice the
  // memory.
  for (Chunk& chunk : finished_) {
    copy_long(next, as_bytes(std::string_view{chunk.bytes.get(), chunk.used}));
    next += chunk.used;
    finished_bytes_ -= chunk.used;
    chunk.bytes.reset();
    share_.lower(finished_bytes_);
  }
  const auto rest = static_cast<std::size_t>(next_ - begin_);
  if (rest != 0) std::memcpy(next, begin_, rest);
  finished_.clear();
  finished_bytes_ = 0;
  next_ = begin_;
  return Value::from_bytes({out, whole});
}

TextBuilder::~TextBuilder() {
  constexpr std::size_t kLong = std::size_t{16} << 20U;
  if (finished_bytes_ < kLong) return;
  // An error may end the building, so this must not wait.
  HelperThreads::of_the_process().destroy(std::move(finished_));
}

}  // namespace swizzle::sql
