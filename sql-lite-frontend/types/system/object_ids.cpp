#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/identifiers.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

bool is_named(TypeId type) noexcept {
  return type != TypeId::oid && type != TypeId::xid && type != TypeId::cid && type != TypeId::xid8;
}

bool names_operator(TypeId type) noexcept {
  return type == TypeId::regoper || type == TypeId::regoperator;
}

bool all_digits(std::string_view text) noexcept {
  for (const char c : text)
    if (!is_digit(c)) return false;
  return !text.empty();
}

/// Wraps negative numbers. Reads octal and hexadecimal numbers, too.
std::uint64_t parse_unsigned(TypeId type, std::string_view text) {
  const std::string copy{text};
  char* end = nullptr;
  errno = 0;
  const std::uint64_t number = std::strtoull(copy.c_str(), &end, 0);
  const bool overflows = errno == ERANGE;
  const bool is_all = std::ranges::all_of(std::string_view{end}, is_space);
  if (end == copy.c_str() || !is_all || copy.find('\0') != std::string::npos) {
    throw_error(sqlstate::invalid_text_representation, "invalid input syntax for type {}: \"{}\"",
                format_type(type), text);
  }
  const auto low = static_cast<std::uint32_t>(number);
  const auto extended = static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(low)});
  if (overflows || (type != TypeId::xid8 && number != low && number != extended)) {
    throw_error(sqlstate::numeric_value_out_of_range, "value \"{}\" is out of range for type {}",
                text, format_type(type));
  }
  return type == TypeId::xid8 ? number : low;
}

[[noreturn]] void throw_unknown_name(TypeId kind, std::string_view name) {
  switch (kind) {
    case TypeId::regclass:
      throw_error(sqlstate::undefined_table, "relation \"{}\" does not exist", name);
    case TypeId::regtype:
      throw_error(sqlstate::undefined_object, "type \"{}\" does not exist", name);
    case TypeId::regnamespace:
      throw_error(sqlstate::invalid_schema_name, "schema \"{}\" does not exist",
                  split_identifier(name).back());
    case TypeId::regrole:
      throw_error(sqlstate::undefined_object, "role \"{}\" does not exist", name);
    case TypeId::regcollation:
      throw_error(sqlstate::undefined_object,
                  "collation \"{}\" for encoding \"UTF8\" does not exist", name);
    case TypeId::regoper:
    case TypeId::regoperator:
      throw_error(sqlstate::undefined_function, "operator does not exist: {}", name);
    default:
      throw_error(sqlstate::undefined_function, "function \"{}\" does not exist", name);
  }
}

Value object_id_input(FunctionContext& context, TypeId type, std::int32_t, std::string_view text) {
  const std::string_view body = trim_space(text);
  if (!is_named(type))
    return Value::from_int(static_cast<std::int64_t>(parse_unsigned(type, text)));
  if (text == "-" && !names_operator(type)) return Value::from_oid(0);
  if (all_digits(text))
    return Value::from_oid(
        static_cast<std::uint32_t>(parse_integer(TypeId::oid, body, 0, UINT32_MAX)));
  if (context.session.names != nullptr)
    if (const auto found = context.session.names->find(type, body)) return Value::from_oid(*found);
  if (type == TypeId::regtype)
    if (const auto found = parse_type_name(body)) return Value::from_oid(raw(found->type));
  throw_unknown_name(type, body);
}

void object_id_output(FunctionContext& context, TypeId type, const Value& value, std::string& out) {
  if (!is_named(type)) {
    out += fmt::format(
        "{}", type == TypeId::xid8 ? static_cast<std::uint64_t>(value.as_int8()) : value.as_oid());
    return;
  }
  const std::uint32_t oid = value.as_oid();
  if (oid == 0) return out.push_back(names_operator(type) ? '0' : '-');
  if (context.session.names != nullptr) {
    if (const auto name = context.session.names->name_of(type, oid)) {
      out += *name;
      return;
    }
  }
  // User-defined objects have no name without a session.
  if (type == TypeId::regtype && is_built_in(TypeId{oid}))
    out += format_type(TypeId{oid});
  else
    out += fmt::format("{}", oid);
}

Value object_id_receive(FunctionContext&, TypeId type, std::int32_t, Bytes bytes) {
  BinaryReader reader{bytes};
  const auto value = type == TypeId::xid8 ? reader.take<std::uint64_t>()
                                          : std::uint64_t{reader.take<std::uint32_t>()};
  reader.finish();
  return Value::from_int(static_cast<std::int64_t>(value));
}

void object_id_send(FunctionContext&, TypeId type, const Value& value, std::string& out) {
  if (type == TypeId::xid8)
    append_big_endian(out, value.as_int8());
  else
    append_big_endian(out, value.as_oid());
}

}  // namespace

constexpr TypeCodec kObjectIdCodec{object_id_input, object_id_output, object_id_receive,
                                   object_id_send};

namespace {

constexpr Type number_type(TypeId id, TypeId array, std::string_view name, char category,
                           TypeOrder order) {
  return {.id = id,
          .array = array,
          .name = name,
          .sql_name = name,
          .length = 4,
          .by_value = true,
          .category = category,
          .storage = 'p',
          .shape = Shape::uint32,
          .io = kObjectIdCodec,
          .order = order};
}
constexpr Type oid_type() {
  Type type = number_type(TypeId::oid, TypeId::oid_array, "oid", 'N', kUint32Order);
  type.preferred = true;
  type.in_btree_gist = true;
  return type;
}
/// Returns a type of oids that are shown as names.
constexpr Type named_type(TypeId id, TypeId array, std::string_view name) {
  Type type = number_type(id, array, name, 'N', kUint32Order);
  type.operators_of = TypeId::oid;
  return type;
}
constexpr Type wide_xid_type() {
  Type type = number_type(TypeId::xid8, TypeId::xid8_array, "xid8", 'U', kUint64Order);
  type.length = 8;
  type.alignment = 'd';
  type.shape = Shape::uint64;
  return type;
}

}  // namespace

constinit const Type builtin::oid = oid_type();
constinit const Type builtin::xid =
    number_type(TypeId::xid, TypeId::xid_array, "xid", 'U', without_comparison(kUint32Order));
constinit const Type builtin::cid =
    number_type(TypeId::cid, TypeId::cid_array, "cid", 'U', without_comparison(kUint32Order));
constinit const Type builtin::xid8 = wide_xid_type();
constinit const Type builtin::regproc =
    named_type(TypeId::regproc, TypeId::regproc_array, "regproc");
constinit const Type builtin::regprocedure =
    named_type(TypeId::regprocedure, TypeId::regprocedure_array, "regprocedure");
constinit const Type builtin::regoper =
    named_type(TypeId::regoper, TypeId::regoper_array, "regoper");
constinit const Type builtin::regoperator =
    named_type(TypeId::regoperator, TypeId::regoperator_array, "regoperator");
constinit const Type builtin::regclass =
    named_type(TypeId::regclass, TypeId::regclass_array, "regclass");
constinit const Type builtin::regtype =
    named_type(TypeId::regtype, TypeId::regtype_array, "regtype");
constinit const Type builtin::regnamespace =
    named_type(TypeId::regnamespace, TypeId::regnamespace_array, "regnamespace");
constinit const Type builtin::regrole =
    named_type(TypeId::regrole, TypeId::regrole_array, "regrole");
constinit const Type builtin::regcollation =
    named_type(TypeId::regcollation, TypeId::regcollation_array, "regcollation");

}  // namespace swizzle::sql
