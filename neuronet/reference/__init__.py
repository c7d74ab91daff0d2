"""NumPy twins: for every kernel a function of the same name, its definition and what NumpyDevice runs."""
