#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iostream>
#include <pqxx/pqxx>
#include <system_error>

#include "clients/swizzle/commands.h"

namespace swizzle::clients {
namespace {

namespace fs = std::filesystem;

/// Files of a server beside its database. The last one means that the others are there.
constexpr const char* kServerFiles[] = {"swizzled.secret", "swizzle_hba.conf", "swizzle.auto.conf",
                                        "swizzle.conf"};

/// Returns the path of `swizzle-backup`: beside this program in an installation, else found in
/// PATH.
std::string backup_program() {
  std::error_code error;
  const fs::path here = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path beside = here.parent_path() / "swizzle-backup";
    if (fs::exists(beside)) return beside.string();
  }
  return "swizzle-backup";
}

/// Runs the program; returns its exit code.
int run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error{errno, std::generic_category(), "fork"};
  if (child == 0) {
    ::execvp(arguments[0], arguments.data());
    std::cerr << "swizzle: " << words[0] << " cannot be run\n";
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

/// Lets the server copy itself into a directory on its machine.
int run_backup(const std::string& conninfo, const std::string& directory,
               const std::string& since) {
  pqxx::connection connection{conninfo};
  pqxx::nontransaction work{connection};
  const std::string target = fs::absolute(directory).string();
  const pqxx::row said = since.empty() ? work.exec_params1("SELECT swizzle_backup($1)", target)
                                       : work.exec_params1("SELECT swizzle_backup($1, $2)", target,
                                                           fs::absolute(since).string());
  std::cout << said[0].c_str() << '\n';
  return 0;
}

/// Restores a data directory from backups, without a server. Options are passed to swizzle-backup.
int run_restore(const std::vector<std::string>& options,
                const std::vector<std::string>& directories) {
  if (directories.size() < 2)
    throw std::runtime_error{"restore needs a backup, and a directory to be made"};
  const fs::path target = directories.back();
  const std::vector<fs::path> backups(directories.begin(), directories.end() - 1);
  for (const fs::path& backup : backups) {
    if (!fs::exists(backup / "swizzle.conf"))
      throw std::runtime_error{"\"" + backup.string() + "\" is no whole backup of a server"};
  }
  const fs::path& backup = backups.back();
  if (fs::exists(target)) throw std::runtime_error{"\"" + target.string() + "\" exists already"};
  fs::create_directory(target);
  fs::permissions(target, fs::perms::owner_all);
  std::vector<std::string> words{backup_program(), "restore"};
  words.insert(words.end(), options.begin(), options.end());
  for (const fs::path& each : backups) words.push_back((each / "engine").string());
  words.push_back((target / "engine").string());
  // Exit code of swizzle-backup: restored except for unreadable pages, which it has named.
  constexpr int kWithoutPages = 3;
  const int code = run_program(words);
  if (code != 0 && code != kWithoutPages) {
    fs::remove_all(target);
    return code;
  }
  for (const char* const name : kServerFiles) {
    if (fs::exists(backup / name)) fs::copy_file(backup / name, target / name);
  }
  std::cout << "start it with: swizzled -D " << fs::absolute(target).string() << '\n';
  return code;
}

}  // namespace swizzle::clients
