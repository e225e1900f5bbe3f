"""`python -m extrinsic` is the command line."""

from extrinsic.cli.main import main

raise SystemExit(main())
