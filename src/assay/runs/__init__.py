"""Run resumable work over items: keep its records, and run it on this machine or a cluster."""
