"""The command line for a cluster on loopback: what Ray would replace by the machine's address stays as it is."""

from ray._private import services

services.resolve_ip_for_localhost = lambda host: host

from assay.__main__ import main

if __name__ == "__main__":
    main()
