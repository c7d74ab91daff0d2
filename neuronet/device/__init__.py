"""Devices: where arrays live and kernels run. The only package that imports pyopencl."""
