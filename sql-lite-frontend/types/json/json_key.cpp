#include "sql-lite-frontend/types/json/json_key.h"

#include <algorithm>

#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/json/json_value.h"
#include "sql-lite-frontend/types/json/jsonb.h"
#include "sql-lite-frontend/types/numeric/numeric.h"
#include "sql-lite-frontend/types/row_codec.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {
namespace {

// First byte of an encoded value. The order of the marks is jsonb's order of kinds.
enum class Mark : char {
  outer_empty_array = 1,
  null,
  string,
  number,
  boolean,
  array,
  object,
};

void put_mark(std::string& key, Mark mark) {
  key.push_back(static_cast<char>(mark));
}

/// Encodes a string with a zero byte as terminator: jsonb's strings contain none.
void put_plain_string(std::string& key, std::string_view text) {
  key.append(text);
  key.push_back('\0');
}

void put_number(std::string& key, std::string_view digits) {
  Arena arena{256};
  append_numeric_key(key, numeric_from_text(arena, digits));
}

void put_value(std::string& key, const JsonValue& value, PutString put_string) {
  check_stack();
  switch (value.kind) {
    case JsonKind::null:
      return put_mark(key, Mark::null);
    case JsonKind::string:
      put_mark(key, Mark::string);
      return put_string(key, value.text);
    case JsonKind::number:
      put_mark(key, Mark::number);
      return put_number(key, value.raw);
    case JsonKind::boolean:
      put_mark(key, Mark::boolean);
      return key.push_back(value.raw == "true" ? '\1' : '\0');
    case JsonKind::array:
      put_mark(key, Mark::array);
      append_big_endian(key, static_cast<std::uint32_t>(value.items.size()));
      for (const JsonValue& item : value.items) put_value(key, item, put_string);
      return;
    case JsonKind::object:
      put_mark(key, Mark::object);
      append_big_endian(key, static_cast<std::uint32_t>(value.members.size()));
      for (const auto& [name, member] : value.members) {
        put_string(key, name);
        put_value(key, member, put_string);
      }
      return;
  }
}

/// Decodes values from the front of a key.
class JsonbKeyReader {
 public:
  JsonbKeyReader(Bytes& key, JsonbKeyStrings strings) : key_(key), strings_(strings) {}

  JsonValue take_value() {
    check_stack();
    JsonValue value;
    switch (static_cast<Mark>(take_byte())) {
      case Mark::outer_empty_array:
        value.kind = JsonKind::array;
        return value;
      case Mark::null:
        value.text = "null";
        return value;
      case Mark::string:
        value.kind = JsonKind::string;
        value.text = take_string();
        return value;
      case Mark::number:
        value.kind = JsonKind::number;
        value.text = take_number();
        return value;
      case Mark::boolean:
        value.kind = JsonKind::boolean;
        value.text = take_byte() == 0 ? "false" : "true";
        return value;
      case Mark::array:
        value.kind = JsonKind::array;
        for (std::uint32_t left = take_count(); left > 0; --left) {
          value.items.push_back(take_value());
        }
        return value;
      case Mark::object:
        value.kind = JsonKind::object;
        for (std::uint32_t left = take_count(); left > 0; --left) {
          std::string name = take_string();
          value.members.emplace_back(std::move(name), take_value());
        }
        return value;
    }
    corrupt();
  }

 private:
  [[noreturn]] static void corrupt() {
    throw SqlError{sqlstate::index_corrupted, "an index key is no jsonb"};
  }
  Bytes take_bytes(std::size_t count) {
    if (key_.size() < count) corrupt();
    const Bytes out = key_.first(count);
    key_ = key_.subspan(count);
    return out;
  }
  char take_byte() { return static_cast<char>(take_bytes(1)[0]); }
  std::uint32_t take_count() { return load_big_endian<std::uint32_t>(take_bytes(4).data()); }
  std::string take_string() {
    if (strings_ == JsonbKeyStrings::behind_sort_keys) take_up_to_zero();
    return take_up_to_zero();
  }
  std::string take_up_to_zero() {
    const auto end = std::ranges::find(key_, std::byte{0});
    if (end == key_.end()) corrupt();
    const Bytes text = take_bytes(static_cast<std::size_t>(end - key_.begin()));
    take_byte();
    return std::string{as_text(text)};
  }
  std::string take_number() {
    Arena arena{256};
    std::string out;
    append_numeric(out, take_numeric_key(key_, arena));
    return out;
  }

  Bytes& key_;
  JsonbKeyStrings strings_;
};

}  // namespace

void append_jsonb_key(std::string& key, std::string_view json, PutString put_string) {
  const JsonValue value = take_json_apart(json, nullptr);
  if (value.kind == JsonKind::array && value.items.empty()) {
    return put_mark(key, Mark::outer_empty_array);
  }
  put_value(key, value, put_string == nullptr ? &put_plain_string : put_string);
}

Value take_jsonb_key(Bytes& key, Arena& arena, JsonbKeyStrings strings) {
  return make_jsonb(arena, print_json(JsonbKeyReader{key, strings}.take_value()));
}

}  // namespace swizzle::sql
