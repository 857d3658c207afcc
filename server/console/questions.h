#pragma once

#include <chrono>
#include <span>
#include <string_view>

namespace swizzle::server {

/// One result of an answer, and the statement that makes it.
struct QuestionPart {
  std::string_view name;
  std::string_view statement;
};

/// A request of the page: its statements run with the rights of the logged-in user.
struct Question {
  std::string_view path;
  std::span<const QuestionPart> parts;
  /// How long an answer may be reused for other users.
  std::chrono::milliseconds fresh;
};

/// Returns the question of `path`, or null.
[[nodiscard]] const Question* find_question(std::string_view path) noexcept;

}  // namespace swizzle::server
