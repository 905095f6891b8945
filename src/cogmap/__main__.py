"""`python -m cogmap` is `cogmap`."""

import sys

from cogmap.cli import main

sys.exit(main())
