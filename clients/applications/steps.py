"""What every program here says: a line for each step that worked, and the reason for the first that did not."""
import contextlib
import sys
import traceback


@contextlib.contextmanager
def step(name):
    try:
        yield
    except BaseException as error:
        traceback.print_exc()
        said = str(error).strip().splitlines()
        print(f"FAIL {name}: {type(error).__name__}: {said[0] if said else ''}", flush=True)
        sys.exit(1)
    print(f"ok {name}", flush=True)
