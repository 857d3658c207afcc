#include "sql-lite-frontend/types/collation/icu.h"
#include "sql-lite-frontend/types/functions/entries.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/text/text_builder.h"
#include "sql-lite-frontend/types/text/text_scan.h"
#include "sql-lite-frontend/types/text/utf8.h"

/// Unicode's normal forms of texts, and its versions.
namespace swizzle::sql {
namespace {

using Arguments = std::span<const Value>;

NormalForm form_of(std::string_view name) {
  constexpr std::string_view kNames[] = {"NFC", "NFD", "NFKC", "NFKD"};
  for (std::size_t form = 0; form < std::size(kNames); ++form)
    if (equals_ignoring_case(name, kNames[form])) return static_cast<NormalForm>(form);
  throw_error(sqlstate::invalid_parameter_value, "invalid normalization form: {}", name);
}

Value normalize(FunctionContext& context, Arguments a) {
  const NormalForm form = form_of(a[1].as_text());
  return make_text(context.arena, in_normal_form(form, a[0].as_text()));
}

Value is_normalized(FunctionContext& /*context*/, Arguments a) {
  const NormalForm form = form_of(a[1].as_text());
  return Value::from_bool(is_in_normal_form(form, a[0].as_text()));
}

Value unicode_assigned(FunctionContext& /*context*/, Arguments a) {
  std::string_view text = a[0].as_text();
  while (!text.empty()) {
    if (unicode_category(decode_character(text)) == "Cn") return Value::from_bool(false);
    text.remove_prefix(utf8_length(text.front()));
  }
  return Value::from_bool(true);
}

/// PostgreSQL has tables of its own beside ICU's. Here ICU's are all.
Value unicode_version(FunctionContext& context, Arguments /*a*/) {
  return make_text(context.arena, icu_unicode_version());
}

constexpr ScalarEntry kNormalFormsEntries[] = {
    {"normalize(text,text)", &normalize},          {"is_normalized(text,text)", &is_normalized},
    {"unicode_assigned(text)", &unicode_assigned}, {"unicode_version()", &unicode_version},
    {"icu_unicode_version()", &unicode_version},
};

}  // namespace

std::span<const ScalarEntry> normal_form_functions() {
  return kNormalFormsEntries;
}

}  // namespace swizzle::sql
