#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/io/file.h"
#include "base/result.h"
#include "server/session/descriptor.h"

namespace swizzle::server {

/// The directory with all files of one server:
///
///   swizzle.conf       settings; its presence says that init has finished
///   swizzle.auto.conf  what ALTER SYSTEM has set; wins over swizzle.conf
///   swizzle_hba.conf   who may connect
///   swizzled.secret    makes logins of unknown roles look like others
///   swizzled.pid       held while the server runs; the lines of PostgreSQL's postmaster.pid
///   standby.signal     the server follows another one (primary_conninfo) until it is promoted
///   engine/            the storage manager's own
class DataDirectory {
 public:
  /// `config_file`: the file that the settings are read from; empty: swizzle.conf.
  explicit DataDirectory(std::filesystem::path path, std::filesystem::path config_file = {})
      : path_(std::move(path)), config_file_(std::move(config_file)) {}

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::filesystem::path settings_file() const { return path_ / "swizzle.conf"; }
  [[nodiscard]] std::filesystem::path config_file() const {
    return config_file_.empty() ? settings_file() : config_file_;
  }
  [[nodiscard]] std::filesystem::path altered_file() const { return path_ / "swizzle.auto.conf"; }
  [[nodiscard]] std::filesystem::path rules_file() const { return path_ / "swizzle_hba.conf"; }
  [[nodiscard]] std::filesystem::path secret_file() const { return path_ / "swizzled.secret"; }
  [[nodiscard]] std::filesystem::path pid_file() const { return path_ / "swizzled.pid"; }
  [[nodiscard]] std::filesystem::path standby_signal() const { return path_ / "standby.signal"; }
  /// The settings of a base copy that is not finished.
  [[nodiscard]] std::filesystem::path copied_settings_file() const {
    return path_ / "swizzle.conf.copy";
  }
  [[nodiscard]] std::filesystem::path engine() const { return path_ / "engine"; }

  [[nodiscard]] bool is_initialized() const;
  /// 55000 with a hint unless init has finished here, or others could read it.
  Result<> check_usable() const;

 private:
  std::filesystem::path path_;
  std::filesystem::path config_file_;
};

/// Creates the directory, or takes an existing empty one; only its owner may access it.
Result<> make_private_directory(const std::filesystem::path& path);

/// The contents of swizzled.pid.
struct RunningServer {
  pid_t process = 0;
  std::string port;
  std::string socket_directory;
  std::string address = {};  ///< first one that it listens on
};

/// The server that holds the data directory, if one does. A file left behind by a crash does not
/// count.
Result<std::optional<RunningServer>> find_running(const DataDirectory& directory);

/// Held for as long as the server runs; removed when it ends in order.
class PidFile {
 public:
  /// 55006 when another server has the directory.
  static Result<std::unique_ptr<PidFile>> take(const DataDirectory& directory,
                                               const RunningServer& self);
  PidFile(const PidFile&) = delete;
  PidFile& operator=(const PidFile&) = delete;
  ~PidFile();

 private:
  PidFile(std::filesystem::path path, Descriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}
  std::filesystem::path path_;
  Descriptor file_;  ///< closing it ends the lock
};

}  // namespace swizzle::server
