#include "sql-lite-frontend/types/long_values.h"

#include <algorithm>
#include <cstring>

#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10U;

}  // namespace

void require_room_for(std::size_t count, std::size_t bytes_each) {
  if (count <= kMaxFieldBytes / bytes_each) return;
  throw_error(sqlstate::internal_error, "invalid memory alloc request size {}", count * bytes_each);
}

void copy_long(std::byte* to, Bytes from) {
  while (from.size() > kPieceBytes) {
    std::memcpy(to, from.data(), kPieceBytes);
    count_bytes(kPieceBytes);
    to += kPieceBytes;
    from = from.subspan(kPieceBytes);
  }
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

std::size_t find_long(std::string_view text, std::string_view part, std::size_t from) {
  if (from > text.size()) return std::string_view::npos;
  if (part.empty()) return from;
  // Pieces overlap by one byte less than `part`, so that no match is missed. If `part` is longer
  // than a piece, pieces are as long as `part`.
  const std::size_t piece = std::max(kPieceBytes, part.size());
  while (text.size() - from >= part.size()) {
    const std::size_t room = std::min(text.size() - from, piece + part.size() - 1);
    const void* const begin = text.data() + from;
    // memmem() is linear (two-way search).
    const void* const found = memmem(begin, room, part.data(), part.size());
    if (found != nullptr) {
      const std::size_t at =
          from + static_cast<std::size_t>(static_cast<const char*>(found) - (text.data() + from));
      count_bytes(at - from);
      return at;
    }
    count_bytes(room);
    from += room - part.size() + 1;
  }
  return std::string_view::npos;
}

std::size_t count_long_characters(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, kPieceBytes);
    count += count_characters(piece);
    count_bytes(piece.size());
    text.remove_prefix(piece.size());
  }
  return count;
}

std::size_t bytes_of_long_characters(std::string_view text, std::size_t count) {
  std::size_t bytes = 0;
  for (;;) {
    const std::size_t now = std::min(count, kPieceBytes);
    const std::size_t piece = bytes_of_characters(text.substr(bytes), now);
    bytes += piece;
    count -= now;
    if (count == 0 || piece == 0) return bytes;
    yield_point(piece);
  }
}

}  // namespace swizzle::sql
