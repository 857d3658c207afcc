#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace swizzle {

/// `program word … --name value --name=value --flag`. Reading an option marks it as known, so that
/// finish() can refuse the rest by name; a bad value is remembered and reported there too.
class CommandLine {
 public:
  /// `flags` are the options that take no value.
  CommandLine(int count, const char* const* words, const std::set<std::string>& flags);

  [[nodiscard]] const std::vector<std::string>& positional() const noexcept { return positional_; }
  [[nodiscard]] bool flag(const std::string& name);
  [[nodiscard]] std::string text(const std::string& name, std::string fallback);
  [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t fallback);
  [[nodiscard]] double real(const std::string& name, double fallback);
  /// A number with an optional suffix KiB, MiB or GiB.
  [[nodiscard]] std::uint64_t bytes(const std::string& name, std::uint64_t fallback);
  /// Comma-separated.
  [[nodiscard]] std::vector<std::string> list(const std::string& name, std::string_view fallback);
  [[nodiscard]] std::vector<double> reals(const std::string& name, std::string_view fallback);

  /// Fails on an option that was not read and on an invalid value.
  Result<> finish() const;

 private:
  [[nodiscard]] const std::string* find(const std::string& name);
  void complain(const std::string& name, const std::string& value);

  std::vector<std::string> positional_;
  std::map<std::string, std::string> options_;
  std::set<std::string> known_;
  std::string complaint_;
};

}  // namespace swizzle
