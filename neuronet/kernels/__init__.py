"""OpenCL C sources, one .cl file an op; common.cl is compiled in front of each."""
