// Functions that make vectors, queries and headlines of texts, by a configuration.
#include <algorithm>
#include <array>

#include "sql-lite-frontend/types/array/array.h"
#include "sql-lite-frontend/types/fulltext/headline.h"
#include "sql-lite-frontend/types/fulltext/text_analysis.h"
#include "sql-lite-frontend/types/fulltext/text_functions.h"
#include "sql-lite-frontend/types/fulltext/text_match.h"
#include "sql-lite-frontend/types/inverted/json_events.h"
#include "sql-lite-frontend/types/json/json.h"
#include "sql-lite-frontend/types/record/record.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

TextSearchObjects* objects_of(FunctionContext& context) {
  return dynamic_cast<TextSearchObjects*>(context.session.names.raw());
}

TextConfigPtr config_of(FunctionContext& context, const Value& regconfig) {
  TextConfigPtr found = builtin_text_config(regconfig.as_oid());
  if (found != nullptr) return found;
  if (auto* const objects = objects_of(context)) found = objects->text_config(regconfig.as_oid());
  if (found == nullptr) {
    throw_error(SqlState{"XX000"}, "cache lookup failed for text search configuration {}",
                regconfig.as_oid());
  }
  return found;
}

/// default_text_search_config.
TextConfigPtr session_config(FunctionContext& context) {
  auto* const objects = objects_of(context);
  return objects == nullptr ? builtin_text_config(text_configs()[0].oid)
                            : objects->default_text_config();
}

/// The configuration of a call, and its other arguments: it comes first, or is the session's.
struct Call {
  TextConfigPtr config;
  Arguments rest;
};
template <std::size_t others>
Call call_of(FunctionContext& context, Arguments a) {
  if (a.size() == others) return {session_config(context), a};
  return {config_of(context, a[0]), a.subspan(1)};
}

Value current_config(FunctionContext& context, Arguments) {
  return Value::from_oid(session_config(context)->oid);
}

Value vector_of_text(FunctionContext& context, Arguments a) {
  const Call call = call_of<1>(context, a);
  return text_vector_of(context.arena, *call.config, call.rest[0].as_text());
}

/// Which parts of JSON are read.
struct JsonParts {
  bool strings = false;
  bool numbers = false;
  bool booleans = false;
  bool keys = false;
};

Value vector_of_json(FunctionContext& context, const TextConfig& config, std::string_view json,
                     JsonParts wanted) {
  WordsMet words = words_met(context.arena);
  TextAnalysis analysis{config};
  JsonEvents events{json};
  while (const auto event = events.next()) {
    if (event->kind == JsonEvent::Kind::key) {
      if (wanted.keys) add_words(context.arena, analysis, json_text_of(event->raw), words);
    } else if (event->kind == JsonEvent::Kind::scalar) {
      const JsonKind kind = json_kind(event->raw);
      if (kind == JsonKind::string && wanted.strings) {
        add_words(context.arena, analysis, json_text_of(event->raw), words);
      } else if ((kind == JsonKind::number && wanted.numbers) ||
                 (kind == JsonKind::boolean && wanted.booleans)) {
        add_words(context.arena, analysis, event->raw, words);
      }
    }
  }
  return make_text_vector(context.arena, std::move(words));
}

Value vector_of_strings(FunctionContext& context, Arguments a) {
  const Call call = call_of<1>(context, a);
  return vector_of_json(context, *call.config, json_text(call.rest[0]), {.strings = true});
}

/// '"all"' or '["string", "key"]'.
JsonParts parts_of(std::string_view json) {
  JsonParts parts;
  JsonEvents events{json};
  int depth = 0;
  while (const auto event = events.next()) {
    using Kind = JsonEvent::Kind;
    if (event->kind == Kind::end) continue;
    if (event->kind == Kind::begin && event->raw == "[" && depth++ == 0) continue;
    if (event->kind != Kind::scalar && depth == 0) {
      throw SqlError{sqlstate::invalid_parameter_value,
                     "wrong flag type, only arrays and scalars are allowed"};
    }
    const auto hint =
        "Possible values are: \"string\", \"numeric\", \"boolean\", \"key\", and "
        "\"all\".";
    if (event->kind != Kind::scalar || json_kind(event->raw) != JsonKind::string) {
      throw sql_error(sqlstate::invalid_parameter_value, "flag array element is not a string")
          .with_hint(hint);
    }
    const std::string flag = json_text_of(event->raw);
    if (flag == "all") {
      parts = {true, true, true, true};
    } else if (flag == "string") {
      parts.strings = true;
    } else if (flag == "numeric") {
      parts.numbers = true;
    } else if (flag == "boolean") {
      parts.booleans = true;
    } else if (flag == "key") {
      parts.keys = true;
    } else {
      throw sql_error(sqlstate::invalid_parameter_value, "wrong flag in flag array: \"{}\"", flag)
          .with_hint(hint);
    }
  }
  return parts;
}
Value vector_of_parts(FunctionContext& context, Arguments a) {
  const Call call = call_of<2>(context, a);
  return vector_of_json(context, *call.config, json_text(call.rest[0]),
                        parts_of(json_text(call.rest[1])));
}

template <QueryForm form>
Value query_of_text(FunctionContext& context, Arguments a) {
  const Call call = call_of<1>(context, a);
  return text_query_of(context.arena, *call.config, form, call.rest[0].as_text());
}

Value text_matches_query(FunctionContext& context, Arguments a) {
  const TextConfigPtr config = session_config(context);
  const Value vector = text_vector_of(context.arena, *config, a[0].as_text());
  return Value::from_bool(matches(vector, a[1], context.arena.account()));
}
Value text_matches_text(FunctionContext& context, Arguments a) {
  const TextConfigPtr config = session_config(context);
  const Value vector = text_vector_of(context.arena, *config, a[0].as_text());
  const Value query = text_query_of(context.arena, *config, QueryForm::plain, a[1].as_text());
  return Value::from_bool(matches(vector, query, context.arena.account()));
}

/// A headline's arguments: text, query, perhaps options.
struct HeadlineCall {
  TextConfigPtr config;
  Arguments rest;
  HeadlineOptions options;
};
HeadlineCall headline_call(FunctionContext& context, Arguments a, bool has_config) {
  HeadlineCall call{has_config ? config_of(context, a[0]) : session_config(context),
                    has_config ? a.subspan(1) : a,
                    {}};
  if (call.rest.size() > 2) call.options = read_headline_options(call.rest[2].as_text());
  return call;
}
enum class HasConfig : bool { no, yes };

template <HasConfig has_config>
Value headline_of_text(FunctionContext& context, Arguments a) {
  const HeadlineCall call = headline_call(context, a, has_config == HasConfig::yes);
  MemoryAccount* const account = context.arena.account();
  const QueryTree query = query_tree(call.rest[1], account);
  return make_text(context.arena,
                   headline(*call.config, call.rest[0].as_text(), query, call.options, account));
}

/// Each string, but no key, becomes its headline. json loses its blanks.
template <HasConfig has_config, TypeId type>
Value headline_of_json(FunctionContext& context, Arguments a) {
  const HeadlineCall call = headline_call(context, a, has_config == HasConfig::yes);
  MemoryAccount* const account = context.arena.account();
  const QueryTree query = query_tree(call.rest[1], account);
  const std::string_view json = json_text(call.rest[0]);
  std::string out;
  std::size_t copied = 0;
  const auto copy_to = [&](std::size_t end) {
    for (; copied < end; ++copied) {
      const char c = json[copied];
      const bool is_blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
      if (type == TypeId::jsonb || !is_blank) out += c;
    }
  };
  JsonEvents events{json};
  while (const auto event = events.next()) {
    const bool is_token =
        event->kind == JsonEvent::Kind::key || event->kind == JsonEvent::Kind::scalar;
    if (!is_token) continue;
    copy_to(static_cast<std::size_t>(event->raw.data() - json.data()));
    copied += event->raw.size();
    const bool is_text =
        event->kind == JsonEvent::Kind::scalar && json_kind(event->raw) == JsonKind::string;
    if (is_text) {
      append_json_string(
          headline(*call.config, json_text_of(event->raw), query, call.options, account), out);
    } else {
      out += event->raw;
    }
  }
  copy_to(json.size());
  return type == TypeId::jsonb ? make_jsonb(context.arena, out) : make_text(context.arena, out);
}

/// The only parser, by its name or number.
void require_parser(const Value& parser, TypeId type) {
  if (type == TypeId::oid) {
    if (parser.as_oid() == kDefaultTextParser) return;
    throw_error(SqlState{"XX000"}, "cache lookup failed for text search parser {}",
                parser.as_oid());
  }
  if (parser.as_text() == "default" || parser.as_text() == "pg_catalog.default") return;
  throw_error(sqlstate::undefined_object, "text search parser \"{}\" does not exist",
              parser.as_text());
}

/// (tokid, token)
class TokenCursor final : public SetCursor {
 public:
  explicit TokenCursor(std::string_view text) : parser_(text) {}
  std::optional<Value> next(FunctionContext& context) override {
    const auto token = parser_.next();
    if (!token) return std::nullopt;
    constexpr TypeId kTypes[] = {TypeId::int4, TypeId::text};
    const Value fields[] = {Value::from_int(static_cast<int>(token->kind)),
                            Value::from_text(token->text)};
    return make_record(context.arena, kTypes, fields);
  }

 private:
  TextParser parser_;
};
template <TypeId type>
std::unique_ptr<SetCursor> parse(FunctionContext&, Arguments a) {
  require_parser(a[0], type);
  return std::make_unique<TokenCursor>(a[1].as_text());
}

/// (tokid, alias, description)
class KindCursor final : public SetCursor {
 public:
  std::optional<Value> next(FunctionContext& context) override {
    if (next_ == token_kinds().size()) return std::nullopt;
    const TokenKindInfo& kind = token_kinds()[next_++];
    constexpr TypeId kTypes[] = {TypeId::int4, TypeId::text, TypeId::text};
    const Value fields[] = {Value::from_int(static_cast<int>(kind.kind)),
                            Value::from_text(kind.alias), Value::from_text(kind.description)};
    return make_record(context.arena, kTypes, fields);
  }

 private:
  std::size_t next_ = 0;
};
template <TypeId type>
std::unique_ptr<SetCursor> kinds(FunctionContext&, Arguments a) {
  require_parser(a[0], type);
  return std::make_unique<KindCursor>();
}

/// Returns NULL if the dictionary does not know the token.
Value words_array(FunctionContext& context, const TokenMeaning& meaning) {
  if (!meaning.is_known) return Value::null();
  if (!meaning.word) return make_array(context.arena, TypeId::text, {});
  const Value only[] = {make_text(context.arena, *meaning.word)};
  return make_array(context.arena, TypeId::text, only);
}

/// (alias, description, token, dictionaries, dictionary, lexemes)
class DebugCursor final : public SetCursor {
 public:
  DebugCursor(TextConfigPtr config, std::string_view text)
      : config_(std::move(config)), parser_(text) {}
  std::optional<Value> next(FunctionContext& context) override {
    const auto token = parser_.next();
    if (!token) return std::nullopt;
    const auto kind = std::ranges::find(token_kinds(), token->kind, &TokenKindInfo::kind);
    constexpr TypeId kRegdictionary{3769};
    constexpr TypeId kRegdictionaryArray{3770};
    constexpr TypeId kTypes[] = {TypeId::text,        TypeId::text,   TypeId::text,
                                 kRegdictionaryArray, kRegdictionary, TypeId::text_array};
    Value fields[] = {Value::from_text(kind->alias),
                      Value::from_text(kind->description),
                      Value::from_text(token->text),
                      Value::null(),
                      Value::null(),
                      Value::null()};
    const auto dictionaries = config_->of(token->kind);
    std::vector<Value> numbers;
    for (const TextDictionaryPtr& dictionary : dictionaries) {
      numbers.push_back(Value::from_oid(dictionary->oid));
      if (!fields[5].is_null()) continue;
      const TokenMeaning meaning = dictionary->look_up(token->text);
      // If no dictionary knows the token, the first one is shown.
      if (meaning.is_known || fields[4].is_null()) fields[4] = numbers.back();
      fields[5] = words_array(context, meaning);
    }
    fields[3] = make_array(context.arena, kRegdictionary, numbers);
    return make_record(context.arena, kTypes, fields);
  }

 private:
  TextConfigPtr config_;
  TextParser parser_;
};
std::unique_ptr<SetCursor> debug(FunctionContext& context, Arguments a) {
  const Call call = call_of<1>(context, a);
  return std::make_unique<DebugCursor>(call.config, call.rest[0].as_text());
}

Value lexize(FunctionContext& context, Arguments a) {
  TextDictionaryPtr found = builtin_text_dictionary(a[0].as_oid());
  auto* const objects = objects_of(context);
  if (found == nullptr && objects != nullptr) found = objects->text_dictionary(a[0].as_oid());
  if (found == nullptr) {
    throw_error(SqlState{"XX000"}, "cache lookup failed for text search dictionary {}",
                a[0].as_oid());
  }
  return words_array(context, found->look_up(a[1].as_text()));
}

constexpr ScalarEntry kConfigScalars[] = {
    {"get_current_ts_config()", &current_config},
    {"ts_lexize(regdictionary,text)", &lexize},
    {"to_tsvector(regconfig,text)", &vector_of_text},
    {"to_tsvector(text)", &vector_of_text},
    {"to_tsvector(regconfig,jsonb)", &vector_of_strings},
    {"to_tsvector(jsonb)", &vector_of_strings},
    {"to_tsvector(regconfig,json)", &vector_of_strings},
    {"to_tsvector(json)", &vector_of_strings},
    {"jsonb_to_tsvector(regconfig,jsonb,jsonb)", &vector_of_parts},
    {"jsonb_to_tsvector(jsonb,jsonb)", &vector_of_parts},
    {"json_to_tsvector(regconfig,json,jsonb)", &vector_of_parts},
    {"json_to_tsvector(json,jsonb)", &vector_of_parts},
    {"to_tsquery(regconfig,text)", &query_of_text<QueryForm::operators>},
    {"to_tsquery(text)", &query_of_text<QueryForm::operators>},
    {"plainto_tsquery(regconfig,text)", &query_of_text<QueryForm::plain>},
    {"plainto_tsquery(text)", &query_of_text<QueryForm::plain>},
    {"phraseto_tsquery(regconfig,text)", &query_of_text<QueryForm::phrase>},
    {"phraseto_tsquery(text)", &query_of_text<QueryForm::phrase>},
    {"websearch_to_tsquery(regconfig,text)", &query_of_text<QueryForm::web>},
    {"websearch_to_tsquery(text)", &query_of_text<QueryForm::web>},
    {"@@(text,tsquery)", &text_matches_query},
    {"@@(text,text)", &text_matches_text},
    {"ts_headline(regconfig,text,tsquery,text)", &headline_of_text<HasConfig::yes>},
    {"ts_headline(regconfig,text,tsquery)", &headline_of_text<HasConfig::yes>},
    {"ts_headline(text,tsquery,text)", &headline_of_text<HasConfig::no>},
    {"ts_headline(text,tsquery)", &headline_of_text<HasConfig::no>},
    {"ts_headline(regconfig,jsonb,tsquery,text)", &headline_of_json<HasConfig::yes, TypeId::jsonb>},
    {"ts_headline(regconfig,jsonb,tsquery)", &headline_of_json<HasConfig::yes, TypeId::jsonb>},
    {"ts_headline(jsonb,tsquery,text)", &headline_of_json<HasConfig::no, TypeId::jsonb>},
    {"ts_headline(jsonb,tsquery)", &headline_of_json<HasConfig::no, TypeId::jsonb>},
    {"ts_headline(regconfig,json,tsquery,text)", &headline_of_json<HasConfig::yes, TypeId::json>},
    {"ts_headline(regconfig,json,tsquery)", &headline_of_json<HasConfig::yes, TypeId::json>},
    {"ts_headline(json,tsquery,text)", &headline_of_json<HasConfig::no, TypeId::json>},
    {"ts_headline(json,tsquery)", &headline_of_json<HasConfig::no, TypeId::json>},
};
constexpr SetEntry kConfigSets[] = {
    {"ts_parse(oid,text)", &parse<TypeId::oid>}, {"ts_parse(text,text)", &parse<TypeId::text>},
    {"ts_token_type(oid)", &kinds<TypeId::oid>}, {"ts_token_type(text)", &kinds<TypeId::text>},
    {"ts_debug(regconfig,text)", &debug},        {"ts_debug(text)", &debug},
};

}  // namespace

constinit const FunctionsOfType kTextConfigFunctions{.scalars = kConfigScalars,
                                                     .sets = kConfigSets};

}  // namespace swizzle::sql
