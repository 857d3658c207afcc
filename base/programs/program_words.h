#pragma once

#include <CLI/CLI.hpp>
#include <optional>

namespace swizzle {

/// What a program returns when it does not understand its words.
constexpr int kUsageExit = 2;

/// Reads a program's words into what `app` was told to fill, in the way that all programs of ours
/// have: --help and --version are answers, of the program and of each of its commands; so is
/// `help`. Returns the exit code where the program is done with that: 0 after an answer, kUsageExit
/// after words that it cannot understand, which it has named on standard error.
std::optional<int> read_program_words(CLI::App& app, int count, const char* const* words);

}  // namespace swizzle
