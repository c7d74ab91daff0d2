"""General time series: reading them, their frequency, measures of forecasts, the zero-shot evaluation."""
