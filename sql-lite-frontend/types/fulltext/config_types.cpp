// The types regconfig and regdictionary: numbers of what text search has, shown by name.
#include <fmt/format.h>

#include <algorithm>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/fulltext/text_config.h"
#include "sql-lite-frontend/types/fulltext/text_functions.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {
namespace {

bool is_number(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Null where there is none.
const TextConfigInfo* find_named(std::span<const TextConfigInfo> /*all*/, std::string_view name) {
  return find_text_config(name);
}
const TextDictionaryInfo* find_named(std::span<const TextDictionaryInfo> /*all*/,
                                     std::string_view name) {
  return find_text_dictionary(name);
}

/// What a text says, among `all` objects of a kind, which all sessions have alike.
template <class Info>
Value read_object(std::span<const Info> all, std::string_view kind, std::string_view text) {
  const std::string_view body = trim_space(text);
  if (body == "-") return Value::from_oid(0);
  if (is_number(body)) {
    const std::int64_t number = parse_integer(TypeId::oid, body, 0, UINT32_MAX);
    return Value::from_oid(static_cast<std::uint32_t>(number));
  }
  const Info* const found = find_named(all, body);
  if (found == nullptr) throw_no_text_search(kind, body);
  return Value::from_oid(found->oid);
}
template <class Info>
void print_object(std::span<const Info> all, const Value& value, std::string& out) {
  const std::uint32_t oid = value.as_oid();
  if (oid == 0) return out.push_back('-');
  const auto found = std::ranges::find(all, oid, &Info::oid);
  out += found == all.end() ? fmt::format("{}", oid) : std::string{found->name};
}

Value config_input(FunctionContext&, TypeId, std::int32_t, std::string_view text) {
  return read_object(text_configs(), "configuration", text);
}
void config_output(FunctionContext&, TypeId, const Value& value, std::string& out) {
  print_object(text_configs(), value, out);
}
Value dictionary_input(FunctionContext&, TypeId, std::int32_t, std::string_view text) {
  return read_object(text_dictionaries(), "dictionary", text);
}
void dictionary_output(FunctionContext&, TypeId, const Value& value, std::string& out) {
  print_object(text_dictionaries(), value, out);
}

Value number_receive(FunctionContext&, TypeId, std::int32_t, Bytes bytes) {
  BinaryReader reader{bytes};
  const auto number = reader.take<std::uint32_t>();
  reader.finish();
  return Value::from_oid(number);
}
void number_send(FunctionContext&, TypeId, const Value& value, std::string& out) {
  append_big_endian(out, value.as_oid());
}

constexpr TypeCodec kConfigCodec{config_input, config_output, number_receive, number_send};
constexpr TypeCodec kDictionaryCodec{dictionary_input, dictionary_output, number_receive,
                                     number_send};

constexpr Type named_type(TypeId id, TypeId array, std::string_view name, TypeCodec codec) {
  return {.id = id,
          .array = array,
          .name = name,
          .sql_name = name,
          .length = 4,
          .by_value = true,
          .category = 'N',
          .storage = 'p',
          .shape = Shape::uint32,
          .io = codec,
          .order = kUint32Order,
          .operators_of = TypeId::oid};
}
constexpr Type config_type() {
  Type type =
      named_type(builtin_id::regconfig, builtin_id::array_of_regconfig, "regconfig", kConfigCodec);
  type.functions = &kTextConfigFunctions;
  return type;
}

}  // namespace

constinit const Type builtin::regconfig = config_type();
constinit const Type builtin::regdictionary =
    named_type(builtin_id::regdictionary, builtin_id::array_of_regdictionary, "regdictionary",
               kDictionaryCodec);

}  // namespace swizzle::sql
