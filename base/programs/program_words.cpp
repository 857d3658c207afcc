#include "base/programs/program_words.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/programs/version.h"

namespace swizzle {
namespace {

std::string version_of(std::string_view name) {
  return fmt::format("{} {}", name, swizzle_version());
}

/// Reports an unknown word rather than the missing command, which CLI11 finds first.
std::string problem_of(const CLI::App& app, const CLI::ParseError& problem) {
  const std::vector<std::string> unknown = app.remaining(true);
  const bool is_missing = problem.get_name() == "RequiredError";
  return is_missing && !unknown.empty()
             ? fmt::format("The following argument was not expected: {}", unknown.front())
             : problem.what();
}

}  // namespace

std::optional<int> read_program_words(CLI::App& app, int count, const char* const* words) {
  const std::string version = version_of(app.get_name());
  app.set_version_flag("-V,--version", version, "print the version and exit");
  for (CLI::App* const command : app.get_subcommands([](CLI::App*) { return true; })) {
    command->set_version_flag("-V,--version", version, "print the version and exit");
  }
  if (count > 1 && std::string_view{words[1]} == "help") {
    fmt::print("{}", app.help("", CLI::AppFormatMode::All));
    return 0;
  }
  try {
    app.parse(count, words);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    const bool whole = app.get_subcommands().empty();
    fmt::print("{}", app.help("", whole ? CLI::AppFormatMode::All : CLI::AppFormatMode::Normal));
  } catch (const CLI::CallForVersion& answer) {
    fmt::print("{}\n", answer.what());
  } catch (const CLI::ParseError& problem) {
    return refuse_program_words(app.get_name(), problem_of(app, problem));
  }
  return 0;
}

bool answers_program_words(int count, const char* const* words, std::string_view name,
                           std::string_view usage) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--help" || word == "-?" || (i == 1 && word == "help")) {
      fmt::print("{}", usage);
      return true;
    }
    if (word == "--version" || word == "-V") {
      fmt::print("{}\n", version_of(name));
      return true;
    }
  }
  return false;
}

int refuse_program_words(std::string_view name, std::string_view problem) {
  fmt::print(stderr, "{}: {}\nTry \"{} --help\".\n", name, problem, name);
  return kUsageExit;
}

}  // namespace swizzle
