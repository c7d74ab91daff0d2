"""Anomalies in several channels: scores, thresholds without labels, honest metrics, alarms. No net here."""
