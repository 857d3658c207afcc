#include "sql-lite-frontend/types/functions/text/regexes.h"

#include <array>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/collation/collated.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/regex/regex_options.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_builder.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"

namespace swizzle::sql {

RegexFlags split_flags(std::string_view flags) {
  RegexFlags out;
  for (const char c : flags) {
    if (c == 'g')
      out.global = true;
    else
      out.pattern.push_back(c);
  }
  return out;
}

RegexMatches::RegexMatches(FunctionContext& context, std::string_view text,
                           std::string_view pattern, std::string_view flags, std::size_t start)
    : text_{text}, pattern_{pattern}, flags_{flags}, at_{start} {
  context.session.regex(pattern_, flags_);  // a malformed pattern fails here, matches or not
}

std::optional<CompiledRegex::Match> RegexMatches::next(SessionContext& session) {
  if (given_ < found_.size()) return std::move(found_[given_++]);
  if (at_ > text_.size()) return std::nullopt;
  const CompiledRegex& regex = session.regex(pattern_, flags_);
  if (regex.is_long(text_.size())) {
    if (!shared_text_) shared_text_ = std::make_shared<const std::string>(text_);
    found_ = regex.find_some(shared_text_, at_);
    given_ = 0;
    return found_.empty() ? std::nullopt : std::optional{std::move(found_[given_++])};
  }
  auto match = regex.find(text_, at_);
  at_ = match ? CompiledRegex::behind(text_, match->front()) : text_.size() + 1;
  return match;
}

Value match_as_array(Arena& arena, std::string_view text, const CompiledRegex::Match& match) {
  std::vector<Value> parts;
  for (std::size_t i = match.size() > 1 ? 1 : 0; i < match.size(); ++i)
    parts.push_back(match[i].matched ? Value::from_text(text.substr(match[i].begin,
                                                                    match[i].end - match[i].begin))
                                     : Value::null());
  return make_array(arena, TypeId::text, parts);
}

namespace {

using Arguments = std::span<const Value>;

/// Returns the flag for the letters of the call's collation.
std::string_view letters_flag(const FunctionContext& context) {
  for (const TypeId type : context.call.arguments) {
    if (is_collated(type)) return regex_flag_of(letters_of(collation_of_type(type)));
  }
  return regex_flag_of(Letters::ascii);
}

std::string_view flags_of(Arguments a, std::size_t index) {
  return a.size() > index ? a[index].as_text() : std::string_view{};
}

RegexFlags flags_of_call(const FunctionContext& context, std::string_view given) {
  RegexFlags flags = split_flags(given);
  flags.pattern += letters_flag(context);
  return flags;
}

enum class Wanted : std::uint8_t { match, no_match };

template <Wanted wanted>
Value test(FunctionContext& context, Arguments a) {
  return Value::from_bool(
      context.session.regex(a[1].as_text(), letters_flag(context)).matches(a[0].as_text()) ==
      (wanted == Wanted::match));
}
template <Wanted wanted>
Value test_ignoring_case(FunctionContext& context, Arguments a) {
  return Value::from_bool(
      context.session.regex(a[1].as_text(), "i" + std::string{letters_flag(context)})
          .matches(a[0].as_text()) == (wanted == Wanted::match));
}

[[noreturn]] void refuse_global(std::string_view function) {
  throw_error(sqlstate::invalid_parameter_value, "{} does not support the \"global\" option",
              function);
}

Value regexp_match(FunctionContext& context, Arguments a) {
  const RegexFlags flags = flags_of_call(context, flags_of(a, 2));
  if (flags.global)
    throw SqlError{sqlstate::invalid_parameter_value,
                   "regexp_match() does not support the \"global\" option"}
        .with_hint("Use the regexp_matches function instead.");
  const auto match = context.session.regex(a[1].as_text(), flags.pattern).find(a[0].as_text());
  if (!match) return Value::null();
  return match_as_array(context.arena, a[0].as_text(), *match);
}

Value regexp_like(FunctionContext& context, Arguments a) {
  const RegexFlags flags = flags_of_call(context, flags_of(a, 2));
  if (flags.global) refuse_global("regexp_like()");
  return Value::from_bool(
      context.session.regex(a[1].as_text(), flags.pattern).matches(a[0].as_text()));
}

void append_replacement(TextBuilder& out, std::string_view with, std::string_view text,
                        const CompiledRegex::Match& match) {
  for (std::size_t i = 0; i < with.size(); ++i) {
    if (with[i] != '\\' || i + 1 == with.size()) {
      out.push_back(with[i]);
      continue;
    }
    const char c = with[++i];
    std::size_t group = SIZE_MAX;
    if (c == '&') group = 0;
    if (c >= '1' && c <= '9') group = static_cast<std::size_t>(c - '0');
    if (group == SIZE_MAX) {
      if (c != '\\') out.push_back('\\');
      out.push_back(c);
    } else if (group < match.size() && match[group].matched) {
      out += text.substr(match[group].begin, match[group].end - match[group].begin);
    }
  }
}

/// Replaces the `nth` match at or after byte `start`, or all from there if `nth` is 0.
Value replace(FunctionContext& context, std::string_view text, std::string_view pattern,
              std::string_view with, std::string_view flags, std::size_t start, std::int64_t nth) {
  RegexMatches matches{context, text, pattern, flags, start};
  TextBuilder out{context.arena};
  std::size_t copied = 0;
  for (std::int64_t count = 1;; ++count) {
    const auto match = matches.next(context.session);
    if (!match) break;
    if (nth != 0 && count < nth) continue;
    out += text.substr(copied, match->front().begin - copied);
    append_replacement(out, with, text, *match);
    copied = match->front().end;
    if (nth != 0) break;
  }
  out += text.substr(copied);
  return out.finish();
}

Value regexp_replace(FunctionContext& context, Arguments a) {
  const std::string_view given = flags_of(a, 3);
  if (!given.empty() && is_digit(given[0]))
    throw sql_error(sqlstate::invalid_parameter_value, "invalid regular expression option: \"{}\"",
                    given.substr(0, 1))
        .with_hint(
            "If you meant to use regexp_replace() with a start parameter, cast the fourth argument "
            "to integer explicitly.");
  const RegexFlags flags = flags_of_call(context, given);
  return replace(context, a[0].as_text(), a[1].as_text(), a[2].as_text(), flags.pattern, 0,
                 flags.global ? 0 : 1);
}

/// Returns the byte of the character that a search begins at; greater than the text's size if it is
/// behind the end.
std::size_t start_byte(std::string_view text, std::int32_t start) {
  if (start <= 0)
    throw_error(sqlstate::invalid_parameter_value, "invalid value for parameter \"start\": {}",
                start);
  const std::size_t skipped = static_cast<std::size_t>(start) - 1;
  const std::size_t byte = bytes_of_characters(text, skipped);
  return byte == text.size() && count_characters(text) < skipped ? text.size() + 1 : byte;
}

Value regexp_replace_from(FunctionContext& context, Arguments a) {
  const RegexFlags flags = flags_of_call(context, flags_of(a, 5));
  std::int64_t nth = a.size() > 4 ? a[4].as_int4() : 1;
  if (nth < 0)
    throw_error(sqlstate::invalid_parameter_value, "invalid value for parameter \"n\": {}", nth);
  if (a.size() <= 4 && flags.global) nth = 0;
  return replace(context, a[0].as_text(), a[1].as_text(), a[2].as_text(), flags.pattern,
                 start_byte(a[0].as_text(), a[3].as_int4()), nth);
}

Value regexp_count(FunctionContext& context, Arguments a) {
  const std::size_t start = a.size() > 2 ? start_byte(a[0].as_text(), a[2].as_int4()) : 0;
  const RegexFlags flags = flags_of_call(context, flags_of(a, 3));
  if (flags.global) refuse_global("regexp_count()");
  RegexMatches matches{context, a[0].as_text(), a[1].as_text(), flags.pattern, start};
  std::int64_t count = 0;
  while (matches.next(context.session)) ++count;
  return Value::from_int(count);
}

/// Returns the range of the n-th match in the text, or nothing.
std::optional<CompiledRegex::Match> nth_match(FunctionContext& context, Arguments a,
                                              std::size_t flags_at, std::string_view function) {
  const std::size_t start = a.size() > 2 ? start_byte(a[0].as_text(), a[2].as_int4()) : 0;
  const std::int32_t nth = a.size() > 3 ? a[3].as_int4() : 1;
  if (nth <= 0)
    throw_error(sqlstate::invalid_parameter_value, "invalid value for parameter \"n\": {}", nth);
  const RegexFlags flags = flags_of_call(context, flags_of(a, flags_at));
  if (flags.global) refuse_global(function);
  RegexMatches matches{context, a[0].as_text(), a[1].as_text(), flags.pattern, start};
  for (std::int32_t i = 1;; ++i) {
    auto match = matches.next(context.session);
    if (!match || i == nth) return match;
  }
}

std::size_t group_argument(Arguments a, std::size_t index) {
  const std::int32_t group = a.size() > index ? a[index].as_int4() : 0;
  if (group < 0)
    throw_error(sqlstate::invalid_parameter_value, "invalid value for parameter \"subexpr\": {}",
                group);
  return static_cast<std::size_t>(group);
}

/// Returns the range of a group, or nothing. The first group of a pattern without groups is the
/// whole match.
std::optional<CompiledRegex::Range> group_of(const CompiledRegex::Match& match, std::size_t group) {
  if (match.size() == 1 && group == 1) group = 0;
  if (group >= match.size() || !match[group].matched) return std::nullopt;
  return match[group];
}

Value regexp_substr(FunctionContext& context, Arguments a) {
  const std::size_t group = group_argument(a, 5);
  const auto match = nth_match(context, a, 4, "regexp_substr()");
  if (!match) return Value::null();
  const auto range = group_of(*match, group);
  if (!range) return Value::null();
  return Value::from_text(a[0].as_text().substr(range->begin, range->end - range->begin));
}

Value regexp_instr(FunctionContext& context, Arguments a) {
  const std::int32_t end_option = a.size() > 4 ? a[4].as_int4() : 0;
  if (end_option != 0 && end_option != 1)
    throw_error(sqlstate::invalid_parameter_value, "invalid value for parameter \"endoption\": {}",
                end_option);
  const std::size_t group = group_argument(a, 6);
  const auto match = nth_match(context, a, 5, "regexp_instr()");
  if (!match) return Value::from_int(0);
  const auto range = group_of(*match, group);
  if (!range) return Value::from_int(0);
  const std::size_t byte = end_option == 0 ? range->begin : range->end;
  return Value::from_int(
      static_cast<std::int64_t>(count_characters(a[0].as_text().substr(0, byte))) + 1);
}

Value regexp_split(FunctionContext& context, Arguments a) {
  const std::string_view text = a[0].as_text();
  const RegexFlags flags = flags_of_call(context, flags_of(a, 2));
  if (flags.global) refuse_global("regexp_split_to_array()");
  RegexMatches matches{context, text, a[1].as_text(), flags.pattern};
  CountedValues parts = counted_values(context.arena);
  std::size_t copied = 0;
  while (const auto match = matches.next(context.session)) {
    const auto whole = match->front();
    // Empty matches at either end, and directly after another match, do not split.
    if (whole.begin == whole.end && (whole.begin == copied || whole.end == text.size())) continue;
    parts.push_back(Value::from_text(text.substr(copied, whole.begin - copied)));
    copied = whole.end;
  }
  parts.push_back(Value::from_text(text.substr(copied)));
  return make_array(context.arena, TypeId::text, parts);
}

/// substring(text from pattern): returns the first group, or the whole match.
Value substring_match(FunctionContext& context, Arguments a) {
  const auto match =
      context.session.regex(a[1].as_text(), letters_flag(context)).find(a[0].as_text());
  if (!match) return Value::null();
  const auto range = match->size() > 1 ? (*match)[1] : (*match)[0];
  if (!range.matched) return Value::null();
  return Value::from_text(a[0].as_text().substr(range.begin, range.end - range.begin));
}

/// Translates a pattern of SIMILAR TO into a regular expression. `escape` is empty for none. For
/// substring(), escaped double quotes enclose the wanted part; the part before it matches as little
/// as possible.
std::string similar_pattern(std::string_view pattern, std::string_view escape) {
  if (count_characters(escape) > 1)
    throw SqlError{sqlstate::invalid_escape_sequence, "invalid escape string"}.with_hint(
        "Escape string must be empty or one character.");
  std::string out = "^(?:";
  bool in_brackets = false;
  int separators = 0;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::string_view c = pattern.substr(at, utf8_length(pattern[at]));
    at += c.size();
    if (!escape.empty() && c == escape) {
      if (at == pattern.size()) break;
      const std::string_view next = pattern.substr(at, utf8_length(pattern[at]));
      at += next.size();
      if (next == "\"" && !in_brackets) {
        if (++separators > 2) {
          throw SqlError{SqlState{"2200C"},
                         "SQL regular expression may not contain more than two "
                         "escape-double-quote separators"};
        }
        out += separators == 1 ? "){1,1}?(" : "){1,1}(?:";
        continue;
      }
      out += "\\";
      out += next;
    } else if (in_brackets) {
      if (c == "\\") out += "\\";
      out += c;
      if (c == "]") in_brackets = false;
    } else if (c == "[") {
      out += c;
      in_brackets = true;
    } else if (c == "%") {
      out += ".*";
    } else if (c == "_") {
      out += ".";
    } else if (c == "(") {
      out += "(?:";
    } else if (c == "\\" || c == "." || c == "^" || c == "$") {
      out += "\\";
      out += c;
    } else {
      out += c;
    }
  }
  return out + ")$";
}
/// substring(… SIMILAR … ESCAPE …)
Value substring_similar(FunctionContext& context, Arguments a) {
  const std::string pattern = similar_pattern(a[1].as_text(), a[2].as_text());
  const std::array<Value, 2> arguments{a[0], Value::from_text(pattern)};
  return substring_match(context, arguments);
}

Value similar_to_escape(FunctionContext& context, Arguments a) {
  const std::string_view escape = a.size() > 1 ? a[1].as_text() : std::string_view{"\\"};
  return make_text(context.arena, similar_pattern(a[0].as_text(), escape));
}

/// Older form, in which a NULL escape means backslash.
Value similar_escape(FunctionContext& context, Arguments a) {
  if (a[0].is_null()) return Value::null();
  const std::string_view escape = a[1].is_null() ? std::string_view{"\\"} : a[1].as_text();
  return make_text(context.arena, similar_pattern(a[0].as_text(), escape));
}

#define SWIZZLE_REGEX(types)                                                          \
  {"~(" types ")", &test<Wanted::match>}, {"!~(" types ")", &test<Wanted::no_match>}, \
      {"~*(" types ")", &test_ignoring_case<Wanted::match>}, {                        \
    "!~*(" types ")", &test_ignoring_case<Wanted::no_match>                           \
  }

constexpr ScalarEntry kRegexesEntries[] = {
    SWIZZLE_REGEX("text,text"),
    SWIZZLE_REGEX("name,text"),
    SWIZZLE_REGEX("bpchar,text"),
    {"regexp_match(text,text)", &regexp_match},
    {"regexp_match(text,text,text)", &regexp_match},
    {"regexp_like(text,text)", &regexp_like},
    {"regexp_like(text,text,text)", &regexp_like},
    {"regexp_replace(text,text,text)", &regexp_replace},
    {"regexp_replace(text,text,text,text)", &regexp_replace},
    {"regexp_replace(text,text,text,int4)", &regexp_replace_from},
    {"regexp_replace(text,text,text,int4,int4)", &regexp_replace_from},
    {"regexp_replace(text,text,text,int4,int4,text)", &regexp_replace_from},
    {"regexp_count(text,text)", &regexp_count},
    {"regexp_count(text,text,int4)", &regexp_count},
    {"regexp_count(text,text,int4,text)", &regexp_count},
    {"regexp_substr(text,text)", &regexp_substr},
    {"regexp_substr(text,text,int4)", &regexp_substr},
    {"regexp_substr(text,text,int4,int4)", &regexp_substr},
    {"regexp_substr(text,text,int4,int4,text)", &regexp_substr},
    {"regexp_substr(text,text,int4,int4,text,int4)", &regexp_substr},
    {"regexp_instr(text,text)", &regexp_instr},
    {"regexp_instr(text,text,int4)", &regexp_instr},
    {"regexp_instr(text,text,int4,int4)", &regexp_instr},
    {"regexp_instr(text,text,int4,int4,int4)", &regexp_instr},
    {"regexp_instr(text,text,int4,int4,int4,text)", &regexp_instr},
    {"regexp_instr(text,text,int4,int4,int4,text,int4)", &regexp_instr},
    {"regexp_split_to_array(text,text)", &regexp_split},
    {"regexp_split_to_array(text,text,text)", &regexp_split},
    {"substring(text,text)", &substring_match},
    {"substring(text,text,text)", &substring_similar},
    {"similar_escape(text,text)", &similar_escape},
    {"similar_to_escape(text)", &similar_to_escape},
    {"similar_to_escape(text,text)", &similar_to_escape},
};

}  // namespace

std::span<const ScalarEntry> regex_functions() {
  return kRegexesEntries;
}

}  // namespace swizzle::sql
