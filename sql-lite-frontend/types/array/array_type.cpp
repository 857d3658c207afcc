#include <algorithm>
#include <charconv>
#include <vector>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/array/array_order.h"
#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/builtin.h"
#include "sql-lite-frontend/types/null_values.h"
#include "sql-lite-frontend/types/prototypes.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_codec.h"
#include "sql-lite-frontend/types/type_io.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
namespace {

char delimiter_of(TypeId element) noexcept {
  const Type* info = find_type(element);
  return info != nullptr ? info->delimiter : ',';
}

/// Parser of "{1,NULL,\"a b\"}", nested, optionally with bounds in front.
class ArrayReader {
 public:
  ArrayReader(FunctionContext& context, TypeId element, std::int32_t typmod, std::string_view text)
      : context_{context},
        element_{element},
        typmod_{typmod},
        text_{text},
        rest_{text},
        delimiter_{delimiter_of(element)},
        elements_{counted_values(context.arena)} {}

  Value read() {
    skip_space();
    read_bounds();
    if (!rest_.starts_with('{'))
      malformed(bounds_ > 0 ? "Array contents must start with \"{\"."
                            : "Array value must start with \"{\" or dimension information.");
    read_contents();
    skip_space();
    if (!rest_.empty()) malformed("Junk after closing right brace.");
    return finish();
  }

 private:
  [[noreturn]] void malformed(std::string detail) const {
    throw sql_error(sqlstate::invalid_text_representation, "malformed array literal: \"{}\"", text_)
        .with_detail(std::move(detail));
  }

  void skip_space() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }

  std::int32_t read_bound() {
    std::int32_t number = 0;
    if (rest_.starts_with('+')) rest_.remove_prefix(1);
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc{}) malformed("Missing array dimension value.");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return number;
  }

  // Reads leading bounds: "[1:3][0:1]=".
  void read_bounds() {
    while (rest_.starts_with('[')) {
      if (bounds_ == kMaxArrayDimensions) too_many_dimensions(bounds_ + 1);
      rest_.remove_prefix(1);
      std::int32_t lower = 1;
      std::int32_t upper = read_bound();
      if (rest_.starts_with(':')) {
        rest_.remove_prefix(1);
        lower = upper;
        upper = read_bound();
      }
      if (!rest_.starts_with(']')) malformed("Missing \"]\" after array dimensions.");
      rest_.remove_prefix(1);
      if (upper < lower)
        throw SqlError{sqlstate::array_subscript_error,
                       "upper bound cannot be less than lower bound"};
      declared_[bounds_++] = {upper - lower + 1, lower};
      skip_space();
    }
    if (bounds_ == 0) return;
    if (!rest_.starts_with('=')) malformed("Missing \"=\" after array dimensions.");
    rest_.remove_prefix(1);
    skip_space();
  }

  [[noreturn]] static void too_many_dimensions(std::size_t count) {
    throw_error(sqlstate::program_limit_exceeded,
                "number of array dimensions ({}) exceeds the maximum allowed ({})", count,
                kMaxArrayDimensions);
  }

  [[noreturn]] void unexpected(char c) const {
    malformed(fmt::format("Unexpected \"{}\" character.", c));
  }
  [[noreturn]] void differing_lengths() const {
    malformed(bounds_ > 0
                  ? "Specified array dimensions do not match array contents."
                  : "Multidimensional arrays must have sub-arrays with matching dimensions.");
  }

  /// Reads from the first brace to the one that closes it. Elements are converted in between, so
  /// that the first error of either kind is the one that is told.
  void read_contents() {
    if (bounds_ > 0) depth_ = bounds_;
    do {
      skip_space();
      if (rest_.empty()) malformed("Unexpected end of input.");
      const char c = rest_.front();
      if (c == '{') {
        open_level();
      } else if (c == '}') {
        close_level();
      } else if (c == delimiter_) {
        if (!needs_delimiter_) unexpected(c);
        rest_.remove_prefix(1);
        needs_delimiter_ = false;
      } else {
        read_element();
      }
    } while (level_ > 0);
  }

  void open_level() {
    if (needs_delimiter_) unexpected('{');
    if (level_ == kMaxArrayDimensions) too_many_dimensions(level_ + 1);
    rest_.remove_prefix(1);
    counts_[level_++] = 0;
    if (level_ <= depth_) return;
    // The first element, or the bounds, have told how deep the array is.
    if (bounds_ > 0 || !elements_.empty()) differing_lengths();
    depth_ = level_;
  }

  void close_level() {
    // A level may be empty, but not end with a delimiter.
    if (counts_[level_ - 1] > 0 && !needs_delimiter_) unexpected('}');
    rest_.remove_prefix(1);
    --level_;
    if (level_ > 0) ++counts_[level_ - 1];
    const std::int32_t wanted = bounds_ > 0 ? declared_[level_].length : lengths_[level_];
    if (wanted >= 0 && wanted != counts_[level_]) differing_lengths();
    lengths_[level_] = counts_[level_];
    needs_delimiter_ = true;
  }

  void read_element() {
    const bool is_quoted = rest_.starts_with('"');
    std::optional<std::string> item = is_quoted ? read_quoted() : read_unquoted();
    if (needs_delimiter_) malformed("Unexpected array element.");
    elements_.push_back(item ? input_text(context_, element_, typmod_, *item)
                             : null_of(context_, element_));
    if (level_ != depth_) differing_lengths();
    ++counts_[level_ - 1];
    needs_delimiter_ = true;
  }

  std::string read_quoted() {
    std::string item;
    rest_.remove_prefix(1);
    while (!rest_.starts_with('"')) {
      if (rest_.starts_with('\\')) rest_.remove_prefix(1);
      if (rest_.empty()) malformed("Unexpected end of input.");
      item.push_back(rest_.front());
      rest_.remove_prefix(1);
    }
    rest_.remove_prefix(1);
    skip_space();
    const char next = rest_.empty() ? '\0' : rest_.front();
    if (next != delimiter_ && next != '}' && next != '{')
      malformed("Incorrectly quoted array element.");
    return item;
  }

  /// Returns nothing for NULL.
  std::optional<std::string> read_unquoted() {
    std::string item;
    std::size_t kept = 0;  // trailing blanks count only if escaped
    bool escaped = false;
    for (; !rest_.starts_with('}') && !rest_.starts_with(delimiter_); rest_.remove_prefix(1)) {
      if (rest_.empty()) malformed("Unexpected end of input.");
      if (rest_.front() == '{') unexpected('{');
      if (rest_.front() == '"') malformed("Incorrectly quoted array element.");
      const bool backslash = rest_.front() == '\\';
      if (backslash) {
        rest_.remove_prefix(1);
        escaped = true;
        if (rest_.empty()) malformed("Unexpected end of input.");
      }
      item.push_back(rest_.front());
      if (backslash || !is_space(rest_.front())) kept = item.size();
    }
    item.resize(kept);
    if (!escaped && equals_ignoring_case(item, "null")) return std::nullopt;
    return item;
  }

  Value finish() {
    if (elements_.empty()) return make_array(context_.arena, element_, {}, {});
    ArrayDimension dimensions[kMaxArrayDimensions];
    for (std::size_t i = 0; i < depth_; ++i)
      dimensions[i] = bounds_ > 0 ? declared_[i] : ArrayDimension{lengths_[i], 1};
    return make_array(context_.arena, element_, {dimensions, depth_}, elements_);
  }

  FunctionContext& context_;
  TypeId element_;
  std::int32_t typmod_;
  std::string_view text_;
  std::string_view rest_;
  char delimiter_;
  std::size_t bounds_ = 0;
  ArrayDimension declared_[kMaxArrayDimensions];
  std::int32_t lengths_[kMaxArrayDimensions] = {-1, -1, -1, -1, -1, -1};
  std::int32_t counts_[kMaxArrayDimensions] = {};  ///< of the levels that are open
  std::size_t level_ = 0;                          ///< number of them
  std::size_t depth_ = 0;
  bool needs_delimiter_ = false;
  CountedValues elements_;
};

bool needs_quotes(std::string_view text, char delimiter) {
  if (text.empty() || equals_ignoring_case(text, "null")) return true;
  return std::ranges::any_of(text, [delimiter](char c) {
    return c == '"' || c == '\\' || c == '{' || c == '}' || c == delimiter || is_space(c);
  });
}

void append_element(std::string& out, std::string_view text, char delimiter) {
  if (!needs_quotes(text, delimiter)) {
    out += text;
    return;
  }
  out.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  out.push_back('"');
}

void output_level(FunctionContext& context, const ArrayView& view, std::size_t level,
                  std::size_t& next, std::string& out) {
  const char delimiter = delimiter_of(view.element_type());
  out.push_back('{');
  for (std::int32_t i = 0; i < view.dimension(level).length; ++i) {
    if (i > 0) out.push_back(delimiter);
    if (level + 1 < view.dimension_count()) {
      output_level(context, view, level + 1, next, out);
      continue;
    }
    const Value element = view.element(next++);
    if (element.is_null())
      out += "NULL";
    else
      append_element(out, to_text(context, view.element_type(), element), delimiter);
  }
  out.push_back('}');
}

void output_array(FunctionContext& context, TypeId, const Value& value, std::string& out) {
  const ArrayView view{value};
  if (view.dimension_count() == 0) {
    out += "{}";
    return;
  }
  bool plain = true;
  for (std::size_t i = 0; i < view.dimension_count(); ++i)
    plain = plain && view.dimension(i).lower == 1;
  if (!plain) {
    for (std::size_t i = 0; i < view.dimension_count(); ++i) {
      const ArrayDimension d = view.dimension(i);
      out += fmt::format("[{}:{}]", d.lower, d.lower + d.length - 1);
    }
    out.push_back('=');
  }
  std::size_t next = 0;
  output_level(context, view, 0, next, out);
}

Value receive_array(FunctionContext& context, TypeId type, std::int32_t typmod, Bytes bytes) {
  BinaryReader reader{bytes};
  const auto dimension_count = reader.take<std::int32_t>();
  const auto flags = reader.take<std::int32_t>();
  const TypeId element{reader.take<std::uint32_t>()};
  if (dimension_count < 0)
    throw_error(sqlstate::invalid_binary_representation, "invalid number of dimensions: {}",
                dimension_count);
  if (dimension_count > kMaxArrayDimensions)
    throw_error(sqlstate::program_limit_exceeded,
                "number of array dimensions ({}) exceeds the maximum allowed ({})", dimension_count,
                kMaxArrayDimensions);
  if (flags != 0 && flags != 1)
    throw SqlError{sqlstate::invalid_binary_representation, "invalid array flags"};
  const TypeId expected = element_type(type);
  if (element != expected)
    throw_error(sqlstate::datatype_mismatch,
                "binary data has array element type {} ({}) instead of expected {} ({})",
                raw(element), name_of_number(raw(element)), raw(expected), format_type(expected));
  ArrayDimension dimensions[kMaxArrayDimensions];
  for (std::int32_t i = 0; i < dimension_count; ++i) {
    dimensions[i].length = reader.take<std::int32_t>();
    dimensions[i].lower = reader.take<std::int32_t>();
    if (dimensions[i].length < 0)
      throw SqlError{sqlstate::program_limit_exceeded, "array size exceeds the maximum allowed"};
  }
  const std::span<const ArrayDimension> shape{dimensions,
                                              static_cast<std::size_t>(dimension_count)};
  const std::size_t size = array_size(shape);
  // Every element has at least its length word, so the message bounds what we reserve.
  CountedValues elements = counted_values(context.arena);
  elements.reserve(std::min(size, bytes.size() / 4));
  for (std::size_t i = 0; i < size; ++i) {
    const auto length = reader.take<std::int32_t>();
    if (length < -1)
      throw SqlError{sqlstate::invalid_binary_representation, "insufficient data left in message"};
    elements.push_back(length == -1
                           ? null_of(context, element)
                           : receive_binary(context, element, typmod,
                                            reader.take_bytes(static_cast<std::size_t>(length))));
  }
  reader.finish();
  return make_array(context.arena, element, shape, elements);
}

void send_array(FunctionContext& context, TypeId type, const Value& value, std::string& out) {
  const ArrayView view{value};
  const TypeId declared = element_type(type);
  append_big_endian(out, static_cast<std::int32_t>(view.dimension_count()));
  append_big_endian(out, static_cast<std::int32_t>(view.has_nulls() ? 1 : 0));
  append_big_endian(out, raw(is_domain(declared) ? declared : view.element_type()));
  for (std::size_t i = 0; i < view.dimension_count(); ++i) {
    append_big_endian(out, view.dimension(i).length);
    append_big_endian(out, view.dimension(i).lower);
  }
  for (std::size_t i = 0; i < view.size(); ++i) {
    const Value element = view.element(i);
    const std::size_t length_at = out.size();
    append_big_endian(out, std::int32_t{-1});
    if (element.is_null()) continue;
    send_binary(context, view.element_type(), element, out);
    const auto length = std::byteswap(static_cast<std::uint32_t>(out.size() - length_at - 4));
    std::memcpy(out.data() + length_at, &length, 4);
  }
}

// Returns the length of the number that the text of an oidvector begins with, or of all of it: the
// rest need not follow a blank.
std::size_t oid_length(std::string_view rest) {
  std::size_t digits = rest.starts_with('-') || rest.starts_with('+') ? 1 : 0;
  const std::size_t begin = digits;
  while (digits < rest.size() && is_digit(rest[digits])) ++digits;
  return digits == begin ? rest.size() : digits;
}

// Reads an int2vector or oidvector: elements separated by blanks, subscripts from 0.
Value input_vector(FunctionContext& context, TypeId type, std::int32_t, std::string_view text) {
  CountedValues elements = counted_values(context.arena);
  std::string_view rest = trim_space(text);
  while (!rest.empty()) {
    std::size_t end = 0;
    while (end < rest.size() && !is_space(rest[end])) ++end;
    if (type == TypeId::oidvector) end = oid_length(rest);
    elements.push_back(input_text(context, element_type(type), kNoTypmod, rest.substr(0, end)));
    rest = trim_space(rest.substr(end));
  }
  const ArrayDimension dimension{static_cast<std::int32_t>(elements.size()), 0};
  return make_array(context.arena, element_type(type), {&dimension, 1}, elements);
}

void output_vector(FunctionContext& context, TypeId, const Value& value, std::string& out) {
  const ArrayView view{value};
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (i > 0) out.push_back(' ');
    output_text(context, view.element_type(), view.element(i), out);
  }
}

}  // namespace

constexpr TypeCodec kArrayCodec{
    [](FunctionContext& context, TypeId type, std::int32_t typmod, std::string_view text) {
      if (element_type(type) == TypeId::none)
        throw_error(sqlstate::feature_not_supported, "cannot accept a value of type {}",
                    format_type(type));
      return ArrayReader{context, element_type(type), typmod, text}.read();
    },
    output_array, receive_array, send_array};

constexpr TypeCodec kVectorCodec{input_vector, output_vector, receive_array, send_array};

namespace {

constexpr Type array_of(TypeId id, std::string_view name, std::string_view sql_name,
                        TypeId element) {
  return {.id = id,
          .element = element,
          .name = name,
          .sql_name = sql_name,
          .category = 'A',
          .shape = Shape::array,
          .io = kArrayCodec,
          .order = kArrayOrder,
          .operators_of = TypeId::anyarray};
}
/// Throws for a value from a client: a stored anyarray is an array with its element type, and
/// clients may not send one.
[[noreturn]] void refuse_any_array() {
  throw SqlError{sqlstate::feature_not_supported, "cannot accept a value of type anyarray"};
}
constexpr Type any_array_type() {
  Type type = array_of(TypeId::anyarray, "anyarray", "anyarray", TypeId::none);
  type.io.input = [](FunctionContext&, TypeId, std::int32_t, std::string_view) -> Value {
    refuse_any_array();
  };
  type.io.receive = [](FunctionContext&, TypeId, std::int32_t, Bytes) -> Value {
    refuse_any_array();
  };
  type.category = 'P';
  type.alignment = 'd';
  type.kind = 'p';
  return type;
}
constexpr Type record_array_type() {
  Type type = array_of(TypeId::record_array, "_record", "record[]", TypeId::record);
  type.category = 'P';
  type.alignment = 'd';
  type.kind = 'p';
  return type;
}
constexpr Type vector_type(TypeId id, TypeId array, std::string_view name, TypeId element) {
  Type type = array_of(id, name, name, element);
  type.array = array;
  type.storage = 'p';
  type.io = kVectorCodec;
  return type;
}
constexpr Type oid_vector_type() {
  Type type = vector_type(TypeId::oidvector, TypeId::oidvector_array, "oidvector", TypeId::oid);
  type.operators_of = TypeId::oidvector;
  return type;
}
constinit const Type kArray = array_of(TypeId::none, "", "", TypeId::none);

}  // namespace

constinit const Type builtin::anyarray = any_array_type();
constinit const Type builtin::record_array = record_array_type();
constinit const Type builtin::int2vector =
    vector_type(TypeId::int2vector, TypeId::int2vector_array, "int2vector", TypeId::int2);
constinit const Type builtin::oidvector = oid_vector_type();

const Type& array_prototype() noexcept {
  return kArray;
}
const Type& user_array_prototype() noexcept {
  return kArray;
}

}  // namespace swizzle::sql
