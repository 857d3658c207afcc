#include "base/programs/command_line.h"

#include <charconv>
#include <optional>

namespace swizzle {
namespace {

template <class Number>
std::optional<Number> parse(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return parts;
}

}  // namespace

CommandLine::CommandLine(int count, const char* const* words, const std::set<std::string>& flags) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (!word.starts_with("--")) {
      positional_.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) {
      options_[word.substr(2, equals - 2)] = word.substr(equals + 1);
    } else if (flags.contains(word.substr(2))) {
      options_[word.substr(2)] = "on";
    } else if (i + 1 < count) {
      options_[word.substr(2)] = words[++i];
    } else {
      complaint_ = word + " needs a value";
    }
  }
}

bool CommandLine::flag(const std::string& name) {
  return find(name) != nullptr;
}

std::string CommandLine::text(const std::string& name, std::string fallback) {
  const std::string* value = find(name);
  return value == nullptr ? std::move(fallback) : *value;
}

std::uint64_t CommandLine::number(const std::string& name, std::uint64_t fallback) {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  const auto parsed = parse<std::uint64_t>(*value);
  if (!parsed) complain(name, *value);
  return parsed.value_or(fallback);
}

double CommandLine::real(const std::string& name, double fallback) {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  const auto parsed = parse<double>(*value);
  if (!parsed) complain(name, *value);
  return parsed.value_or(fallback);
}

std::uint64_t CommandLine::bytes(const std::string& name, std::uint64_t fallback) {
  const std::string* value = find(name);
  if (value == nullptr) return fallback;
  std::string_view digits = *value;
  unsigned shift = 0;
  if (digits.ends_with("KiB")) shift = 10;
  if (digits.ends_with("MiB")) shift = 20;
  if (digits.ends_with("GiB")) shift = 30;
  if (shift != 0) digits.remove_suffix(3);
  const auto parsed = parse<std::uint64_t>(digits);
  if (!parsed) complain(name, *value);
  return parsed ? *parsed << shift : fallback;
}

std::vector<std::string> CommandLine::list(const std::string& name, std::string_view fallback) {
  const std::string* value = find(name);
  return split(value == nullptr ? fallback : std::string_view{*value});
}

std::vector<double> CommandLine::reals(const std::string& name, std::string_view fallback) {
  std::vector<double> values;
  for (const std::string& part : list(name, fallback)) {
    const auto parsed = parse<double>(part);
    if (!parsed) complain(name, part);
    values.push_back(parsed.value_or(0));
  }
  return values;
}

Result<> CommandLine::finish() const {
  if (!complaint_.empty()) return fail(sqlstate::invalid_parameter_value, complaint_);
  for (const auto& [name, value] : options_) {
    if (!known_.contains(name)) {
      return fail(sqlstate::invalid_parameter_value, "no such option here: --" + name);
    }
  }
  return {};
}

const std::string* CommandLine::find(const std::string& name) {
  known_.insert(name);
  const auto at = options_.find(name);
  return at == options_.end() ? nullptr : &at->second;
}

void CommandLine::complain(const std::string& name, const std::string& value) {
  if (complaint_.empty()) complaint_ = "--" + name + " does not take '" + value + "'";
}

}  // namespace swizzle
