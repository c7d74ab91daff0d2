"""Price bars: reading them from files, features, targets, windows, splits and scaling."""
