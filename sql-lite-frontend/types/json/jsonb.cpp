#include "sql-lite-frontend/types/json/jsonb.h"

#include <algorithm>
#include <string>

#include "sql-lite-frontend/types/json/jsonb_directory.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

/// Bytes before the directory: the mark and the directory's length.
constexpr std::size_t kHead = 1 + sizeof(std::uint32_t);

Value joined(Arena& arena, Bytes directory, std::string_view text) {
  const std::size_t size = kHead + directory.size() + text.size();
  std::byte* const whole = arena.allocate(size, 1);
  whole[0] = kJsonbDirectoryMark;
  store(whole + 1, static_cast<std::uint32_t>(directory.size()));
  std::ranges::copy(directory, whole + kHead);
  copy_long(whole + kHead + directory.size(), as_bytes(text));
  return Value::from_bytes({whole, size});
}

}  // namespace

Jsonb jsonb_of(const Value& value) {
  const Bytes bytes = value.as_bytes();
  if (bytes.empty() || bytes[0] != kJsonbDirectoryMark) return {as_text(bytes)};
  const std::size_t behind = bytes.size() < kHead ? 0 : bytes.size() - kHead;
  const std::size_t length = behind == 0 ? 0 : load<std::uint32_t>(bytes.data() + 1);
  if (length == 0 || length >= behind) {
    throw SqlError{SqlState{"XX001"}, "a jsonb value has no text behind its directory"};
  }
  return {as_text(bytes.subspan(kHead + length)), bytes.subspan(kHead, length)};
}

std::string_view json_text(const Value& value) {
  return jsonb_of(value).text;
}

Value make_jsonb(Arena& arena, std::string_view text) {
  const std::string directory = jsonb_directory(text, arena.account());
  if (directory.empty() || kHead + directory.size() + text.size() > kMaxFieldBytes) {
    return make_text(arena, text);
  }
  return joined(arena, as_bytes(directory), text);
}

Value make_jsonb(Arena& arena, const Jsonb& part) {
  if (part.directory.empty()) return make_text(arena, part.text);
  return joined(arena, part.directory, part.text);
}

}  // namespace swizzle::sql
