"""What `benchmarks/attacks.py` runs in every sandbox: the attacks of the tests and several hundred others.

`PYTHONPATH=src:tests/cage:benchmarks python -m attacks --catalogue attack_catalogue.catalogue` runs them in one.
"""
