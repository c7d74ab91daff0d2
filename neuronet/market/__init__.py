"""Trading on bars: what positions would have earned after costs, trade by trade, and how to judge it."""
