#include "tpcc/settings.h"

#include <fmt/format.h>

#include <map>

namespace swizzle::tpcc {
namespace {

/// Reads options and records their values.
class Reader {
 public:
  Reader(CommandLine& options, Settings& settings) : options_(options), settings_(settings) {}

  std::string text(const std::string& name, const std::string& fallback) {
    return shown(name, options_.text(name, fallback));
  }
  std::uint64_t number(const std::string& name, std::uint64_t fallback) {
    const std::uint64_t value = options_.number(name, fallback);
    shown(name, fmt::to_string(value));
    return value;
  }
  double real(const std::string& name, double fallback) {
    const double value = options_.real(name, fallback);
    shown(name, fmt::format("{:g}", value));
    return value;
  }
  std::uint64_t bytes(const std::string& name, std::uint64_t fallback) {
    const std::uint64_t value = options_.bytes(name, fallback);
    shown(name, fmt::to_string(value));
    return value;
  }
  template <class Value>
  Result<Value> one_of(const std::string& name, const std::string& fallback,
                       const std::map<std::string, Value>& values) {
    const std::string word = text(name, fallback);
    const auto found = values.find(word);
    if (found != values.end()) return found->second;
    std::string known;
    for (const auto& [each, value] : values) known += (known.empty() ? "" : ", ") + each;
    return fail(sqlstate::invalid_parameter_value,
                fmt::format("--{} is one of {}; not '{}'", name, known, word));
  }
  Result<bool> on_or_off(const std::string& name, const std::string& fallback) {
    return one_of<bool>(name, fallback, {{"on", true}, {"off", false}});
  }

 private:
  std::string shown(const std::string& name, std::string value) {
    settings_.shown.emplace_back(name, value);
    return value;
  }

  CommandLine& options_;
  Settings& settings_;
};

Result<> read_engine(Reader& reader, Settings& settings) {
  EngineOptions& engine = settings.engine;
  engine.pool_bytes = reader.bytes("pool-bytes", std::uint64_t{4} << 30U);
  ASSIGN_OR_RETURN(engine.pool_prefault, reader.on_or_off("prefault", "off"));
  ASSIGN_OR_RETURN(engine.pool_mode,
                   reader.one_of<PoolMode>("pool", "swizzling",
                                           {{"swizzling", PoolMode::swizzling},
                                            {"traditional", PoolMode::traditional},
                                            {"main_memory", PoolMode::main_memory}}));
  ASSIGN_OR_RETURN(engine.replacement,
                   reader.one_of<Replacement>("replacement", "clock_sweep",
                                              {{"clock_sweep", Replacement::clock_sweep},
                                               {"random", Replacement::random},
                                               {"gclock", Replacement::gclock},
                                               {"car", Replacement::car},
                                               {"lru", Replacement::lru},
                                               {"cooling_fifo", Replacement::cooling_fifo}}));
  engine.gclock_limit = static_cast<std::uint32_t>(reader.number("gclock-limit", 8));
  engine.cooling_percent = static_cast<std::uint32_t>(reader.number("cooling-percent", 10));
  ASSIGN_OR_RETURN(settings.io, reader.one_of<IoEngine>("io", "automatic",
                                                        {{"automatic", IoEngine::automatic},
                                                         {"io_uring", IoEngine::io_uring},
                                                         {"threads", IoEngine::threads}}));
  ASSIGN_OR_RETURN(engine.logging, reader.on_or_off("logging", "on"));
  ASSIGN_OR_RETURN(engine.locking, reader.on_or_off("locking", "on"));
  ASSIGN_OR_RETURN(
      engine.log_insert,
      reader.one_of<wal::InsertMode>("wal-insert", "atomic_tail",
                                     {{"atomic_tail", wal::InsertMode::atomic_tail},
                                      {"consolidation_array", wal::InsertMode::consolidation_array},
                                      {"mutex", wal::InsertMode::plain_mutex}}));
  return {};
}

Result<> read_sessions(Reader& reader, Settings& settings) {
  ASSIGN_OR_RETURN(
      settings.session.isolation,
      reader.one_of<Isolation>("isolation", "read_committed",
                               {{"read_committed", Isolation::read_committed},
                                {"repeatable_read", Isolation::repeatable_read},
                                {"serializable", Isolation::serializable},
                                {"serializable_snapshot", Isolation::serializable_snapshot}}));
  ASSIGN_OR_RETURN(const bool synchronous, reader.on_or_off("synchronous-commit", "on"));
  settings.session.durability =
      synchronous ? Transaction::Durability::synchronous : Transaction::Durability::asynchronous;
  ASSIGN_OR_RETURN(const bool pipelining, reader.on_or_off("pipelining", "off"));
  WireSettings& wire = settings.wire;
  wire.pipelining = pipelining ? Pipelining::on : Pipelining::off;
  settings.url = reader.text("url", "");
  wire.server = static_cast<pid_t>(reader.number("server-pid", 0));
  ASSIGN_OR_RETURN(wire.procedures, reader.on_or_off("procedures", "off"));
  if (!synchronous) wire.set_up = "SET synchronous_commit = off;";
  const auto isolate = [&](const std::string& level) {
    wire.begin = "BEGIN ISOLATION LEVEL " + level;
    // A CALL is a transaction by itself.
    wire.set_up += "SET default_transaction_isolation = '" + level + "';";
  };
  switch (settings.session.isolation) {
    case Isolation::read_committed:
      break;
    case Isolation::repeatable_read:
      isolate("repeatable read");
      break;
    case Isolation::serializable:
    case Isolation::serializable_snapshot:
      isolate("serializable");
      break;
  }
  return {};
}

Result<> read_run(Reader& reader, Settings& settings) {
  RunSettings& run = settings.run;
  ASSIGN_OR_RETURN(settings.runtime, reader.one_of<RuntimeName>("runtime", "threads",
                                                                {{"threads", RuntimeName::threads},
                                                                 {"fibers", RuntimeName::fibers}}));
  // `threads` are operating system threads; with fibers they carry the sessions.
  settings.reactors = static_cast<std::uint32_t>(
      reader.number("threads", settings.runtime == RuntimeName::fibers ? 2 : 1));
  run.sessions = static_cast<std::uint32_t>(
      reader.number("sessions", settings.runtime == RuntimeName::fibers ? 64 : settings.reactors));
  run.yield_between = settings.runtime == RuntimeName::fibers;
  run.seconds = reader.real("duration", 10);
  run.warm_up_seconds = reader.real("warm-up", 2);
  run.rate = reader.real("rate", 0);
  run.seed = reader.number("seed", 1);
  run.transactions = reader.number("transactions", 0);
  run.only = reader.text("only", "");
  ASSIGN_OR_RETURN(run.think, reader.on_or_off("think", "off"));
  ASSIGN_OR_RETURN(run.affinity, reader.on_or_off("affinity", "off"));
  ASSIGN_OR_RETURN(const bool remote, reader.on_or_off("remote", "on"));
  run.reach = remote ? Reach::all_warehouses : Reach::own_warehouse;
  if (settings.reactors == 0 || run.sessions == 0 || run.seconds <= 0) {
    return fail(sqlstate::invalid_parameter_value,
                "--threads, --sessions and --duration are above 0");
  }
  return {};
}

Result<> read_sizes(Reader& reader, CommandLine& options, Settings& settings) {
  settings.sizes.warehouses = static_cast<std::uint32_t>(reader.number("warehouses", 1));
  settings.tpcb_sizes.branches = static_cast<std::uint32_t>(reader.number("scale", 1));
  if (options.flag("tiny")) {
    settings.tpcb_sizes.accounts_per_branch = 1'000;
    settings.sizes.items = 1'000;
    settings.sizes.customers = 100;
    settings.shown.emplace_back("tiny", "1000 items, 100 customers: not TPC-C's sizes");
  }
  if (settings.sizes.warehouses == 0 || settings.tpcb_sizes.branches == 0) {
    return fail(sqlstate::invalid_parameter_value, "--warehouses and --scale are above 0");
  }
  return {};
}

}  // namespace

Result<Settings> read_settings(CommandLine& options) {
  Settings settings;
  Reader reader{options, settings};
  const std::string backend = reader.text("backend", "embedded");
  ASSIGN_OR_RETURN(settings.workload, reader.one_of<WorkloadName>("workload", "tpcc",
                                                                  {{"tpcc", WorkloadName::tpcc},
                                                                   {"tpcb", WorkloadName::tpcb}}));
  const std::map<std::string, BackendName> backends{{"embedded", BackendName::embedded},
                                                    {"sql-embedded", BackendName::sql_embedded},
                                                    {"wire", BackendName::wire}};
  const auto chosen = backends.find(backend);
  if (chosen == backends.end()) {
    return fail(sqlstate::invalid_parameter_value,
                "--backend is embedded, sql-embedded or wire; not '" + backend + "'");
  }
  settings.backend = chosen->second;
  settings.directory = reader.text("dir", "");
  RETURN_IF_ERROR(read_sizes(reader, options, settings));
  RETURN_IF_ERROR(read_engine(reader, settings));
  RETURN_IF_ERROR(read_sessions(reader, settings));
  RETURN_IF_ERROR(read_run(reader, settings));
  settings.load_first = options.flag("load");
  settings.check_after = options.flag("check");
  settings.json = options.text("json", "");
  settings.timeline = options.text("timeline", "");
  if (settings.workload == WorkloadName::tpcb && !settings.run.only.empty()) {
    return fail(sqlstate::feature_not_supported, "--only: TPC-B has one kind of transaction");
  }
  if (settings.backend != BackendName::wire && settings.directory.empty()) {
    return fail(sqlstate::invalid_parameter_value, "--backend " + backend + " needs --dir");
  }
  const bool speaks_sql = settings.backend != BackendName::embedded;
  if (settings.wire.procedures && (!speaks_sql || settings.workload != WorkloadName::tpcc)) {
    return fail(sqlstate::feature_not_supported,
                "--procedures on: only TPC-C in SQL has them (--backend wire or sql-embedded)");
  }
  if (settings.backend == BackendName::wire && settings.url.empty()) {
    return fail(sqlstate::invalid_parameter_value, "--backend wire needs --url");
  }
  RETURN_IF_ERROR(options.finish());
  return settings;
}

}  // namespace swizzle::tpcc
