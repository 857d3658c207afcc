// L0: random point lookups in memory, value copied out, ours against LMDB and absl::btree_map.
//
// Parameters: --records, --threads 1,2, --seconds, --repetitions, --keys dense|scattered,
// --systems swizzling,main_memory,traditional,lmdb,absl
#include <memory>

#include "bench/baselines/absl_store.h"
#include "bench/baselines/lmdb_store.h"
#include "bench/experiments/all.h"
#include "bench/experiments/comparison.h"
#include "bench/stores/look_up.h"
#include "bench/stores/tree_store.h"
#include "bench/workload.h"

namespace swizzle::bench {
namespace {

constexpr RecordShape kShape = kEightAndOneTwenty;
/// Returns a generator of uniformly random keys.
auto uniform(const Worker& worker, const KeySpace& keys, std::uint64_t records) {
  return [random = Random{worker.number() + 1}, keys, records]() mutable {
    return keys(random.below(records));
  };
}

Result<Arm> lmdb_arm(Context& context, const KeySpace& keys, std::uint64_t records) {
  ASSIGN_OR_RETURN(LmdbStore created,
                   LmdbStore::create(context.directory() / "lmdb", records * 400 + (64U << 20U)));
  auto store = std::make_shared<LmdbStore>(std::move(created));
  std::uint64_t index = 0;
  Key key{kShape, 0};
  Value value{kShape, 0};
  RETURN_IF_ERROR(store->load([&](Bytes& key_bytes, Bytes& value_bytes) {
    if (index == records) return false;
    const std::uint64_t number = keys(index++);
    key = Key{kShape, number};
    value = Value{kShape, number};
    key_bytes = key.bytes();
    value_bytes = value.bytes();
    return true;
  }));
  return Arm{"LMDB", static_cast<double>(records), [store, keys, records](Worker& worker) {
               LmdbStore::Reader reader{*store};
               look_up(worker, kShape, kBatch, uniform(worker, keys, records),
                       [&](std::uint64_t number, MutableBytes into) {
                         return reader.get(Key{kShape, number}.bytes(), into);
                       });
             }};
}

Arm absl_arm(const KeySpace& keys, std::uint64_t records) {
  auto store = std::make_shared<AbslStore>();
  for (std::uint64_t i = 0; i < records; ++i) {
    store->append(keys(i), Value{kShape, keys(i)}.bytes());
  }
  return {"absl::btree_map", static_cast<double>(records), [store, keys, records](Worker& worker) {
            look_up(
                worker, kShape, kBatch, uniform(worker, keys, records),
                [&](std::uint64_t number, MutableBytes into) { return store->get(number, into); });
          }};
}

template <class Pool>
Result<Arm> tree_arm(const KeySpace& keys, std::uint64_t records) {
  static NoDisk no_disk;
  using Store = TreeStore<Pool>;
  ASSIGN_OR_RETURN(std::shared_ptr<Store> store,
                   Store::create(no_disk, records * 260 + (std::uint64_t{64} << 20U)));
  for (std::uint64_t i = 0; i < records; ++i) {
    const std::uint64_t number = keys(i);
    store->insert(Key{kShape, number}.bytes(), Value{kShape, number}.bytes());
  }
  return Arm{std::string{name_of<Pool>()}, static_cast<double>(records),
             [store, keys, records](Worker& worker) {
               look_up(worker, kShape, kBatch, uniform(worker, keys, records),
                       [&](std::uint64_t number, MutableBytes into) {
                         return store->get(Key{kShape, number}.bytes(), into);
                       });
             }};
}

Result<Arm> make_arm(const std::string& system, Context& context, const KeySpace& keys,
                     std::uint64_t records) {
  if (system == "swizzling") return tree_arm<SwizzlingPool>(keys, records);
  if (system == "main_memory") return tree_arm<MainMemoryPool>(keys, records);
  if (system == "traditional") return tree_arm<TraditionalPool>(keys, records);
  if (system == "lmdb") return lmdb_arm(context, keys, records);
  if (system == "absl") return absl_arm(keys, records);
  return fail(sqlstate::invalid_parameter_value, "no such system: " + system);
}

}  // namespace

Result<> run_l0(Context& context) {
  CommandLine& options = context.options();
  const std::uint64_t records =
      options.number("records", context.by_scale<std::uint64_t>(10'000'000, 1'000'000, 10'000));
  const bool scattered = options.text("keys", "dense") == "scattered";
  Plan plan;
  plan.load.seconds = options.real("seconds", context.by_scale(3.0, 0.5, 0.02));
  plan.load.warm_up_seconds = plan.load.seconds / 4;
  plan.repetitions =
      static_cast<unsigned>(options.number("repetitions", context.by_scale(7U, 1U, 1U)));
  plan.metric = "lookups_per_second";
  plan.threads.clear();
  for (const double threads : options.reals("threads", "1,2")) {
    plan.threads.push_back(static_cast<unsigned>(threads));
  }
  const std::vector<std::string> systems =
      options.list("systems", "swizzling,main_memory,traditional,lmdb,absl");
  RETURN_IF_ERROR(options.finish());

  const KeySpace keys{records, scattered ? KeyOrder::scattered : KeyOrder::dense};
  Report report{"L0", "records", context.csv()};
  report.note("records", "8-byte keys, 120-byte values, uniform, value copied out and checked");
  report.note("keys", scattered ? "scattered" : "dense");
  std::vector<Arm> arms;
  for (const std::string& system : systems) {
    ASSIGN_OR_RETURN(Arm arm, make_arm(system, context, keys, records));
    arms.push_back(std::move(arm));
  }
  compare(plan, arms, report);
  report.print_summary();
  return report.write();
}

}  // namespace swizzle::bench
