#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "server/main/data_directory.h"
#include "server/main/process_signals.h"
#include "server/main/restore_request.h"

namespace swizzle::server {

/// Makes the data directory of a server that is restored on demand: its pages are read from the
/// backups while it runs. Settings, rules and secret are those of the newest backup. A directory
/// that was made of the same backups is left as it is, so that the same words start the server
/// again.
class ServerRestore {
 public:
  /// Checks the request, and makes the directory if it does not exist. 55000 if it is another
  /// server's, or not empty.
  static Result<std::unique_ptr<ServerRestore>> begin(const DataDirectory& directory,
                                                      const RestoreRequest& request);
  ServerRestore(const ServerRestore&) = delete;
  ServerRestore& operator=(const ServerRestore&) = delete;
  /// Removes the directory if it is empty because nothing could be restored.
  ~ServerRestore();

  /// Returns true if the directory can be served as it is.
  [[nodiscard]] bool is_prepared() const noexcept { return is_prepared_; }
  /// Returns the directory whose settings and rules are in force: the newest backup's until the
  /// directory is prepared.
  [[nodiscard]] DataDirectory settings_directory() const;

  enum class End : std::uint8_t { prepared, stopped };
  /// Makes what the directory lacks, on a thread of its own, while the caller obeys the signals. A
  /// shutdown ends it early, once a command that fetches a segment has ended. Pre: the caller holds
  /// the directory's PidFile.
  Result<End> prepare(boost::asio::io_context& events, ProcessSignals& signals);

 private:
  ServerRestore(DataDirectory directory, RestoreRequest request)
      : directory_(std::move(directory)), request_(std::move(request)) {}
  Result<> fill_directory();
  Result<> make_lists(const std::vector<std::filesystem::path>& engines);

  const DataDirectory directory_;
  const RestoreRequest request_;
  bool is_prepared_ = false;
  std::atomic<bool> is_cancelled_{false};
};

}  // namespace swizzle::server
