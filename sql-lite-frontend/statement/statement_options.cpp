#include "sql-lite-frontend/statement/statement_options.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {

std::optional<bool> option_as_flag(const ast::DefElem& option) {
  if (option.arg == nullptr) return true;
  if (const auto* boolean = ast::try_as<ast::Boolean>(option.arg)) return boolean->boolval;
  if (const auto* integer = ast::try_as<ast::Integer>(option.arg)) {
    if (integer->ival == 0 || integer->ival == 1) return integer->ival == 1;
  } else if (const auto* string = ast::try_as<ast::String>(option.arg)) {
    std::string word{string->sval};
    std::ranges::transform(word, word.begin(), [](unsigned char letter) {
      return static_cast<char>(std::tolower(letter));
    });
    if (word == "true" || word == "on") return true;
    if (word == "false" || word == "off") return false;
  }
  return std::nullopt;
}

bool option_flag(const ast::DefElem& option) {
  if (const auto flag = option_as_flag(option)) return *flag;
  throw_error(sqlstate::syntax_error, "{} requires a Boolean value", option.defname);
}

std::int32_t option_integer(const ast::DefElem& option) {
  const auto* integer = ast::try_as<ast::Integer>(option.arg);
  if (option.arg == nullptr || integer == nullptr) {
    throw_error(sqlstate::syntax_error, "{} requires an integer value", option.defname);
  }
  return integer->ival;
}

void refuse_repeats(ast::NodeList options) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto& option = ast::as<ast::DefElem>(options[i]);
    for (std::size_t j = 0; j < i; ++j) {
      if (ast::as<ast::DefElem>(options[j]).defname != option.defname) continue;
      throw SqlError{sqlstate::syntax_error, "conflicting or redundant options"}.at_position(
          option.location + 1);
    }
  }
}

void note_option(const ast::DefElem& option, std::vector<std::string_view>& seen) {
  if (option.defname != "set" && std::ranges::find(seen, option.defname) != seen.end()) {
    throw SqlError{sqlstate::syntax_error, "conflicting or redundant options"}.at_position(
        option.location + 1);
  }
  seen.push_back(option.defname);
}

void refuse_option(std::string_view command, const ast::DefElem& option) {
  throw sql_error(sqlstate::syntax_error, "unrecognized {} option \"{}\"", command, option.defname)
      .at_position(option.location + 1);
}

}  // namespace swizzle::sql
