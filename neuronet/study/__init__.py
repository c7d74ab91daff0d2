"""study: actors that learn from experience: offline (study), and bar by bar (online)."""
