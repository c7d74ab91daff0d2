"""``python -m neuronet``: the same as the command ``neuronet``."""

from neuronet.cli import main

if __name__ == "__main__":
    main(prog_name="neuronet")
