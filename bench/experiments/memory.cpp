// G1: uniform point lookups on a database ten times the pool, the working set growing from a small
// part of the pool to all of the database. G2: close around the pool's size, on two pools of data.
//
// Parameters: --pool-bytes, --database (times the pool), --working-sets 0.05,…, --threads,
// --seconds, --repetitions, --systems swizzling,main_memory,traditional,mmap (or, with another
// replacement policy, swizzling/car and the like: stores/pool_choice.h)
#include <memory>

#include "bench/baselines/lmdb_store.h"
#include "bench/baselines/residency_limit.h"
#include "bench/experiments/all.h"
#include "bench/experiments/comparison.h"
#include "bench/stores/disk.h"
#include "bench/stores/look_up.h"
#include "bench/stores/pool_choice.h"

namespace swizzle::bench {
namespace {

constexpr RecordShape kShape = kTwentyAndTwenty;

/// A system whose working set can change between measurements.
struct System {
  std::string name;
  std::function<std::size_t(std::uint64_t number, MutableBytes into)> get;
  /// Makes a `get` function for each thread, if the system needs that.
  std::function<std::function<std::size_t(std::uint64_t, MutableBytes)>()> per_thread;
  double largest_working_set = 1e9;
};

/// Default parameters that differ between G1 and G2.
struct Defaults {
  double database;
  const char* working_sets;
  const char* few_working_sets;  ///< for scale `quick`
  const char* systems;
};

class MemoryExperiment {
 public:
  MemoryExperiment(Context& context, std::string id, const Defaults& defaults)
      : id_(std::move(id)),
        pool_bytes_(context.options().bytes(
            "pool-bytes", context.by_scale<std::uint64_t>(256U << 20U, 32U << 20U, 2U << 20U))),
        database_(context.options().real("database", defaults.database)),
        working_sets_(context.options().reals(
            "working-sets",
            context.by_scale(defaults.working_sets, defaults.few_working_sets, "0.5,1.6"))),
        threads_(static_cast<unsigned>(context.options().number("threads", 2))),
        repetitions_(static_cast<unsigned>(
            context.options().number("repetitions", context.by_scale(5U, 1U, 1U)))),
        seconds_(context.options().real("seconds", context.by_scale(2.0, 0.3, 0.02))),
        wanted_(context.options().list("systems", defaults.systems)),
        context_(context) {}

  Result<> run() {
    RETURN_IF_ERROR(context_.options().finish());
    Report report{id_, "working_set_in_pools", context_.csv()};
    report.note("records", "20-byte keys, 20-byte values, uniform over the working set");
    report.note("pool_bytes", static_cast<double>(pool_bytes_));
    ASSIGN_OR_RETURN(
        tree_,
        make_disk_tree(context_.directory() / "data", kShape,
                       static_cast<std::uint64_t>(static_cast<double>(pool_bytes_) * database_),
                       KeyOrder::dense));
    report.note("database_bytes", static_cast<double>(tree_.bytes()));
    for (const std::string& name : wanted_) RETURN_IF_ERROR(add(name));
    for (unsigned repetition = 0; repetition < repetitions_; ++repetition) {
      for (const double working_set : working_sets_) {
        for (const System& system : systems_) {
          if (working_set <= system.largest_working_set) {
            measure_one(system, working_set, repetition, report);
          }
        }
      }
    }
    report.print_summary();
    return report.write();
  }

 private:
  Result<> add_tree(const std::string& name) {
    ASSIGN_OR_RETURN(const PoolChoice choice, parse_pool(name));
    return with_pool_of(choice.mode, [&]<class Pool>() -> Result<> {
      ASSIGN_OR_RETURN(
          std::shared_ptr<TreeStore<Pool>> store,
          TreeStore<Pool>::open(tree_.disk->pages(), tree_.root, pool_bytes_, choice.replacement));
      add_store(name, store);
      return {};
    });
  }
  template <class Pool>
  void add_store(const std::string& name, std::shared_ptr<TreeStore<Pool>> store) {
    const auto get = [store](std::uint64_t number, MutableBytes into) {
      return store->get(Key{kShape, number}.bytes(), into);
    };
    systems_.push_back({name, get, [get] { return get; }});
  }

  /// Adds the mode without paging: only data that fits can be measured, so it gets a tree of its
  /// own with the first records.
  Result<> add_main_memory() {
    static NoDisk no_disk;
    const std::uint64_t records = std::min(tree_.records, tree_.records_in(pool_bytes_));
    ASSIGN_OR_RETURN(std::shared_ptr<TreeStore<MainMemoryPool>> store,
                     TreeStore<MainMemoryPool>::create(
                         no_disk, pool_bytes_ + pool_bytes_ / 8 + (std::uint64_t{4} << 20U)));
    for (std::uint64_t i = 0; i < records; ++i) {
      store->insert(Key{kShape, i}.bytes(), Value{kShape, i}.bytes());
    }
    add_store("main_memory", store);
    systems_.back().largest_working_set = 1.0;
    return {};
  }

  Result<> add_mmap() {
    ASSIGN_OR_RETURN(LmdbStore created, LmdbStore::create(context_.directory() / "lmdb",
                                                          tree_.records * 200 + (64U << 20U)));
    auto store = std::make_shared<LmdbStore>(std::move(created));
    std::uint64_t index = 0;
    Key key{kShape, 0};
    Value value{kShape, 0};
    RETURN_IF_ERROR(store->load([&](Bytes& key_bytes, Bytes& value_bytes) {
      if (index == tree_.records) return false;
      key = Key{kShape, index};
      value = Value{kShape, index++};
      key_bytes = key.bytes();
      value_bytes = value.bytes();
      return true;
    }));
    RETURN_IF_ERROR(store->sync());
    auto limit = std::make_shared<ResidencyLimit>(store->map(), pool_bytes_);
    systems_.push_back({"mmap (LMDB)", {}, [store, limit] {
                          auto reader = std::make_shared<LmdbStore::Reader>(*store);
                          return [reader, store, limit](std::uint64_t number, MutableBytes into) {
                            return reader->get(Key{kShape, number}.bytes(), into);
                          };
                        }});
    return {};
  }

  Result<> add(const std::string& name) {
    if (name == "main_memory") return add_main_memory();
    if (name == "mmap") return add_mmap();
    return add_tree(name);
  }

  void measure_one(const System& system, double working_set, unsigned repetition, Report& report) {
    const std::uint64_t records = std::min(
        tree_.records, static_cast<std::uint64_t>(
                           working_set * static_cast<double>(tree_.records_in(pool_bytes_))));
    bring_in(system, std::min(records, tree_.records_in(pool_bytes_)));
    Load load;
    load.threads = threads_;
    load.seconds = seconds_;
    load.warm_up_seconds = seconds_ / 2;
    const Measured measured = measure(load, [&](Worker& worker) {
      Random random{worker.number() + 17};
      const auto get = system.per_thread();
      look_up(
          worker, kShape, working_set > 0.9 ? 8 : kBatch, [&] { return random.below(records); },
          get);
    });
    report.add({system.name, working_set, threads_, repetition, "lookups_per_second",
                measured.per_second()});
    report.add({system.name, working_set, threads_, repetition, "cpu_ns_per_operation",
                measured.cpu_seconds * 1e9 / static_cast<double>(measured.operations)});
  }

  /// Looks up about one record per page in order, so that not all of the warm-up is measured.
  void bring_in(const System& system, std::uint64_t records) {
    measure_once(threads_, [&](Worker& worker) {
      std::array<std::byte, kMaxRecordBytes> buffer;
      const auto get = system.per_thread();
      const std::uint64_t step = std::max<std::uint64_t>(1, tree_.records / tree_.pages * 9 / 10);
      for (std::uint64_t i = worker.number() * step; i < records; i += step * threads_) {
        get(i, buffer);
      }
    });
  }

  std::string id_;
  std::uint64_t pool_bytes_;
  double database_;
  std::vector<double> working_sets_;
  unsigned threads_;
  unsigned repetitions_;
  double seconds_;
  std::vector<std::string> wanted_;
  Context& context_;
  DiskTree tree_;
  std::vector<System> systems_;
};

}  // namespace

Result<> run_g1(Context& context) {
  return MemoryExperiment{context,
                          "G1",
                          {.database = 10,
                           .working_sets = "0.05,0.1,0.25,0.5,0.75,0.9,1.1,1.5,2,4,7,9.9",
                           .few_working_sets = "0.05,0.5,0.9,1.1,2,9.9",
                           .systems = "swizzling,main_memory,traditional"}}
      .run();
}

Result<> run_g2(Context& context) {
  return MemoryExperiment{context,
                          "G2",
                          {.database = 2,
                           .working_sets = "0.8,0.85,0.9,0.95,1.0,1.05,1.1,1.2,1.3,1.4,1.6",
                           .few_working_sets = "0.8,0.9,1.0,1.1,1.6",
                           .systems = "swizzling,main_memory,traditional,mmap"}}
      .run();
}

}  // namespace swizzle::bench
