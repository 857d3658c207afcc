#include <algorithm>
#include <charconv>
#include <vector>

#include "sql-lite-frontend/types/built_in.h"
#include "sql-lite-frontend/types/datetime/interval_fields.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/type.h"
#include "sql-lite-frontend/types/user_types.h"

namespace swizzle::sql {
std::string format_type(TypeId type, std::int32_t typmod) {
  if (type == TypeId::none) return "-";
  type = without_collation(type);
  const Type* info = find_type(type);
  if (info == nullptr) return "???";
  if (is_user_type(type)) {
    const std::string name = noted_type_name(without_array(type));
    return (name.empty() ? "???" : name) + (is_user_array(type) ? "[]" : "");
  }
  if (is_array(type)) return format_type(element_type(type), typmod) + "[]";
  return typmod < 0 || info->modifier == nullptr ? std::string{info->sql_name}
                                                 : info->modifier->show(info->sql_name, typmod);
}

std::string name_of_number(std::uint32_t oid) {
  return is_collated(TypeId{oid}) ? "???" : format_type(TypeId{oid});
}

namespace {

class TypeNameParser {
 public:
  explicit TypeNameParser(std::string_view text) : rest_{text} {}

  std::optional<TypeReference> parse() {
    auto type = base_type();
    if (!type) return std::nullopt;
    TypeReference out{*type, kNoTypmod};
    if (!modifiers_.empty() || fields_ != 0) out.typmod = modifier_of(*type);
    while (true) {
      skip_space();
      if (!rest_.starts_with('[')) break;
      const std::size_t close = rest_.find(']');
      if (close == std::string_view::npos) return std::nullopt;
      rest_.remove_prefix(close + 1);
      array_ = true;
    }
    if (word_is("array")) array_ = true;
    skip_space();
    if (!rest_.empty()) return std::nullopt;
    if (array_) out.type = array_type(out.type);
    if (out.type == TypeId::none) return std::nullopt;
    return out;
  }

 private:
  void skip_space() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }

  std::optional<std::string> identifier() {
    skip_space();
    std::string out;
    if (rest_.starts_with('"')) {
      rest_.remove_prefix(1);
      while (!rest_.empty()) {
        if (rest_.front() == '"') {
          rest_.remove_prefix(1);
          if (!rest_.starts_with('"')) {
            quoted_ = true;
            return out;
          }
        }
        out.push_back(rest_.front());
        rest_.remove_prefix(1);
      }
      return std::nullopt;
    }
    while (!rest_.empty() &&
           (is_alpha(rest_.front()) || is_digit(rest_.front()) || rest_.front() == '_')) {
      out.push_back(to_lower(rest_.front()));
      rest_.remove_prefix(1);
    }
    return out.empty() ? std::nullopt : std::optional{out};
  }

  /// Takes the word if it comes next.
  bool word_is(std::string_view word) {
    const std::string_view before = rest_;
    const bool quoted = quoted_;
    if (const auto next = identifier(); next && *next == word) return true;
    rest_ = before;
    quoted_ = quoted;
    return false;
  }

  void read_modifiers() {
    skip_space();
    if (!rest_.starts_with('(')) return;
    const std::size_t close = rest_.find(')');
    std::string_view inside = rest_.substr(1, close == std::string_view::npos ? close : close - 1);
    rest_.remove_prefix(close == std::string_view::npos ? rest_.size() : close + 1);
    while (true) {
      const std::size_t comma = inside.find(',');
      const std::string_view item = trim_space(inside.substr(0, comma));
      std::int32_t number = 0;
      const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
      if (error != std::errc{} || end != item.data() + item.size())
        throw SqlError{sqlstate::syntax_error, "invalid type modifier"};
      modifiers_.push_back(number);
      if (comma == std::string_view::npos) break;
      inside.remove_prefix(comma + 1);
    }
  }

  std::optional<TypeId> zoned(TypeId without, TypeId with) {
    read_modifiers();
    if (word_is("with")) {
      if (!word_is("time") || !word_is("zone")) return std::nullopt;
      return with;
    }
    if (word_is("without") && (!word_is("time") || !word_is("zone"))) return std::nullopt;
    return without;
  }

  std::optional<TypeId> interval_type() {
    const auto field = [this](std::string_view& name) {
      for (const std::string_view word : {"year", "month", "day", "hour", "minute", "second"})
        if (word_is(word)) {
          name = word;
          return true;
        }
      return false;
    };
    std::string_view first;
    if (field(first)) {
      std::string phrase{first};
      std::string_view last;
      if (word_is("to")) {
        if (!field(last)) return std::nullopt;
        phrase += fmt::format(" to {}", last);
      }
      for (const IntervalFieldNames& names : kIntervalFieldNames)
        if (names.text == phrase) fields_ = names.fields;
      if (fields_ == 0) return std::nullopt;
    }
    read_modifiers();
    return TypeId::interval;
  }

  std::optional<TypeId> base_type() {
    auto name = identifier();
    if (!name) return std::nullopt;
    if (*name == "pg_catalog" && rest_.starts_with('.')) {
      rest_.remove_prefix(1);
      name = identifier();
      if (!name) return std::nullopt;
      quoted_ = true;  // after a schema, only names of pg_type are valid
    }
    if (!quoted_) {
      if (const auto type = sql_type(*name)) return type;
    }
    const Type* info = find_type(std::string_view{*name});
    if (info == nullptr) return std::nullopt;
    if (info->id == TypeId::timestamp || info->id == TypeId::time)
      return zoned(info->id, info->id == TypeId::time ? TypeId::timetz : TypeId::timestamptz);
    if (info->id == TypeId::interval) return interval_type();
    read_modifiers();
    return info->id;
  }

  /// Type names that exist in SQL's grammar only.
  std::optional<TypeId> sql_type(std::string_view name) {
    if (name == "int" || name == "integer") return TypeId::int4;
    if (name == "smallint") return TypeId::int2;
    if (name == "bigint") return TypeId::int8;
    if (name == "real") return TypeId::float4;
    if (name == "boolean") return TypeId::bool_;
    if (name == "double" && word_is("precision")) return TypeId::float8;
    if (name == "float") {
      read_modifiers();
      const bool small = !modifiers_.empty() && modifiers_[0] <= 24;
      modifiers_.clear();
      return small ? TypeId::float4 : TypeId::float8;
    }
    if (name == "decimal" || name == "dec") {
      read_modifiers();
      return TypeId::numeric;
    }
    if (name == "national" || name == "character" || name == "char" || name == "nchar") {
      if (name == "national" && !word_is("character") && !word_is("char")) return std::nullopt;
      const bool varying = word_is("varying");
      read_modifiers();
      // CHARACTER without a length is one character.
      if (!varying && modifiers_.empty()) modifiers_.push_back(1);
      return varying ? TypeId::varchar : TypeId::bpchar;
    }
    if (name == "bit") {
      const bool varying = word_is("varying");
      read_modifiers();
      // BIT without a length is one bit.
      if (!varying && modifiers_.empty()) modifiers_.push_back(1);
      return find_type(varying ? "varbit" : "bit")->id;
    }
    if (name == "time") return zoned(TypeId::time, TypeId::timetz);
    if (name == "timestamp") return zoned(TypeId::timestamp, TypeId::timestamptz);
    return std::nullopt;
  }

  [[nodiscard]] std::int32_t modifier_of(TypeId type) const {
    if (type != TypeId::interval) return make_typmod(type, modifiers_);
    std::vector<std::int32_t> all{
        static_cast<std::int32_t>(fields_ == 0 ? kAllIntervalFields : fields_)};
    all.insert(all.end(), modifiers_.begin(), modifiers_.end());
    return make_typmod(type, all);
  }

  std::string_view rest_;
  std::vector<std::int32_t> modifiers_;
  unsigned fields_ = 0;
  bool quoted_ = false;
  bool array_ = false;
};

}  // namespace

std::optional<TypeReference> parse_type_name(std::string_view text) {
  return TypeNameParser{text}.parse();
}

std::int32_t make_typmod(TypeId type, std::span<const std::int32_t> modifiers) {
  if (is_array(type)) return make_typmod(element_type(type), modifiers);
  const Type& known = value_type(type);
  if (known.modifier == nullptr)
    throw_error(sqlstate::syntax_error, "type modifier is not allowed for type \"{}\"",
                format_type(type));
  return known.modifier->read(modifiers);
}

}  // namespace swizzle::sql
