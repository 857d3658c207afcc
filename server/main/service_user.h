#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "base/result.h"

namespace swizzle::server {

/// The user that the server's process becomes when root starts it.
class ServiceUser {
 public:
  /// 22023 when there is no such user, or when the process is not root's and another user is named.
  static Result<ServiceUser> find(const std::string& name);

  /// Gives up root's rights, in all threads, for good. 58030 when the system refuses.
  Result<> become() const;
  /// Makes the user a file's owner. Pre: become() was not called yet.
  Result<> give(const std::filesystem::path& path) const;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] uid_t id() const noexcept { return user_; }

 private:
  ServiceUser(std::string name, uid_t user, gid_t group)
      : name_(std::move(name)), user_(user), group_(group) {}
  std::string name_;
  uid_t user_;
  gid_t group_;
};

}  // namespace swizzle::server
