#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "base/programs/command_line.h"
#include "base/result.h"

namespace swizzle::bench {

/// Duration of an experiment: full for published figures; quick (some ten seconds), to run all of
/// them at once; smoke (less than a second), as a test that they still work.
enum class Scale : std::uint8_t { full, quick, smoke };

/// Input of an experiment: its options, scale and folders.
class Context {
 public:
  Context(CommandLine& options, Scale scale, std::filesystem::path directory,
          std::filesystem::path csv)
      : options_(options), scale_(scale), directory_(std::move(directory)), csv_(std::move(csv)) {}

  [[nodiscard]] CommandLine& options() noexcept { return options_; }
  [[nodiscard]] Scale scale() const noexcept { return scale_; }
  /// Directory for data files; removed afterwards.
  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }
  [[nodiscard]] const std::filesystem::path& csv() const noexcept { return csv_; }

  /// Returns the default for the scale.
  template <class T>
  [[nodiscard]] T by_scale(T full, T quick, T smoke) const {
    return scale_ == Scale::full ? full : scale_ == Scale::quick ? quick : smoke;
  }

 private:
  CommandLine& options_;
  Scale scale_;
  std::filesystem::path directory_;
  std::filesystem::path csv_;
};

struct Experiment {
  std::string_view id;
  std::string_view title;
  Result<> (*run)(Context& context);
};

/// Returns all experiments, in the order of docs/results/README.md.
std::span<const Experiment> experiments() noexcept;

}  // namespace swizzle::bench
