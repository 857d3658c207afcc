#include <charconv>

#include "sql-lite-frontend/types/functions/any_arguments.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_builder.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {

std::string quote_literal(std::string_view text) {
  const bool backslash = text.find('\\') != std::string_view::npos;
  std::string out = backslash ? "E'" : "'";
  for (const char c : text) {
    yield_point(2);
    if (c == '\'' || c == '\\') out.push_back(c);
    out.push_back(c);
  }
  out.push_back('\'');
  return out;
}

namespace {

using Arguments = std::span<const Value>;

Value quote_identifier_of(FunctionContext& context, Arguments a) {
  return make_text(context.arena, quote_identifier(a[0].as_text()));
}
Value quote_literal_of(FunctionContext& context, Arguments a) {
  return make_text(context.arena, quote_literal(a[0].as_text()));
}
// Casts the value to text, which shows a boolean as "true", unlike its output function ("t").
std::string as_text(FunctionContext& context, const Value& value) {
  const TypeId type = context.call.arguments[0];
  const auto cast = find_cast(type, TypeId::text, CastContext::explicit_cast);
  if (!cast) throw_error(sqlstate::cannot_coerce, "cannot cast type {} to text", format_type(type));
  return std::string{cast_value(context, *cast, value).as_text()};
}
Value quote_literal_of_any(FunctionContext& context, Arguments a) {
  return make_text(context.arena, quote_literal(as_text(context, a[0])));
}
Value quote_nullable(FunctionContext& context, Arguments a) {
  if (a[0].is_null()) return Value::from_text("NULL");
  return make_text(context.arena, quote_literal(a[0].as_text()));
}
Value quote_nullable_any(FunctionContext& context, Arguments a) {
  if (a[0].is_null()) return Value::from_text("NULL");
  return make_text(context.arena, quote_literal(as_text(context, a[0])));
}

/// Formatter of format('%[n$][-][width]type', …).
class Formatter {
 public:
  Formatter(FunctionContext& context, Arguments arguments)
      : context_{context}, arguments_{context, arguments, 1}, rest_{arguments[0].as_text()} {}

  Value run() {
    while (!rest_.empty()) {
      yield_point(4);
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c != '%') {
        out_.push_back(c);
      } else if (rest_.starts_with('%')) {
        rest_.remove_prefix(1);
        out_.push_back('%');
      } else {
        specifier();
      }
    }
    return out_.finish();
  }

 private:
  [[noreturn]] static void incomplete() {
    throw SqlError{sqlstate::invalid_parameter_value, "unterminated format() type specifier"}
        .with_hint("For a single \"%\" use \"%%\".");
  }

  std::optional<std::int32_t> number() {
    std::int32_t value = 0;
    if (rest_.empty() || !is_digit(rest_.front())) return std::nullopt;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{})
      throw SqlError{sqlstate::numeric_value_out_of_range, "number is out of range"};
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Reads "n$" at the front of a format; 0 is refused.
  std::optional<std::size_t> argument_number() {
    const std::string_view before = rest_;
    if (const auto n = number(); n && take('$')) {
      if (*n == 0)
        throw SqlError{sqlstate::invalid_parameter_value,
                       "format specifies argument 0, but arguments are numbered from 1"};
      return static_cast<std::size_t>(*n);
    }
    rest_ = before;
    return std::nullopt;
  }

  std::size_t use(std::optional<std::size_t> numbered) {
    next_ = numbered ? *numbered : next_ + 1;
    if (next_ >= arguments_.size())
      throw SqlError{sqlstate::invalid_parameter_value, "too few arguments for format()"};
    return next_;
  }

  void specifier() {
    const auto numbered = argument_number();
    bool left = false;
    while (take('-')) left = true;
    std::int64_t width = 0;
    if (take('*')) {
      const std::size_t index = use(argument_number());
      const Value& given = arguments_.value(index);
      if (!given.is_null()) {
        const std::string text = to_text(context_, arguments_.type(index), given);
        width = input_text(context_, TypeId::int4, kNoTypmod, text).as_int4();
      }
      if (width < 0) {
        left = true;
        width = -width;
      }
    } else if (const auto n = number()) {
      width = *n;
    }
    if (rest_.empty()) incomplete();
    const char type = rest_.front();
    if (type != 's' && type != 'I' && type != 'L')
      throw sql_error(sqlstate::invalid_parameter_value,
                      "unrecognized format() type specifier \"{}\"",
                      rest_.substr(0, utf8_length(type)))
          .with_hint("For a single \"%\" use \"%%\".");
    rest_.remove_prefix(1);
    append(argument_text(type, use(numbered)), left, width);
  }

  std::string argument_text(char type, std::size_t index) {
    const Value& value = arguments_.value(index);
    if (value.is_null()) {
      if (type == 'I')
        throw SqlError{sqlstate::null_value_not_allowed,
                       "null values cannot be formatted as an SQL identifier"};
      return type == 'L' ? "NULL" : "";
    }
    std::string text = to_text(context_, arguments_.type(index), value);
    if (type == 'I') return quote_identifier(text);
    if (type == 'L') return quote_literal(text);
    return text;
  }

  void append(const std::string& text, bool left, std::int64_t width) {
    const auto size = static_cast<std::int64_t>(count_characters(text));
    const auto fill = static_cast<std::size_t>(std::max<std::int64_t>(0, width - size));
    if (!left) out_.append(fill, ' ');
    out_ += text;
    if (left) out_.append(fill, ' ');
  }

  FunctionContext& context_;
  AnyArguments arguments_;
  std::string_view rest_;
  std::size_t next_ = 0;
  TextBuilder out_{context_.arena};
};

Value format(FunctionContext& context, Arguments a) {
  if (a[0].is_null()) return Value::null();
  return Formatter{context, a}.run();
}

constexpr ScalarEntry kTextFormatEntries[] = {
    {"quote_ident(text)", &quote_identifier_of},
    {"quote_literal(text)", &quote_literal_of},
    {"quote_literal(anyelement)", &quote_literal_of_any},
    {"quote_nullable(text)", &quote_nullable},
    {"quote_nullable(anyelement)", &quote_nullable_any},
    {"format(text)", &format},
    {"format(text,any)", &format},
};

}  // namespace

std::span<const ScalarEntry> text_format_functions() {
  return kTextFormatEntries;
}

}  // namespace swizzle::sql
