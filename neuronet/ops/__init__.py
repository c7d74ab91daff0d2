"""Ops: stateless functions over device arrays. They allocate nothing and know no layers."""
