#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/check_stack.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/prototypes.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/record/record_order.h"
#include "sql-lite-frontend/types/text/quoted_part.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

void append_field(std::string& out, std::string_view text) {
  const bool quoted =
      text.empty() || std::ranges::any_of(text, [](char c) {
        return c == '"' || c == '\\' || c == '(' || c == ')' || c == ',' || is_space(c);
      });
  if (!quoted) {
    out += text;
    return;
  }
  // Rows within rows double their quotes at each level.
  const auto doubled = std::ranges::count_if(text, [](char c) { return c == '"' || c == '\\'; });
  const std::size_t more = text.size() + static_cast<std::size_t>(doubled) + 2;
  if (out.size() + more > kMaxFieldBytes) {
    throw SqlError{sqlstate::program_limit_exceeded, "out of memory"}.with_detail(fmt::format(
        "Cannot enlarge string buffer containing {} bytes by {} more bytes.", out.size(), more));
  }
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back(c);
    out.push_back(c);
  }
  out.push_back('"');
}

void record_output(FunctionContext& context, TypeId, const Value& value, std::string& out) {
  check_stack();
  const RecordView view{value};
  out.push_back('(');
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (i > 0) out.push_back(',');
    const Value field = view.field(i);
    if (field.is_null()) continue;
    const std::string text = to_text(context, view.type(i), field);
    count_bytes(text.size());
    for_bytes(text.size(), [&] { return append_field(out, text), true; });
  }
  out.push_back(')');
}

void record_send(FunctionContext& context, TypeId type, const Value& value, std::string& out) {
  check_stack();
  const RecordView view{value};
  ObjectNames* const names = context.session.names;
  const auto shape = names != nullptr && is_composite(type) ? names->row_shape(type) : nullptr;
  append_big_endian(out, static_cast<std::int32_t>(view.size()));
  for (std::size_t i = 0; i < view.size(); ++i) {
    const bool is_declared = shape && i < shape->types.size();
    append_big_endian(out, raw(is_declared ? shape->types[i] : view.told_type(i)));
    const std::size_t length_at = out.size();
    append_big_endian(out, std::int32_t{-1});
    const Value field = view.field(i);
    if (field.is_null()) continue;
    send_binary(context, view.type(i), field, out);
    const auto length = std::byteswap(static_cast<std::uint32_t>(out.size() - length_at - 4));
    std::memcpy(out.data() + length_at, &length, 4);
  }
}

/// Returns the attributes of a composite type; throws for an anonymous row, which cannot be read.
std::shared_ptr<const RowShape> shape_to_read(FunctionContext& context, TypeId type) {
  ObjectNames* const names = context.session.names;
  auto shape = names != nullptr ? names->row_shape(type) : nullptr;
  if (!shape)
    throw SqlError{sqlstate::feature_not_supported,
                   "input of anonymous composite types is not implemented"};
  return shape;
}

/// Returns a field as it is stored, possibly NULL: applies the type modifier, which text input has
/// not done, and checks a domain even for NULL.
Value finished_field(FunctionContext& context, TypeId type, std::int32_t typmod,
                     const Value& value) {
  if (value.is_null())
    return is_domain(type) ? enter_domain(context, type, value, Coercion::assignment) : value;
  return coerce_length(context, type, typmod, value, Coercion::assignment);
}

/// Parser of "(1,,\"a b\")".
class RowText {
 public:
  explicit RowText(std::string_view text) : text_{text}, rest_{text} {}

  [[noreturn]] void malformed(std::string_view detail) const {
    throw sql_error(sqlstate::invalid_text_representation, "malformed record literal: \"{}\"",
                    text_)
        .with_detail(std::string{detail});
  }
  void begin() {
    skip_space();
    if (!rest_.starts_with('(')) malformed("Missing left parenthesis.");
    rest_.remove_prefix(1);
  }
  void comma() {
    if (!rest_.starts_with(',')) malformed("Too few columns.");
    rest_.remove_prefix(1);
  }
  /// Returns nothing for NULL.
  std::optional<std::string> field() {
    const auto at_end = [&] { return rest_.starts_with(',') || rest_.starts_with(')'); };
    if (at_end()) return std::nullopt;
    return read_quoted_part(rest_, at_end, [&] { return take(); });
  }
  void end() {
    if (!rest_.starts_with(')')) malformed("Too many columns.");
    rest_.remove_prefix(1);
    skip_space();
    if (!rest_.empty()) malformed("Junk after right parenthesis.");
  }

 private:
  void skip_space() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }
  char take() {
    if (rest_.empty()) malformed("Unexpected end of input.");
    const char letter = rest_.front();
    rest_.remove_prefix(1);
    return letter;
  }

  std::string_view text_;
  std::string_view rest_;
};

Value record_input(FunctionContext& context, TypeId type, std::int32_t, std::string_view text) {
  check_stack();
  const auto shape = shape_to_read(context, type);
  RowText row{text};
  row.begin();
  std::vector<Value> fields;
  for (std::size_t i = 0; i < shape->types.size(); ++i) {
    if (i > 0) row.comma();
    const auto field = row.field();
    const Value value =
        field ? input_text(context, shape->types[i], shape->typmods[i], *field) : Value::null();
    fields.push_back(finished_field(context, shape->types[i], shape->typmods[i], value));
  }
  row.end();
  return make_record(context.arena, shape->ordered(), fields);
}

Value record_receive(FunctionContext& context, TypeId type, std::int32_t, Bytes bytes) {
  check_stack();
  const auto shape = shape_to_read(context, type);
  BinaryReader reader{bytes};
  const auto count = reader.take<std::int32_t>();
  const std::size_t wanted = shape->types.size();
  if (count < 0 || static_cast<std::size_t>(count) != wanted)
    throw_error(sqlstate::datatype_mismatch, "wrong number of columns: {}, expected {}", count,
                wanted);
  std::vector<Value> fields;
  for (std::size_t i = 0; i < wanted; ++i) {
    const TypeId sent{reader.take<std::uint32_t>()};
    const TypeId expected = shape->types[i];
    if (sent != expected)
      throw_error(sqlstate::datatype_mismatch,
                  "binary data has type {} ({}) instead of expected {} ({}) in record column {}",
                  raw(sent), name_of_number(raw(sent)), raw(expected), format_type(expected),
                  i + 1);
    const auto length = reader.take<std::int32_t>();
    if (length < -1)
      throw SqlError{sqlstate::invalid_binary_representation, "insufficient data left in message"};
    const Value value = length == -1
                            ? Value::null()
                            : receive_binary(context, expected, shape->typmods[i],
                                             reader.take_bytes(static_cast<std::size_t>(length)));
    fields.push_back(finished_field(context, expected, shape->typmods[i], value));
  }
  reader.finish();
  return make_record(context.arena, shape->ordered(), fields);
}

}  // namespace

constexpr TypeCodec kRecordCodec{record_input, record_output, record_receive, record_send};

namespace {

constexpr Type row_type(TypeId id, std::string_view name, char category, char kind) {
  return {.id = id,
          .name = name,
          .sql_name = name,
          .category = category,
          .alignment = 'd',
          .kind = kind,
          .shape = Shape::record,
          .io = kRecordCodec,
          .order = kRecordOrder};
}
constexpr Type record_type() {
  Type type = row_type(TypeId::record, "record", 'P', 'p');
  type.array = TypeId::record_array;
  return type;
}
constexpr Type composite_type() {
  Type type = row_type(TypeId::none, "", 'C', 'c');
  type.operators_of = TypeId::record;
  return type;
}
constinit const Type kComposite = composite_type();

}  // namespace

constinit const Type builtin::record = record_type();

const Type& composite_prototype() noexcept {
  return kComposite;
}

}  // namespace swizzle::sql
