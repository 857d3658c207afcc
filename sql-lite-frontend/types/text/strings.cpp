#include <algorithm>

#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/hash.h"
#include "sql-lite-frontend/types/orders.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

constexpr std::size_t kMaxNameBytes = 63;

Value text_input(FunctionContext& context, TypeId type, std::int32_t typmod,
                 std::string_view text) {
  verify_utf8(text);
  if (type == TypeId::name) return make_text(context.arena, clip_bytes(text, kMaxNameBytes));
  const Value whole = Value::from_text(text);
  if (needs_length_coercion(type, typmod)) {
    const Value fitted = coerce_length(context, type, typmod, whole, Coercion::assignment);
    return fitted.as_text().data() == text.data() ? fitted.copy_to(context.arena) : fitted;
  }
  return whole.copy_to(context.arena);
}

constexpr TypeCodec kTextCodec{
    text_input,
    [](FunctionContext&, TypeId, const Value& value, std::string& out) { out += value.as_text(); },
    [](FunctionContext& context, TypeId type, std::int32_t typmod, Bytes bytes) {
      return text_input(context, type, typmod, as_text(bytes));
    },
    [](FunctionContext&, TypeId, const Value& value, std::string& out) { out += value.as_text(); }};

/// Returns at most `limit` characters. Blanks beyond it are cut silently, other characters only by
/// an explicit cast.
std::string_view cut(std::string_view text, std::size_t limit, Coercion coercion, TypeId type) {
  if (text.size() <= limit) return text;
  const std::size_t kept = bytes_of_characters(text, limit);
  const std::string_view rest = text.substr(kept);
  if (coercion == Coercion::assignment && rest.find_first_not_of(' ') != std::string_view::npos)
    throw_error(sqlstate::string_data_right_truncation, "value too long for type {}({})",
                format_type(type), limit);
  return text.substr(0, kept);
}

std::size_t length_of(std::int32_t typmod) noexcept {
  return static_cast<std::size_t>(std::max(typmod - 4, 0));
}

Value fit_varchar(FunctionContext&, std::int32_t typmod, const Value& value, Coercion coercion) {
  const std::string_view text = value.as_text();
  const std::string_view kept = cut(text, length_of(typmod), coercion, TypeId::varchar);
  return kept.size() == text.size() ? value : Value::from_text(kept);
}

Value fit_blank_padded(FunctionContext& context, std::int32_t typmod, const Value& value,
                       Coercion coercion) {
  const std::size_t length = length_of(typmod);
  const std::string_view text = value.as_text();
  const std::string_view kept = cut(text, length, coercion, TypeId::bpchar);
  const std::size_t characters = count_characters(kept);
  if (characters == length) return kept.size() == text.size() ? value : Value::from_text(kept);
  std::byte* out = context.arena.allocate(kept.size() + length - characters, 1);
  std::memcpy(out, kept.data(), kept.size());
  std::memset(out + kept.size(), ' ', length - characters);
  return Value::from_bytes({out, kept.size() + length - characters});
}

std::int32_t read_length(std::span<const std::int32_t> modifiers, std::string_view name) {
  constexpr std::int32_t kMaxLength = 10485760;
  if (modifiers.size() != 1)
    throw SqlError{sqlstate::invalid_parameter_value, "invalid type modifier"};
  if (modifiers[0] < 1)
    throw_error(sqlstate::invalid_parameter_value, "length for type {} must be at least 1", name);
  if (modifiers[0] > kMaxLength)
    throw_error(sqlstate::invalid_parameter_value, "length for type {} cannot exceed {}", name,
                kMaxLength);
  return modifiers[0] + 4;
}

std::string show_length(std::string_view name, std::int32_t typmod) {
  return typmod > 4 ? fmt::format("{}({})", name, typmod - 4) : std::string{name};
}

constexpr TypeModifier kVarcharModifier{
    .read = [](std::span<const std::int32_t> given) { return read_length(given, "varchar"); },
    .show = &show_length,
    .fit = &fit_varchar};
constexpr TypeModifier kBlankPaddedModifier{
    .read = [](std::span<const std::int32_t> given) { return read_length(given, "char"); },
    .show = &show_length,
    .fit = &fit_blank_padded};

// Trailing blanks of bpchar are insignificant.
std::string_view without_blanks(std::string_view text) noexcept {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}
constexpr TypeOrder kBlankPaddedOrder{
    .compare =
        [](const Value& a, const Value& b) {
          return compare(as_bytes(without_blanks(a.as_text())),
                         as_bytes(without_blanks(b.as_text())));
        },
    .hash =
        [](const Value& value, std::uint64_t seed) {
          return hash_bytes(as_bytes(without_blanks(value.as_text())), seed);
        },
    .put_key = [](std::string& key,
                  const Value& value) { keys::put_text(key, without_blanks(value.as_text())); },
    .take_key = &keys::take_text};

TypeMeasures characters(std::int32_t typmod) {
  constexpr std::int64_t kUnbounded = std::int64_t{1} << 30U;
  constexpr std::int64_t kBytesPerCharacter = 4;
  TypeMeasures measures{.octets = kUnbounded};
  if (typmod < 4) return measures;
  measures.length = typmod - 4;
  measures.octets = *measures.length * kBytesPerCharacter;
  return measures;
}

constexpr std::uint32_t kDefaultCollation = 100;
constexpr std::uint32_t kBytesCollation = 950;

constexpr Type string_type(TypeId id, TypeId array, std::string_view name) {
  return {.id = id,
          .array = array,
          .name = name,
          .sql_name = name,
          .category = 'S',
          .shape = Shape::text,
          .collation = kDefaultCollation,
          .io = kTextCodec,
          .order = kTextOrder,
          .family = TypeId::text};
}

constexpr Type name_type() {
  Type type = string_type(TypeId::name, TypeId::name_array, "name");
  type.element = TypeId::char_;
  type.length = kMaxNameBytes + 1;
  type.alignment = 'c';
  type.storage = 'p';
  type.collation = kBytesCollation;
  return type;
}
constexpr Type text_type() {
  Type type = string_type(TypeId::text, TypeId::text_array, "text");
  type.preferred = true;
  type.measures = [](std::int32_t) { return characters(kNoTypmod); };
  type.in_btree_gist = true;
  return type;
}
constexpr Type varchar_type() {
  Type type = string_type(TypeId::varchar, TypeId::varchar_array, "varchar");
  type.sql_name = "character varying";
  type.modifier = &kVarcharModifier;
  type.operators_of = TypeId::text;
  type.measures = &characters;
  type.in_btree_gist = true;
  return type;
}
constexpr Type blank_padded_type() {
  Type type = string_type(TypeId::bpchar, TypeId::bpchar_array, "bpchar");
  type.sql_name = "character";
  type.modifier = &kBlankPaddedModifier;
  type.order = kBlankPaddedOrder;
  type.family = TypeId::bpchar;
  type.measures = &characters;
  type.in_btree_gist = true;
  return type;
}

/// Type with the representation of text that is not in the string category.
constexpr Type textual_type(TypeId id, TypeId array, std::string_view name) {
  return {.id = id,
          .array = array,
          .name = name,
          .sql_name = name,
          .shape = Shape::text,
          .io = kTextCodec,
          .order = kTextOrder};
}
/// Type of literals without a type (unknown), and of cstring.
constexpr Type bare_text_type(TypeId id, TypeId array, std::string_view name, char category) {
  Type type = textual_type(id, array, name);
  type.length = -2;
  type.category = category;
  type.alignment = 'c';
  type.storage = 'p';
  type.kind = 'p';
  return type;
}
constexpr Type unknown_type() {
  Type type = bare_text_type(TypeId::unknown, TypeId::none, "unknown", 'X');
  type.operators_of = TypeId::text;
  return type;
}
constexpr Type refcursor_type() {
  Type type = textual_type(TypeId::refcursor, TypeId::refcursor_array, "refcursor");
  type.operators_of = TypeId::text;
  return type;
}
constexpr Type aclitem_type() {
  Type type = textual_type(TypeId::aclitem, TypeId::aclitem_array, "aclitem");
  type.length = 12;
  type.storage = 'p';
  type.order = without_comparison(kTextOrder);
  return type;
}
constexpr Type node_tree_type() {
  Type type = textual_type(TypeId::pg_node_tree, TypeId::none, "pg_node_tree");
  type.category = 'Z';
  type.collation = kDefaultCollation;
  type.order = without_equality(kTextOrder);
  return type;
}

}  // namespace

constinit const Type builtin::name = name_type();
constinit const Type builtin::text = text_type();
constinit const Type builtin::varchar = varchar_type();
constinit const Type builtin::bpchar = blank_padded_type();
constinit const Type builtin::unknown = unknown_type();
constinit const Type builtin::cstring =
    bare_text_type(TypeId::cstring, TypeId::cstring_array, "cstring", 'P');
constinit const Type builtin::refcursor = refcursor_type();
constinit const Type builtin::aclitem = aclitem_type();
constinit const Type builtin::pg_node_tree = node_tree_type();

}  // namespace swizzle::sql
