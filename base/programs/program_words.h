#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>

namespace swizzle {

/// Exit status of a program that does not understand its arguments.
constexpr int kUsageExit = 2;

/// Reads a program's words into the variables registered with `app`, as all programs of ours do:
/// --help and --version print answers, of the program and of each of its commands; so does `help`.
/// Returns an exit code if the program is done with that: 0 after an answer, kUsageExit after words
/// that it cannot understand, which are named on standard error.
std::optional<int> read_program_words(CLI::App& app, int count, const char* const* words);

/// For a program that parses its own arguments: answers --help or --version. Returns false if
/// neither was given.
bool answers_program_words(int count, const char* const* words, std::string_view name,
                           std::string_view usage);
/// Reports the problem on standard error. Returns kUsageExit.
int refuse_program_words(std::string_view name, std::string_view problem);

}  // namespace swizzle
