"""Synthetic series without end, from which a forecaster learns before it sees any data.

The prior of Mamba4Cast (arXiv 2410.09385): 70 % draws of Gaussian processes, 30 % trends with calendar
seasons as in ForecastPFN (arXiv 2311.01933), each with its time stamps. ``settings.Prior`` holds the
parameters, ``draw.draw`` gives the series: one seed, one set of series, whatever the number of processes.
"""
