"""The Gen 1 engine: Numba kernels that play thousands of battles, equal to Showdown's."""
