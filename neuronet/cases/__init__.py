"""Cases: one description of an op at one size serves tests, selfcheck and bench."""
