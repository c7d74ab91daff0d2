"""Tools for testing kernels and layers, one's own included: gradcheck, guards and comparisons."""
