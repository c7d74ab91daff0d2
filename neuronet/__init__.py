"""neuronet: neural nets for price bars in NumPy and OpenCL, after MQL5 NeuroNet."""
