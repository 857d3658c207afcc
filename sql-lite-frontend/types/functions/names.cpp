#include <algorithm>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// True for errors about the text itself, except those of its grammar.
bool is_about_name(SqlState state) {
  const std::string_view code = state.code();
  return state != sqlstate::syntax_error &&
         (code.starts_with("42") || code.starts_with("22") || code.starts_with("3F"));
}

/// to_regclass and similar functions: return what the type reads from the text, or NULL where it
/// reads nothing.
template <TypeId kind>
Value find_object(FunctionContext& context, Arguments a) {
  try {
    return input_text(context, kind, kNoTypmod, a[0].as_text());
  } catch (const SqlError& error) {
    if (is_about_name(error.state())) return Value::null();
    throw;
  }
}

/// Splits "a.\"B\".c" into its names, unquoted; those without quotes are folded to lower case.
class IdentifierParser {
 public:
  enum class Rest : std::uint8_t { refused, allowed };

  IdentifierParser(std::string_view text, Rest rest) : text_{text}, rest_{text}, allowed_{rest} {}

  std::vector<std::string> parse() {
    std::vector<std::string> parts;
    skip();
    bool after_dot = false;
    while (true) {
      parts.push_back(part(after_dot));
      skip();
      if (rest_.starts_with('.')) {
        after_dot = true;
        rest_.remove_prefix(1);
        skip();
      } else if (rest_.empty() || allowed_ == Rest::allowed) {
        return parts;
      } else {
        invalid("");
      }
    }
  }

 private:
  [[noreturn]] void invalid(std::string detail) const {
    SqlError error = sql_error(sqlstate::invalid_parameter_value,
                               "string is not a valid identifier: \"{}\"", text_);
    if (detail.empty()) throw error;
    throw std::move(error).with_detail(std::move(detail));
  }
  void skip() {
    while (!rest_.empty() && is_space(rest_[0])) rest_.remove_prefix(1);
  }
  static bool starts_name(char c) {
    return is_alpha(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
  }

  std::string part(bool after_dot) {
    std::string out;
    if (rest_.starts_with('"')) {
      rest_.remove_prefix(1);
      while (true) {
        if (rest_.empty()) invalid("String has unclosed double quotes.");
        const char c = rest_[0];
        rest_.remove_prefix(1);
        if (c == '"') {
          if (!rest_.starts_with('"')) break;
          rest_.remove_prefix(1);
        }
        out.push_back(c);
      }
      if (out.empty()) invalid("Quoted identifier must not be empty.");
      return out;
    }
    if (!rest_.empty() && starts_name(rest_[0])) {
      while (!rest_.empty() && (starts_name(rest_[0]) || is_digit(rest_[0]) || rest_[0] == '$')) {
        out.push_back(to_lower(rest_[0]));
        rest_.remove_prefix(1);
      }
      return out;
    }
    if (rest_.starts_with('.')) invalid("No valid identifier before \".\".");
    if (after_dot) invalid("No valid identifier after \".\".");
    invalid("");
  }

  std::string_view text_;
  std::string_view rest_;
  Rest allowed_;
};

Value parse_identifier(FunctionContext& context, Arguments a) {
  const auto rest =
      a[1].as_bool() ? IdentifierParser::Rest::refused : IdentifierParser::Rest::allowed;
  std::vector<Value> parts;
  for (const std::string& part : IdentifierParser{a[0].as_text(), rest}.parse())
    parts.push_back(make_text(context.arena, part));
  return make_array(context.arena, TypeId::text, parts);
}

Value vector_types(FunctionContext& context, Arguments a) {
  const ArrayView view{a[0]};
  std::string out;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (i > 0) out += ", ";
    output_text(context, TypeId::regtype, view.element(i), out);
  }
  return make_text(context.arena, out);
}

constexpr ScalarEntry kNamesEntries[] = {
    {"to_regclass(text)", &find_object<TypeId::regclass>},
    {"to_regtype(text)", &find_object<TypeId::regtype>},
    {"to_regproc(text)", &find_object<TypeId::regproc>},
    {"to_regprocedure(text)", &find_object<TypeId::regprocedure>},
    {"to_regoper(text)", &find_object<TypeId::regoper>},
    {"to_regoperator(text)", &find_object<TypeId::regoperator>},
    {"to_regnamespace(text)", &find_object<TypeId::regnamespace>},
    {"to_regrole(text)", &find_object<TypeId::regrole>},
    {"to_regcollation(text)", &find_object<TypeId::regcollation>},
    {"parse_ident(text,bool)", &parse_identifier},
    {"oidvectortypes(oidvector)", &vector_types},
};

}  // namespace

std::span<const ScalarEntry> name_functions() {
  return kNamesEntries;
}

}  // namespace swizzle::sql
