#include "server/main/service_user.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/invariant.h"

namespace swizzle::server {

Result<ServiceUser> ServiceUser::find(const std::string& name) {
  std::array<char, 4096> buffer;
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return fail(sqlstate::invalid_parameter_value, fmt::format("there is no user \"{}\"", name));
  }
  if (::geteuid() != 0 && ::geteuid() != entry.pw_uid) {
    return fail(sqlstate::invalid_parameter_value,
                fmt::format("only root can become user \"{}\"", name));
  }
  return ServiceUser{name, entry.pw_uid, entry.pw_gid};
}

Result<> ServiceUser::become() const {
  if (::geteuid() == user_) return {};
  // The user last: after that the process may not change the groups any more.
  if (::initgroups(name_.c_str(), group_) != 0 || ::setresgid(group_, group_, group_) != 0 ||
      ::setresuid(user_, user_, user_) != 0) {
    return fail(sqlstate::io_error,
                fmt::format("could not become user \"{}\": {}", name_, std::strerror(errno)));
  }
  INVARIANT(::setuid(0) != 0);
  return {};
}

Result<> ServiceUser::give(const std::filesystem::path& path) const {
  if (::geteuid() == user_ || ::lchown(path.c_str(), user_, group_) == 0) return {};
  return fail(sqlstate::io_error, fmt::format("could not give \"{}\" to user \"{}\": {}",
                                              path.string(), name_, std::strerror(errno)));
}

}  // namespace swizzle::server
