"""The training loop: a net, its data on the device, where it stands, and its checkpoints; knows no bars."""
