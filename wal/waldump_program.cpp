// swizzle-waldump with the log's own record kinds: for logs of any program, and where nobody links
// storage's registry.
#include "wal/waldump.h"

int main(int argc, char** argv) {
  return swizzle::wal::waldump_main(argc, argv, swizzle::wal::RecordKinds{});
}
