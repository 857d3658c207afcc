"""Known defects of base/ for scripts/planted-faults, which puts them back one at a time."""

PRESET = "release"
TARGET = "swizzle_base_tests"
PROGRAM = "base/swizzle_base_tests"
TESTS = [["~[.]"]]

# (name, file in the folder, the right piece, the wrong one, the tests to run: all unless told)
FAULTS = [
    (
        "half of a surrogate pair is text",
        "utf8.cpp",
        "  if (lead == 0xed && byte(1) > 0x9f) return 0;\n",
        "",
        "text is valid UTF-8*",
    ),
    (
        "who has no stack is not told",
        "fibers/reactor.cpp",
        "  if (!fiber.refused_) return add_ready(fiber);\n  fiber.refused_();\n",
        "  if (!fiber.refused_) return add_ready(fiber);\n",
        "a fiber for which there is no stack*",
    ),
]
