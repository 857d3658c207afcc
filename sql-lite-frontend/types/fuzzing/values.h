#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fuzzing/input.h"
#include "base/invariant.h"
#include "sql-lite-frontend/types/sql_error.h"
#include "sql-lite-frontend/types/test_expression.h"
#include "sql-lite-frontend/types/text/utf8.h"
#include "sql-lite-frontend/types/type_io.h"

namespace swizzle::sql::fuzzing {

/// Context for function calls, created for each input.
class Values {
 public:
  FunctionContext& context() noexcept { return context_; }

  /// Checks that parsing the type's output gives the same value.
  void read_and_write(TypeId type, std::string_view text) {
    attempt([&] {
      const Value value = input_text(context_, type, kNoTypmod, text);
      const std::string written = to_text(context_, type, value);
      const Value again = input_text(context_, type, kNoTypmod, written);
      INVARIANT(to_text(context_, type, again) == written);
      std::string binary;
      send_binary(context_, type, value, binary);
      const Value received = receive_binary(context_, type, kNoTypmod, as_bytes(binary));
      INVARIANT(to_text(context_, type, received) == written);
    });
  }
  /// Returns the output for a text; empty if the input is invalid.
  std::string text_of(TypeId type, std::string_view text) {
    std::string written;
    attempt(
        [&] { written = to_text(context_, type, input_text(context_, type, kNoTypmod, text)); });
    return written;
  }
  /// Evaluates an expression in the language of the types' tests; errors are expected results.
  void evaluate(std::string_view expression) {
    static_cast<void>(answer_expression(context_, expression));
  }
  /// Runs an action that may throw SqlError.
  template <class Action>
  static void attempt(const Action& action) {
    try {
      action();
    } catch (const SqlError& error) {
      INVARIANT(error.state() != sqlstate::internal_error);
    }
  }

 private:
  Arena arena_;
  SessionContext session_;
  FunctionContext context_{arena_, session_, {}};
};

/// Functions get only valid text, so other inputs are skipped.
inline bool is_text(std::string_view text) {
  try {
    verify_utf8(text);
    return true;
  } catch (const SqlError&) {
    return false;
  }
}

inline std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += c;
    out += c;
  }
  return out + "'";
}

/// An input's first line and the rest.
struct TwoTexts {
  std::string one;
  std::string two;
};
inline TwoTexts split_lines(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {std::string{text}, {}};
  return {std::string{text.substr(0, end)}, std::string{text.substr(end + 1)}};
}

}  // namespace swizzle::sql::fuzzing
