#include "sql-lite-frontend/types/json/sql_json.h"

#include <algorithm>
#include <vector>

#include "base/runtime/long_work.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/json/json_value.h"
#include "sql-lite-frontend/types/json/plain_json.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

constexpr SqlState kRepeatedKey{"22030"};

bool has_repeated_keys(const JsonValue& value) {
  check_stack();
  std::vector<std::string_view> names;
  for (const auto& [name, member] : value.members) {
    yield_point(name.size());
    names.push_back(name);
    if (has_repeated_keys(member)) return true;
  }
  for (const JsonValue& item : value.items) {
    if (has_repeated_keys(item)) return true;
  }
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end();
}

bool is_valid(std::string_view text) {
  if (is_plain_json(text)) return true;
  try {
    check_json(text, TypeId::json);
  } catch (const SqlError& error) {
    if (!error.state().code().starts_with("22")) throw;
    return false;
  }
  return true;
}

}  // namespace

bool has_repeated_keys(std::string_view json, MemoryAccount* account) {
  return has_repeated_keys(take_json_apart(json, account));
}

bool is_json(std::string_view text, JsonItemKind kind, JsonKeys keys, MemoryAccount* account) {
  if (!is_valid(text)) return false;
  const std::string_view json = json_trimmed(text);
  const JsonKind found = json_kind(json);
  switch (kind) {
    case JsonItemKind::any:
      break;
    case JsonItemKind::object:
      if (found != JsonKind::object) return false;
      break;
    case JsonItemKind::array:
      if (found != JsonKind::array) return false;
      break;
    case JsonItemKind::scalar:
      if (!is_json_scalar(found)) return false;
      break;
  }
  return keys == JsonKeys::any || is_json_scalar(found) || !has_repeated_keys(json, account);
}

void refuse_repeated_key() {
  throw SqlError{kRepeatedKey, "duplicate JSON object key value"};
}

void refuse_repeated_key(std::string_view key) {
  std::string quoted;
  append_json_string(key, quoted);
  throw_error(kRepeatedKey, "duplicate JSON object key value: {}", quoted);
}

}  // namespace swizzle::sql
