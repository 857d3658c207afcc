// Measures the server's network layer alone: sockets, reactors, fibers and messages, with a canned
// answer in place of the SQL engine. Serves until it is interrupted:
//
//   swizzle_server_wire_bench PORT REACTORS SPIN_US SOCKET_DIRECTORY
//   pgbench -h SOCKET_DIRECTORY -p PORT -n -M prepared -f select-only.sql …

#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <thread>

#include "server/main/listener.h"

namespace {

using namespace swizzle;
using namespace swizzle::server;

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int serve(char** words) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  alignas(8) static std::byte no_engine[8];
  const auto database = sql::Database::open(reinterpret_cast<Engine&>(no_engine)).value();
  ServerContext context{*database, ConnectionLimits{}, "secret", std::make_shared<ServerLog>(-1)};
  DoorPolicy policy;
  policy.rules = HbaRules::parse("local all all trust\nhost all all 127.0.0.1/32 trust").value();
  context.set_policy(std::move(policy));
  ServerSettings settings;
  settings.port = static_cast<std::uint16_t>(std::atoi(words[1]));
  settings.listen_addresses = {"127.0.0.1"};
  settings.unix_socket_directories = {words[4]};
  boost::asio::io_context events;
  std::unique_ptr<Acceptor> acceptor;
  {
    FiberRuntime runtime{{.reactors = static_cast<std::size_t>(std::atoi(words[2])),
                          .longest_spin = std::chrono::microseconds{std::atoi(words[3])}}};
    acceptor = std::make_unique<Acceptor>(events, runtime, context,
                                          open_listening_sockets(settings).value());
    std::thread letting_in{[&events] { events.run(); }};
    int signal = 0;
    sigwait(&signals, &signal);
    events.stop();
    letting_in.join();
    acceptor->stop();
    context.registry().end_all(EndReason::administrator);
  }
  fmt::print("{:.3f} s of processor time\n", processor_seconds());
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) {
    fmt::print(stderr, "usage: {} PORT REACTORS SPIN_US SOCKET_DIRECTORY\n", words[0]);
    return 2;
  }
  return serve(words);
}
