// The options of COPY, and their contradictions.
#include <algorithm>
#include <charconv>

#include "sql-lite-frontend/session/commands/copy_format.h"
#include "sql-lite-frontend/statement/statement_options.h"
#include "sql-lite-frontend/types/sql_error.h"

namespace swizzle::sql {
namespace {

std::string text_of(const ast::DefElem& option) {
  if (const auto* string = ast::try_as<ast::String>(option.arg)) return std::string{string->sval};
  if (const auto* integer = ast::try_as<ast::Integer>(option.arg)) {
    return std::to_string(integer->ival);
  }
  throw_error(sqlstate::syntax_error, "{} requires a parameter", option.defname);
}

std::vector<std::string> names_of(const ast::DefElem& option) {
  const auto* list = ast::try_as<ast::List>(option.arg);
  if (list == nullptr) {
    throw sql_error(sqlstate::invalid_parameter_value,
                    "argument to option \"{}\" must be a list of column names", option.defname)
        .at_position(option.location + 1);
  }
  std::vector<std::string> names;
  for (const ast::Node* name : list->items) names.emplace_back(ast::string_of(name));
  return names;
}

[[noreturn]] void unsupported(std::string_view what) {
  throw SqlError{sqlstate::feature_not_supported, std::string{what}};
}
[[noreturn]] void invalid(std::string_view what) {
  throw SqlError{sqlstate::invalid_parameter_value, std::string{what}};
}

bool has_line_end(std::string_view text) noexcept {
  return text.find_first_of("\r\n") != std::string_view::npos;
}

/// Collects the options as they are written; contradictions are checked when all are known.
class OptionReader {
 public:
  explicit OptionReader(CopyDirection direction) : direction_(direction) {}

  void read(const ast::DefElem& option) {
    const std::string_view name = option.defname;
    // The parser has two names for the forms of FORCE QUOTE; every other option may come once.
    if (std::ranges::find(seen_, name) != seen_.end()) {
      throw SqlError{sqlstate::syntax_error, "conflicting or redundant options"}.at_position(
          option.location + 1);
    }
    seen_.emplace_back(name);
    if (name == "format") {
      read_format(option);
    } else if (name == "freeze") {
      options_.freeze = option_flag(option);
    } else if (name == "delimiter") {
      delimiter_ = text_of(option);
    } else if (name == "null") {
      null_ = text_of(option);
    } else if (name == "default") {
      options_.default_marker = text_of(option);
    } else if (name == "header") {
      read_header(option);
    } else if (name == "quote") {
      quote_ = text_of(option);
    } else if (name == "escape") {
      escape_ = text_of(option);
    } else if (name == "force_quote") {
      options_.force_quote_all = ast::is<ast::A_Star>(option.arg);
      if (!options_.force_quote_all) options_.force_quote = names_of(option);
    } else if (name == "force_not_null") {
      options_.force_not_null = names_of(option);
    } else if (name == "force_null") {
      options_.force_null = names_of(option);
    } else if (name == "encoding") {
      read_encoding(option);
    } else if (name == "on_error") {
      read_on_error(option);
    } else if (name == "reject_limit") {
      read_reject_limit(option);
    } else if (name == "log_verbosity") {
      read_verbosity(option);
    } else {
      throw sql_error(sqlstate::syntax_error, "option \"{}\" not recognized", name)
          .at_position(option.location + 1);
    }
  }

  CopyOptions finish() {
    check_binary();
    const bool csv = is_csv();
    if (!delimiter_) delimiter_ = csv ? "," : "\t";
    options_.null = null_.value_or(csv ? "" : "\\N");
    check_delimiter();
    if (options_.kind == CopyOptions::Kind::binary && options_.header) {
      unsupported("cannot specify HEADER in BINARY mode");
    }
    check_quotes();
    check_forced();
    if (options_.freeze && direction_ != CopyDirection::from)
      invalid("COPY FREEZE cannot be used with COPY TO");
    check_errors();
    if (options_.null.find(options_.delimiter) != std::string::npos) {
      invalid("COPY delimiter character must not appear in the NULL specification");
    }
    if (csv && options_.null.find(options_.quote) != std::string::npos) {
      invalid("CSV quote character must not appear in the NULL specification");
    }
    check_default();
    return std::move(options_);
  }

 private:
  [[nodiscard]] bool is_csv() const noexcept { return options_.kind == CopyOptions::Kind::csv; }

  void read_format(const ast::DefElem& option) {
    const std::string format = text_of(option);
    if (format == "csv") {
      options_.kind = CopyOptions::Kind::csv;
    } else if (format == "binary") {
      options_.kind = CopyOptions::Kind::binary;
    } else if (format != "text") {
      throw sql_error(sqlstate::invalid_parameter_value, "COPY format \"{}\" not recognized",
                      format)
          .at_position(option.location + 1);
    }
  }

  void read_header(const ast::DefElem& option) {
    if (const auto flag = option_as_flag(option)) {
      options_.header = *flag;
      return;
    }
    const auto* word = ast::try_as<ast::String>(option.arg);
    if (word == nullptr || word->sval != "match") {
      throw_error(sqlstate::syntax_error, "header requires a Boolean value or \"match\"");
    }
    if (direction_ == CopyDirection::to) {
      unsupported("cannot use \"match\" with HEADER in COPY TO");
    }
    options_.header = options_.header_must_match = true;
  }

  void read_encoding(const ast::DefElem& option) {
    const std::string encoding = text_of(option);
    options_.encoding = find_encoding(encoding);
    if (options_.encoding) return;
    throw sql_error(sqlstate::invalid_parameter_value,
                    "argument to option \"{}\" must be a valid encoding name", option.defname)
        .at_position(option.location + 1);
  }

  [[noreturn]] static void not_recognized(std::string_view word, const std::string& text,
                                          const ast::DefElem& option) {
    throw sql_error(sqlstate::invalid_parameter_value, "COPY {} \"{}\" not recognized", word, text)
        .at_position(option.location + 1);
  }

  void read_on_error(const ast::DefElem& option) {
    if (direction_ == CopyDirection::to) {
      throw SqlError{sqlstate::invalid_parameter_value, "COPY ON_ERROR cannot be used with COPY TO"}
          .at_position(option.location + 1);
    }
    const std::string action = text_of(option);
    options_.skips_errors = action == "ignore";
    if (action != "ignore" && action != "stop") not_recognized("ON_ERROR", action, option);
  }

  void read_reject_limit(const ast::DefElem& option) {
    if (option.arg == nullptr) {
      throw SqlError{sqlstate::syntax_error, "reject_limit requires a numeric value"};
    }
    const std::string text = text_of(option);
    std::int64_t limit = 0;
    const char* const end = text.data() + text.size();
    const auto [at, failure] = std::from_chars(text.data(), end, limit);
    if (failure != std::errc{} || at != end) {
      throw sql_error(sqlstate::invalid_text_representation,
                      "invalid input syntax for type bigint: \"{}\"", text);
    }
    if (limit <= 0) {
      throw sql_error(sqlstate::invalid_parameter_value,
                      "REJECT_LIMIT ({}) must be greater than zero", limit);
    }
    options_.reject_limit = limit;
  }

  void read_verbosity(const ast::DefElem& option) {
    const std::string word = text_of(option);
    using enum CopyOptions::Verbosity;
    if (word == "silent") {
      options_.verbosity = silent;
    } else if (word == "verbose") {
      options_.verbosity = verbose;
    } else if (word != "default") {
      not_recognized("LOG_VERBOSITY", word, option);
    }
  }

  void check_errors() const {
    if (options_.kind == CopyOptions::Kind::binary && options_.skips_errors) {
      throw SqlError{sqlstate::syntax_error, "only ON_ERROR STOP is allowed in BINARY mode"};
    }
    if (options_.reject_limit > 0 && !options_.skips_errors) {
      throw SqlError{sqlstate::invalid_parameter_value,
                     "COPY REJECT_LIMIT requires ON_ERROR to be set to IGNORE"};
    }
  }

  void check_binary() const {
    if (options_.kind != CopyOptions::Kind::binary) return;
    if (delimiter_) {
      throw SqlError{sqlstate::syntax_error, "cannot specify DELIMITER in BINARY mode"};
    }
    if (null_) throw SqlError{sqlstate::syntax_error, "cannot specify NULL in BINARY mode"};
    if (options_.default_marker) {
      throw SqlError{sqlstate::syntax_error, "cannot specify DEFAULT in BINARY mode"};
    }
  }

  void check_default() const {
    if (!options_.default_marker) return;
    const std::string& marker = *options_.default_marker;
    if (direction_ == CopyDirection::to) unsupported("COPY DEFAULT cannot be used with COPY TO");
    if (has_line_end(marker)) {
      invalid("COPY default representation cannot use newline or carriage return");
    }
    if (marker.find(options_.delimiter) != std::string::npos) {
      unsupported("COPY delimiter character must not appear in the DEFAULT specification");
    }
    if (is_csv() && marker.find(options_.quote) != std::string::npos) {
      unsupported("CSV quote character must not appear in the DEFAULT specification");
    }
    if (marker == options_.null) {
      unsupported("NULL specification and DEFAULT specification cannot be the same");
    }
  }

  void check_delimiter() {
    if (delimiter_->size() != 1) unsupported("COPY delimiter must be a single one-byte character");
    options_.delimiter = (*delimiter_)[0];
    if (has_line_end(*delimiter_)) invalid("COPY delimiter cannot be newline or carriage return");
    if (has_line_end(options_.null)) {
      invalid("COPY null representation cannot use newline or carriage return");
    }
    // Letters that may follow a backslash, or be part of numbers.
    constexpr std::string_view kTaken = "\\.abcdefghijklmnopqrstuvwxyz0123456789";
    if (!is_csv() && kTaken.find(options_.delimiter) != std::string_view::npos) {
      throw_error(sqlstate::invalid_parameter_value, "COPY delimiter cannot be \"{}\"",
                  *delimiter_);
    }
  }

  void check_quotes() {
    if (!is_csv()) {
      if (quote_) unsupported("COPY QUOTE requires CSV mode");
      if (escape_) unsupported("COPY ESCAPE requires CSV mode");
      return;
    }
    if (quote_ && quote_->size() != 1) {
      unsupported("COPY quote must be a single one-byte character");
    }
    if (quote_) options_.quote = (*quote_)[0];
    if (options_.delimiter == options_.quote) {
      invalid("COPY delimiter and quote must be different");
    }
    if (escape_ && escape_->size() != 1) {
      unsupported("COPY escape must be a single one-byte character");
    }
    options_.escape = escape_ ? (*escape_)[0] : options_.quote;
  }

  void check_forced() const {
    const bool from = direction_ == CopyDirection::from;
    if (options_.force_quote_all || !options_.force_quote.empty()) {
      if (!is_csv()) unsupported("COPY FORCE_QUOTE requires CSV mode");
      if (from) invalid("COPY FORCE_QUOTE cannot be used with COPY FROM");
    }
    if (!options_.force_not_null.empty()) {
      if (!is_csv()) unsupported("COPY FORCE_NOT_NULL requires CSV mode");
      if (!from) invalid("COPY FORCE_NOT_NULL cannot be used with COPY TO");
    }
    if (!options_.force_null.empty()) {
      if (!is_csv()) unsupported("COPY FORCE_NULL requires CSV mode");
      if (!from) invalid("COPY FORCE_NULL cannot be used with COPY TO");
    }
  }

  CopyDirection direction_;
  CopyOptions options_;
  std::vector<std::string> seen_;
  std::optional<std::string> delimiter_;
  std::optional<std::string> null_;
  std::optional<std::string> quote_;
  std::optional<std::string> escape_;
};

}  // namespace

CopyOptions read_copy_options(ast::NodeList list, CopyDirection direction) {
  OptionReader reader{direction};
  for (const ast::Node* node : list) reader.read(ast::as<ast::DefElem>(node));
  return reader.finish();
}

}  // namespace swizzle::sql
