#include "sql-lite-frontend/catalog/text_dictionary.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "sql-lite-frontend/types/functions/text/quoting.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

using Option = UserTextDictionary::Option;

bool boolean_of(const Option& option) {
  const std::string value = lower_case(option.value);
  const bool is_true = option.is_number ? value == "1" : value == "true" || value == "on";
  const bool is_false = option.is_number ? value == "0" : value == "false" || value == "off";
  if (!is_true && !is_false)
    throw_error(sqlstate::syntax_error, "{} requires a Boolean value", option.name);
  return is_true;
}

/// Its options, each at most once.
class Reading {
 public:
  explicit Reading(const UserTextDictionary& made) : made_(made) { dictionary_.oid = made.oid; }

  TextDictionary run() {
    if (made_.from_template == kUnaccentTextTemplate) return run_filter();
    const bool has_language = made_.from_template == kSnowballTextTemplate;
    for (const Option& option : made_.options) {
      if (option.name == "stopwords") {
        first("StopWords", stop_words_);
        read_stop_words(option);
      } else if (has_language && option.name == "language") {
        first("Language", language_);
        read_language(option);
      } else if (!has_language && option.name == "accept") {
        first("Accept", accept_);
        dictionary_.accepts_unlisted = boolean_of(option);
      } else {
        throw_error(sqlstate::invalid_parameter_value, "unrecognized {} parameter: \"{}\"",
                    has_language ? "Snowball" : "simple dictionary", option.name);
      }
    }
    if (has_language && !language_)
      throw SqlError{sqlstate::invalid_parameter_value, "missing Language parameter"};
    return std::move(dictionary_);
  }

 private:
  TextDictionary run_filter() {
    bool has_rules = false;
    for (const Option& option : made_.options) {
      if (option.name != "rules") {
        throw_error(sqlstate::invalid_parameter_value, "unrecognized Unaccent parameter: \"{}\"",
                    option.name);
      }
      first("Rules", has_rules);
      if (option.value != "unaccent") {
        throw sql_error(sqlstate::feature_not_supported, "the rules \"{}\" are not supported",
                        option.value)
            .with_detail("There are those named \"unaccent\".");
      }
    }
    if (!has_rules) throw SqlError{sqlstate::invalid_parameter_value, "missing Rules parameter"};
    dictionary_.removes_marks = true;
    return std::move(dictionary_);
  }

  static void first(std::string_view name, bool& seen) {
    if (std::exchange(seen, true))
      throw_error(sqlstate::invalid_parameter_value, "multiple {} parameters", name);
  }

  void read_stop_words(const Option& option) {
    dictionary_.stop_words = stop_words(option.value);
    if (dictionary_.stop_words) return;
    throw sql_error(sqlstate::feature_not_supported, "the stop words \"{}\" are not supported",
                    option.value)
        .with_detail("There is no such list.")
        .with_hint("A server reads lists of stop words from stop_words_directory.");
  }

  void read_language(const Option& option) {
    const auto languages = snowball_languages();
    const auto found = std::ranges::find(languages, lower_case(option.value));
    if (found == languages.end()) {
      throw_error(sqlstate::undefined_object,
                  "no Snowball stemmer available for language \"{}\" and encoding \"UTF8\"",
                  option.value);
    }
    dictionary_.language = static_cast<std::uint8_t>(found - languages.begin());
  }

  const UserTextDictionary& made_;
  TextDictionary dictionary_;
  bool stop_words_ = false;
  bool language_ = false;
  bool accept_ = false;
};

}  // namespace

TextDictionary text_dictionary_of(const UserTextDictionary& made) {
  return Reading{made}.run();
}

std::string shown_options(const UserTextDictionary& made) {
  std::string out;
  for (const Option& option : made.options) {
    if (!out.empty()) out += ", ";
    out += quote_identifier(option.name) + " = ";
    out += option.is_number ? option.value : quote_literal(option.value);
  }
  return out;
}

}  // namespace swizzle::sql
