#include <algorithm>
#include <bitset>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/functions/any_arguments.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/long_values.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_builder.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

/// Part of a long text that is processed between two yield points.
constexpr std::size_t kLettersAtOnce = 4096;

[[noreturn]] void too_long() {
  throw SqlError{sqlstate::program_limit_exceeded, "requested length too large"};
}

Value concatenate(FunctionContext& context, std::string_view a, std::string_view b) {
  std::byte* out = context.arena.allocate(a.size() + b.size(), 1);
  copy_long(out, as_bytes(a));
  copy_long(out + a.size(), as_bytes(b));
  return Value::from_bytes({out, a.size() + b.size()});
}
Value join(FunctionContext& context, Arguments a) {
  return concatenate(context, a[0].as_text(), a[1].as_text());
}
// The call's argument types give the type of the other operand.
Value join_any(FunctionContext& context, Arguments a) {
  const bool text_first = context.call.arguments[0] == TypeId::text;
  const TypeId other = context.call.arguments[text_first ? 1 : 0];
  const auto cast = find_cast(other, TypeId::text, CastContext::explicit_cast);
  if (!cast)
    throw_error(sqlstate::cannot_coerce, "cannot cast type {} to text", format_type(other));
  const Value converted = cast_value(context, *cast, a[text_first ? 1 : 0]);
  const std::string_view shown = converted.as_text();
  return text_first ? concatenate(context, a[0].as_text(), shown)
                    : concatenate(context, shown, a[1].as_text());
}

Value character_length(FunctionContext&, Arguments a) {
  return Value::from_int(static_cast<std::int64_t>(count_long_characters(a[0].as_text())));
}
Value blank_padded_length(FunctionContext&, Arguments a) {
  const std::string_view text = a[0].as_text();
  return Value::from_int(
      static_cast<std::int64_t>(count_characters(text.substr(0, text.find_last_not_of(' ') + 1))));
}
Value octet_length(FunctionContext&, Arguments a) {
  return Value::from_int(static_cast<std::int64_t>(a[0].as_bytes().size()));
}
Value bit_length(FunctionContext&, Arguments a) {
  return Value::from_int(static_cast<std::int64_t>(a[0].as_bytes().size()) * 8);
}

template <char (*F)(char)>
Value map_ascii(FunctionContext& context, Arguments a) {
  const std::string_view text = a[0].as_text();
  std::byte* out = context.arena.allocate(text.size(), 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % kLettersAtOnce == 0) count_bytes(kLettersAtOnce);
    out[i] = static_cast<std::byte>(F(text[i]));
  }
  return Value::from_bytes({out, text.size()});
}
char lower_of(char c) {
  return to_lower(c);
}
char upper_of(char c) {
  return to_upper(c);
}

Value initial_capitals(FunctionContext& context, Arguments a) {
  std::string out{a[0].as_text()};
  bool inside = false;
  for (char& c : out) {
    c = inside ? to_lower(c) : to_upper(c);
    inside = is_alpha(c) || is_digit(c);
  }
  return make_text(context.arena, out);
}

/// Returns characters [start, start + length) counted from 1; positions outside the text do not
/// exist.
std::string_view slice_characters(std::string_view text, std::int64_t start, std::int64_t end) {
  start = std::max<std::int64_t>(start, 1);
  if (end <= start) return {};
  text.remove_prefix(bytes_of_long_characters(text, static_cast<std::size_t>(start - 1)));
  return text.substr(0, bytes_of_long_characters(text, static_cast<std::size_t>(end - start)));
}
std::string_view slice_bytes(std::string_view text, std::int64_t start, std::int64_t end) {
  start = std::max<std::int64_t>(start, 1);
  const auto size = static_cast<std::int64_t>(text.size());
  if (end <= start || start > size) return {};
  return text.substr(static_cast<std::size_t>(start - 1), static_cast<std::size_t>(end - start));
}
[[noreturn]] void negative_length() {
  throw SqlError{sqlstate::substring_error, "negative substring length not allowed"};
}
template <std::string_view (*Slice)(std::string_view, std::int64_t, std::int64_t)>
Value substring(FunctionContext&, Arguments a) {
  const std::int64_t start = a[1].as_int4();
  if (a.size() == 2) return Value::from_text(Slice(a[0].as_text(), start, INT64_MAX));
  const std::int64_t length = a[2].as_int4();
  if (length < 0) negative_length();
  return Value::from_text(Slice(a[0].as_text(), start, start + length));
}

template <std::string_view (*Slice)(std::string_view, std::int64_t, std::int64_t)>
Value overlay(FunctionContext& context, Arguments a) {
  const std::string_view text = a[0].as_text();
  const std::string_view with = a[1].as_text();
  const std::int64_t start = a[2].as_int4();
  constexpr bool kCharacters = Slice == &slice_characters;
  const std::int64_t length =
      a.size() == 4 ? a[3].as_int4()
                    : static_cast<std::int64_t>(kCharacters ? count_characters(with) : with.size());
  if (start <= 0) negative_length();
  if (start + length > INT32_MAX)
    throw SqlError{sqlstate::numeric_value_out_of_range, "integer out of range"};
  TextBuilder out{context.arena};
  out += Slice(text, 1, start);
  out += with;
  out += Slice(text, start + length, INT64_MAX);
  return out.finish();
}

Value position(FunctionContext&, Arguments a) {
  const std::string_view text = a[0].as_text();
  const std::size_t found = find_long(text, a[1].as_text());
  if (found == std::string_view::npos) return Value::from_int(0);
  return Value::from_int(static_cast<std::int64_t>(count_long_characters(text.substr(0, found))) +
                         1);
}
Value byte_position(FunctionContext&, Arguments a) {
  const std::size_t found = find_long(a[0].as_text(), a[1].as_text());
  return Value::from_int(found == std::string_view::npos ? 0
                                                         : static_cast<std::int64_t>(found) + 1);
}

constexpr std::size_t kWorkPerCharacter = 10;

enum class Side : std::uint8_t { left, right, both };

/// Set of the characters of a text.
class CharacterSet {
 public:
  explicit CharacterSet(std::string_view characters) {
    for (std::size_t at = 0; at < characters.size();) {
      yield_point(kWorkPerCharacter);
      const std::string_view character = characters.substr(at, utf8_length(characters[at]));
      at += character.size();
      if (character.size() == 1) {
        ascii_[static_cast<unsigned char>(character[0])] = true;
      } else {
        others_.insert(character);
      }
    }
  }
  [[nodiscard]] bool contains(std::string_view character) const {
    return character.size() == 1 ? ascii_[static_cast<unsigned char>(character[0])]
                                 : others_.contains(character);
  }

 private:
  std::bitset<256> ascii_;
  std::unordered_set<std::string_view> others_;
};

/// Trims whole characters of the set from the ends.
template <Side side>
std::string_view trimmed(std::string_view text, std::string_view set) {
  const CharacterSet characters{set};
  const auto in_set = [&characters](std::string_view character) {
    yield_point(kWorkPerCharacter);
    return characters.contains(character);
  };
  if constexpr (side != Side::right)
    while (!text.empty() && in_set(text.substr(0, utf8_length(text[0]))))
      text.remove_prefix(std::min(utf8_length(text[0]), text.size()));
  if constexpr (side != Side::left) {
    while (!text.empty()) {
      std::size_t last = text.size() - 1;
      while (last > 0 && is_utf8_continuation(text[last])) --last;
      if (!in_set(text.substr(last))) break;
      text = text.substr(0, last);
    }
  }
  return text;
}
template <Side side>
Value trim(FunctionContext&, Arguments a) {
  return Value::from_text(
      trimmed<side>(a[0].as_text(), a.size() == 2 ? a[1].as_text() : std::string_view{" "}));
}
template <Side side>
Value trim_bytes(FunctionContext&, Arguments a) {
  std::string_view text = a[0].as_text();
  const std::string_view set = a[1].as_text();
  if constexpr (side != Side::right)
    text.remove_prefix(std::min(text.find_first_not_of(set), text.size()));
  if constexpr (side != Side::left) text = text.substr(0, text.find_last_not_of(set) + 1);
  return Value::from_text(text);
}

/// Repeats `fill` until `count` characters are appended.
void append_fill(TextBuilder& out, std::string_view fill, std::size_t count) {
  const std::size_t per_fill = count_characters(fill);
  for (; count >= per_fill; count -= per_fill) {
    yield_point(kWorkPerCharacter);
    out += fill;
  }
  out += fill.substr(0, bytes_of_characters(fill, count));
}
template <Side side>
Value pad(FunctionContext& context, Arguments a) {
  const std::string_view text = a[0].as_text();
  const std::string_view fill = a.size() == 3 ? a[2].as_text() : std::string_view{" "};
  const auto wanted = static_cast<std::size_t>(std::max(a[1].as_int4(), 0));
  if (wanted * 4 > kMaxFieldBytes) too_long();
  const std::size_t characters = count_long_characters(text);
  if (characters >= wanted)
    return Value::from_text(text.substr(0, bytes_of_long_characters(text, wanted)));
  if (fill.empty()) return a[0];
  TextBuilder out{context.arena};
  if (side == Side::left) append_fill(out, fill, wanted - characters);
  out += text;
  if (side == Side::right) append_fill(out, fill, wanted - characters);
  return out.finish();
}

// A negative count leaves out that many characters at the other end.
Value left(FunctionContext&, Arguments a) {
  const std::string_view text = a[0].as_text();
  std::int64_t count = a[1].as_int4();
  if (count < 0)
    count =
        std::max<std::int64_t>(0, static_cast<std::int64_t>(count_long_characters(text)) + count);
  return Value::from_text(
      text.substr(0, bytes_of_long_characters(text, static_cast<std::size_t>(count))));
}
Value right(FunctionContext&, Arguments a) {
  const std::string_view text = a[0].as_text();
  const auto characters = static_cast<std::int64_t>(count_long_characters(text));
  const std::int64_t count = a[1].as_int4();
  // In PostgreSQL the negation of INT32_MIN overflows, so nothing is skipped.
  if (count == INT32_MIN) return a[0];
  const std::int64_t skipped =
      count < 0 ? std::min(-count, characters) : std::max<std::int64_t>(0, characters - count);
  return Value::from_text(
      text.substr(bytes_of_long_characters(text, static_cast<std::size_t>(skipped))));
}

Value replace(FunctionContext& context, Arguments a) {
  const std::string_view from = a[1].as_text();
  std::string_view rest = a[0].as_text();
  if (from.empty()) return a[0];
  TextBuilder out{context.arena};
  while (true) {
    yield_point(kWorkPerCharacter);
    const std::size_t found = find_long(rest, from);
    if (found == std::string_view::npos) break;
    out += rest.substr(0, found);
    out += a[2].as_text();
    rest.remove_prefix(found + from.size());
  }
  if (rest.size() == a[0].as_text().size()) return a[0];
  out += rest;
  return out.finish();
}

Value split_part(FunctionContext&, Arguments a) {
  std::string_view text = a[0].as_text();
  const std::string_view separator = a[1].as_text();
  std::int64_t wanted = a[2].as_int4();
  if (wanted == 0)
    throw SqlError{sqlstate::invalid_parameter_value, "field position must not be zero"};
  if (separator.empty())
    return Value::from_text(wanted == 1 || wanted == -1 ? text : std::string_view{});
  if (wanted < 0) {
    std::int64_t fields = 1;
    for (std::size_t at = find_long(text, separator); at != std::string_view::npos;
         at = find_long(text, separator, at + separator.size())) {
      yield_point(kWorkPerCharacter);
      ++fields;
    }
    wanted += fields + 1;
    if (wanted < 1) return Value::from_text("");
  }
  for (; wanted > 1; --wanted) {
    yield_point(kWorkPerCharacter);
    const std::size_t found = find_long(text, separator);
    if (found == std::string_view::npos) return Value::from_text("");
    text.remove_prefix(found + separator.size());
  }
  return Value::from_text(text.substr(0, find_long(text, separator)));
}

Value repeat(FunctionContext& context, Arguments a) {
  const std::string_view text = a[0].as_text();
  const auto count = static_cast<std::size_t>(std::max(a[1].as_int4(), 0));
  if (text.empty() || count == 0) return Value::from_text("");
  if (count > kMaxFieldBytes / text.size()) too_long();
  const std::size_t size = text.size() * count;
  std::byte* out = context.arena.allocate(size, 1);
  copy_long(out, as_bytes(text));
  // Copy in doubling steps, so that a short text needs as few copies as a long one.
  for (std::size_t have = text.size(); have < size;) {
    const std::size_t now = std::min(have, size - have);
    copy_long(out + have, {out, now});
    have += now;
  }
  return Value::from_bytes({out, size});
}

Value reverse(FunctionContext& context, Arguments a) {
  const std::string_view text = a[0].as_text();
  std::byte* const out = context.arena.allocate(text.size(), 1);
  std::byte* to = out + text.size();
  for (std::size_t at = 0; at < text.size();) {
    yield_point(4);
    const std::size_t size = std::min(utf8_length(text[at]), text.size() - at);
    to -= size;
    std::memcpy(to, text.data() + at, size);
    at += size;
  }
  return Value::from_bytes({out, text.size()});
}

Value ascii(FunctionContext&, Arguments a) {
  const std::string_view text = a[0].as_text();
  return Value::from_int(text.empty() ? 0 : static_cast<std::int64_t>(decode_character(text)));
}
Value character(FunctionContext& context, Arguments a) {
  const std::int32_t code = a[0].as_int4();
  if (code < 0)
    throw SqlError{sqlstate::invalid_parameter_value, "character number must be positive"};
  if (code == 0) throw SqlError{sqlstate::program_limit_exceeded, "null character not permitted"};
  if (code > 0x10ffff)
    throw_error(sqlstate::program_limit_exceeded, "requested character too large for encoding: {}",
                code);
  if (code >= 0xd800 && code <= 0xdfff)
    throw_error(sqlstate::program_limit_exceeded, "requested character not valid for encoding: {}",
                code);
  std::string out;
  append_character(out, static_cast<char32_t>(code));
  return make_text(context.arena, out);
}

/// Calls `visit` with each character of `text`.
template <class Visit>
void for_each_character(std::string_view text, const Visit& visit) {
  for (std::size_t at = 0; at < text.size();) {
    yield_point(kWorkPerCharacter);
    const std::string_view character = text.substr(at, utf8_length(text[at]));
    at += character.size();
    visit(character);
  }
}
Value translate(FunctionContext& context, Arguments a) {
  // Replacement of each character; the first counts if a character occurs twice.
  std::unordered_map<std::string_view, std::string_view> becomes;
  std::string_view to = a[2].as_text();
  for_each_character(a[1].as_text(), [&](std::string_view from) {
    const std::string_view with = to.empty() ? to : to.substr(0, utf8_length(to[0]));
    to.remove_prefix(with.size());
    becomes.emplace(from, with);
  });
  TextBuilder out{context.arena};
  for_each_character(a[0].as_text(), [&](std::string_view character) {
    const auto found = becomes.find(character);
    out += found == becomes.end() ? character : found->second;
  });
  return out.finish();
}

Value starts_with(FunctionContext&, Arguments a) {
  return Value::from_bool(a[0].as_text().starts_with(a[1].as_text()));
}

// concat and concat_ws take values of any type and skip NULLs. VARIADIC passes them one array.
void append_any(FunctionContext& context, TextBuilder& out, TypeId type, const Value& value) {
  if (type == TypeId::bool_)
    out += value.as_bool() ? "t" : "f";
  else
    out += to_text(context, type, value);
}
Value concat(FunctionContext& context, Arguments a) {
  const AnyArguments all{context, a, 0};
  if (all.is_null()) return Value::null();
  TextBuilder out{context.arena};
  for (std::size_t i = 0; i < all.size(); ++i)
    if (!all.value(i).is_null()) append_any(context, out, all.type(i), all.value(i));
  return out.finish();
}
Value concat_with_separator(FunctionContext& context, Arguments a) {
  const AnyArguments all{context, a, 1};
  if (a[0].is_null() || all.is_null()) return Value::null();
  TextBuilder out{context.arena};
  bool first = true;
  for (std::size_t i = 1; i < all.size(); ++i) {
    yield_point(kWorkPerCharacter);
    if (all.value(i).is_null()) continue;
    if (!first) out += a[0].as_text();
    first = false;
    append_any(context, out, all.type(i), all.value(i));
  }
  return out.finish();
}

constexpr ScalarEntry kTextEntries[] = {
    {"||(text,text)", &join},
    {"||(bytea,bytea)", &join},
    {"||(text,anynonarray)", &join_any},
    {"||(anynonarray,text)", &join_any},
    {"length(text)", &character_length},
    {"char_length(text)", &character_length},
    {"character_length(text)", &character_length},
    {"length(bpchar)", &blank_padded_length},
    {"char_length(bpchar)", &blank_padded_length},
    {"character_length(bpchar)", &blank_padded_length},
    {"length(bytea)", &octet_length},
    {"octet_length(text)", &octet_length},
    {"octet_length(bpchar)", &octet_length},
    {"octet_length(bytea)", &octet_length},
    {"bit_length(text)", &bit_length},
    {"bit_length(bytea)", &bit_length},
    {"lower(text)", &map_ascii<lower_of>},
    {"casefold(text)", &map_ascii<lower_of>},
    {"upper(text)", &map_ascii<upper_of>},
    {"initcap(text)", &initial_capitals},
    {"substring(text,int4)", &substring<slice_characters>},
    {"substring(text,int4,int4)", &substring<slice_characters>},
    {"substr(text,int4)", &substring<slice_characters>},
    {"substr(text,int4,int4)", &substring<slice_characters>},
    {"substring(bytea,int4)", &substring<slice_bytes>},
    {"substring(bytea,int4,int4)", &substring<slice_bytes>},
    {"substr(bytea,int4)", &substring<slice_bytes>},
    {"substr(bytea,int4,int4)", &substring<slice_bytes>},
    {"overlay(text,text,int4)", &overlay<slice_characters>},
    {"overlay(text,text,int4,int4)", &overlay<slice_characters>},
    {"overlay(bytea,bytea,int4)", &overlay<slice_bytes>},
    {"overlay(bytea,bytea,int4,int4)", &overlay<slice_bytes>},
    {"position(text,text)", &position},
    {"strpos(text,text)", &position},
    {"position(bytea,bytea)", &byte_position},
    {"btrim(text)", &trim<Side::both>},
    {"btrim(text,text)", &trim<Side::both>},
    {"ltrim(text)", &trim<Side::left>},
    {"ltrim(text,text)", &trim<Side::left>},
    {"rtrim(text)", &trim<Side::right>},
    {"rtrim(text,text)", &trim<Side::right>},
    {"btrim(bytea,bytea)", &trim_bytes<Side::both>},
    {"ltrim(bytea,bytea)", &trim_bytes<Side::left>},
    {"rtrim(bytea,bytea)", &trim_bytes<Side::right>},
    {"lpad(text,int4)", &pad<Side::left>},
    {"lpad(text,int4,text)", &pad<Side::left>},
    {"rpad(text,int4)", &pad<Side::right>},
    {"rpad(text,int4,text)", &pad<Side::right>},
    {"left(text,int4)", &left},
    {"right(text,int4)", &right},
    {"replace(text,text,text)", &replace},
    {"split_part(text,text,int4)", &split_part},
    {"repeat(text,int4)", &repeat},
    {"reverse(text)", &reverse},
    {"ascii(text)", &ascii},
    {"chr(int4)", &character},
    {"translate(text,text,text)", &translate},
    {"starts_with(text,text)", &starts_with},
    {"^@(text,text)", &starts_with},
    {"concat(any)", &concat},
    {"concat_ws(text,any)", &concat_with_separator},
};

}  // namespace

std::span<const ScalarEntry> text_functions() {
  return kTextEntries;
}

}  // namespace swizzle::sql
