#include "base/programs/program_words.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace swizzle {
std::optional<int> read_program_words(CLI::App& app, int count, const char* const* words) {
  const std::string version = fmt::format("{} {}", app.get_name(), SWIZZLE_VERSION);
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
    fmt::print(stderr, "{}: {}\nTry \"{} --help\".\n", app.get_name(), problem.what(),
               app.get_name());
    return kUsageExit;
  }
  return 0;
}

}  // namespace swizzle
