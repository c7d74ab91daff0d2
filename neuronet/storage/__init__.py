"""Model files: named arrays and JSON documents in HDF5, written whole or not at all."""
