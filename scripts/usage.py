"""Imported by the scripts in Python before anything else: asked for --help, one prints the text at its head. Those that
read their words by argparse need it not."""
import sys

import __main__

if sys.argv[1:2] in (["-h"], ["--help"]):
    print((__main__.__doc__ or "").strip())
    raise SystemExit(0)
