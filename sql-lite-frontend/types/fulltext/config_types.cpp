// The types regconfig and regdictionary: oids of text search objects, shown by name.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/fulltext/text_config.h"
#include "sql-lite-frontend/types/fulltext/text_functions.h"
#include "sql-lite-frontend/types/function_context.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"

namespace swizzle::sql {
namespace {

bool is_number(std::string_view text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// 0: it does not come with the server.
std::uint32_t builtin_number(TypeId type, std::string_view name) {
  if (type == builtin_id::regconfig) {
    const TextConfigInfo* const found = find_text_config(name);
    return found == nullptr ? 0 : found->oid;
  }
  const TextDictionaryInfo* const found = find_text_dictionary(name);
  return found == nullptr ? 0 : found->oid;
}
/// Returns an empty text if it does not come with the server.
std::string_view builtin_name(TypeId type, std::uint32_t oid) {
  if (type == builtin_id::regconfig) {
    const TextConfigInfo* const found = find_text_config(oid);
    return found == nullptr ? std::string_view{} : found->name;
  }
  const TextDictionaryInfo* const found = find_text_dictionary(oid);
  return found == nullptr ? std::string_view{} : found->name;
}

/// Reads the object that a text names.
Value read_object(FunctionContext& context, TypeId type, std::string_view kind,
                  std::string_view text) {
  const std::string_view body = trim_space(text);
  if (body == "-") return Value::from_oid(0);
  if (is_number(body)) {
    const std::int64_t number = parse_integer(TypeId::oid, body, 0, UINT32_MAX);
    return Value::from_oid(static_cast<std::uint32_t>(number));
  }
  if (context.session.names != nullptr) {
    if (const auto found = context.session.names->find(type, body)) return Value::from_oid(*found);
  }
  const std::vector<std::string> parts = split_identifier(body);
  if (context.session.names == nullptr) {
    const std::uint32_t found = builtin_number(type, parts.back());
    if (found != 0) return Value::from_oid(found);
  }
  throw_no_text_search(kind, fmt::format("{}", fmt::join(parts, ".")));
}
void print_object(FunctionContext& context, TypeId type, const Value& value, std::string& out) {
  const std::uint32_t oid = value.as_oid();
  if (oid == 0) return out.push_back('-');
  // Without a session, stored expressions are printed, which contain oids.
  std::string_view shown;
  if (context.session.names != nullptr) {
    if (const auto name = context.session.names->name_of(type, oid)) {
      out += *name;
      return;
    }
    shown = builtin_name(type, oid);
  }
  out += shown.empty() ? fmt::format("{}", oid) : std::string{shown};
}

Value config_input(FunctionContext& context, TypeId type, std::int32_t, std::string_view text) {
  return read_object(context, type, "configuration", text);
}
Value dictionary_input(FunctionContext& context, TypeId type, std::int32_t, std::string_view text) {
  return read_object(context, type, "dictionary", text);
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

constexpr TypeCodec kConfigCodec{config_input, print_object, number_receive, number_send};
constexpr TypeCodec kDictionaryCodec{dictionary_input, print_object, number_receive, number_send};

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
