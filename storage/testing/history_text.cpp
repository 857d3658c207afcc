// Text form of histories, so that they can be stored, reduced by hand and produced by other
// programs.
#include <fmt/format.h>

#include <charconv>
#include <stdexcept>

#include "storage/testing/history_checker.h"

namespace swizzle::testing {
namespace {

using Step = History::Step;
using Outcome = History::Transaction::Outcome;

std::string list_text(const History::List& list) {
  return fmt::format("{}={}", list.key, fmt::join(list.numbers, ","));
}

std::string step_text(const Step& step) {
  switch (step.kind) {
    case Step::Kind::append:
      return fmt::format("+{}:{}", step.key, step.number);
    case Step::Kind::read:
      return step.lists.empty() ? fmt::format("{}!", step.key) : list_text(step.lists.front());
    case Step::Kind::range:
      break;
  }
  std::string text = fmt::format("{}..{}{{", step.key, step.end);
  for (const History::List& list : step.lists) text += list_text(list) + ";";
  return text + "}";
}

/// Parses one line from its beginning.
class Line {
 public:
  explicit Line(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
    return text_.empty();
  }
  bool take(std::string_view what) {
    if (!text_.starts_with(what)) return false;
    text_.remove_prefix(what.size());
    return true;
  }
  void need(std::string_view what) {
    if (!take(what)) throw std::runtime_error{fmt::format("expected \"{}\"", what)};
  }
  std::int64_t number() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc{}) throw std::runtime_error{"expected a number"};
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }
  [[nodiscard]] bool is_number() const {
    return !text_.empty() && (text_[0] == '-' || (text_[0] >= '0' && text_[0] <= '9'));
  }

 private:
  std::string_view text_;
};

History::List rest_of_list(Line& line, History::Key key) {
  line.need("=");
  History::List list{key, {}};
  if (!line.is_number()) return list;
  do {
    list.numbers.push_back(line.number());
  } while (line.take(","));
  return list;
}

Step read_step(Line& line) {
  Step step;
  if (line.take("+")) {
    step.kind = Step::Kind::append;
    step.key = line.number();
    line.need(":");
    step.number = line.number();
    return step;
  }
  step.key = line.number();
  if (line.take("!")) return step;
  if (!line.take("..")) {
    step.lists.push_back(rest_of_list(line, step.key));
    return step;
  }
  step.kind = Step::Kind::range;
  step.end = line.number();
  line.need("{");
  while (!line.take("}")) {
    const History::Key key = line.number();
    step.lists.push_back(rest_of_list(line, key));
    line.need(";");
  }
  return step;
}

History::Transaction read_transaction(Line& line) {
  History::Transaction transaction;
  if (line.take("c")) {
    transaction.outcome = Outcome::committed;
  } else if (line.take("a")) {
    transaction.outcome = Outcome::aborted;
  } else {
    line.need("?");
  }
  while (!line.at_end()) transaction.steps.push_back(read_step(line));
  return transaction;
}

}  // namespace

std::string to_text(const History& history) {
  std::string text;
  for (const History::Transaction& transaction : history.transactions) {
    constexpr std::string_view kOutcomes = "ca?";
    text += kOutcomes[static_cast<std::size_t>(transaction.outcome)];
    for (const Step& step : transaction.steps) text += " " + step_text(step);
    text += "\n";
  }
  return text;
}

History from_text(std::string_view text) {
  History history;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Line line{text.substr(0, end)};
    text.remove_prefix(std::min(end + 1, text.size()));
    try {
      if (!line.at_end()) history.transactions.push_back(read_transaction(line));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error{fmt::format("line {}: {}", number, error.what())};
    }
  }
  return history;
}

}  // namespace swizzle::testing
