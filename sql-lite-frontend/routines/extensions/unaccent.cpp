// unaccent: letters without their marks, as functions and as a dictionary of text search, which
// hands its result for a token on to the next dictionary.
#include "sql-lite-frontend/types/text/unaccent.h"

#include <string>

#include "sql-lite-frontend/routines/extensions/extension.h"
#include "sql-lite-frontend/types/fulltext/text_config.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

Value unaccent(FunctionContext& context, std::span<const Value> a) {
  return Value::from_text(context.arena.copy(std::string_view{without_marks(a[0].as_text())}));
}

/// Removes accents by a dictionary; words not in it are left unchanged.
Value unaccent_by(FunctionContext& context, std::span<const Value> a) {
  TextDictionaryPtr dictionary = builtin_text_dictionary(a[0].as_oid());
  auto* const objects = dynamic_cast<TextSearchObjects*>(context.session.names.raw());
  if (dictionary == nullptr && objects != nullptr)
    dictionary = objects->text_dictionary(a[0].as_oid());
  if (dictionary == nullptr) {
    throw_error(SqlState{"XX000"}, "cache lookup failed for text search dictionary {}",
                a[0].as_oid());
  }
  const TokenMeaning meaning = dictionary->look_up(a[1].as_text());
  if (!meaning.word) return a[1];
  return Value::from_text(context.arena.copy(std::string_view{*meaning.word}));
}

constexpr ScalarEntry kUnaccentFunctions[] = {{"unaccent", &unaccent},
                                              {"unaccent_dict", &unaccent_by}};

constexpr std::string_view kUnaccentScript = R"SQL(
CREATE FUNCTION unaccent(regdictionary, text) RETURNS text
  AS '$libdir/unaccent', 'unaccent_dict' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE FUNCTION unaccent(text) RETURNS text
  AS '$libdir/unaccent', 'unaccent' LANGUAGE c STABLE STRICT PARALLEL SAFE;
CREATE TEXT SEARCH DICTIONARY unaccent (TEMPLATE = unaccent, RULES = 'unaccent');
)SQL";

}  // namespace

const BundledExtension& unaccent_extension() {
  static constexpr BundledExtension kExtension{
      .name = "unaccent",
      .version = "1.1",
      .comment = "text search dictionary that removes accents",
      .script = kUnaccentScript,
      .scalars = kUnaccentFunctions};
  return kExtension;
}

}  // namespace swizzle::sql
