#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>

namespace swizzle {

/// Exit status of a program that does not understand its arguments.
constexpr int kUsageExit = 2;

/// Reads a program's words into what `app` was told to fill, in the way that all programs of ours
/// have: --help and --version are answers, of the program and of each of its commands; so is
/// `help`. Returns the exit code where the program is done with that: 0 after an answer, kUsageExit
/// after words that it cannot understand, which it has named on standard error.
std::optional<int> read_program_words(CLI::App& app, int count, const char* const* words);

/// For a program that reads its words by itself: whether one of them asks for --help or --version,
/// which is answered then.
bool answers_program_words(int count, const char* const* words, std::string_view name,
                           std::string_view usage);
/// Says on standard error what it does not understand. Returns kUsageExit.
int refuse_program_words(std::string_view name, std::string_view problem);

}  // namespace swizzle
