#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>

#include "base/programs/program_words.h"
#include "bench/experiment.h"

namespace swizzle::bench {
namespace {

constexpr std::string_view kName = "swizzle-bench";

std::string usage() {
  std::string text =
      "swizzle-bench <experiment> [--quick | --smoke] [--csv FILE] [--dir DIRECTORY] "
      "[parameters]\n\n";
  for (const Experiment& experiment : experiments()) {
    text += fmt::format("  {:<4} {}\n", experiment.id, experiment.title);
  }
  return text + "\nParameters are those at the top of bench/experiments/<experiment>.cpp.\n";
}

const Experiment* find(std::string_view id) noexcept {
  for (const Experiment& experiment : experiments()) {
    if (experiment.id == id) return &experiment;
  }
  return nullptr;
}

/// Temporary directory below `parent`, removed with its content.
class Scratch {
 public:
  explicit Scratch(const std::filesystem::path& parent) {
    std::filesystem::create_directories(parent);
    std::string name = (parent / "swizzle-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

int run(int count, char** words) {
  if (answers_program_words(count, words, kName, usage())) return 0;
  CommandLine options{count, words, {"quick", "smoke"}};
  if (options.positional().size() != 1) {
    return refuse_program_words(kName, "one experiment is needed");
  }
  const std::string& name = options.positional().front();
  const Experiment* experiment = find(name);
  if (experiment == nullptr) {
    return refuse_program_words(kName, fmt::format("there is no experiment \"{}\"", name));
  }
  Scale scale = options.flag("quick") ? Scale::quick : Scale::full;
  if (options.flag("smoke")) scale = Scale::smoke;
  const Scratch scratch{options.text("dir", std::filesystem::temp_directory_path())};
  Context context{options, scale, scratch.path(), options.text("csv", "")};
  const Result<> result = experiment->run(context);
  if (result) return 0;
  fmt::print(stderr, "swizzle-bench: {}: {} ({})\n", experiment->id, result.error().message(),
             result.error().state().code());
  return 1;
}

}  // namespace
}  // namespace swizzle::bench

int main(int count, char** words) {
  try {
    return swizzle::bench::run(count, words);
  } catch (const std::exception& error) {
    fmt::print(stderr, "swizzle-bench: {}\n", error.what());
    return 1;
  }
}
