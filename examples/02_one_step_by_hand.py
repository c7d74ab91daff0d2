"""One training step without ``fit``: every method of the explicit framework, and every buffer."""

import numpy as np

import neuronet as nn

rng = np.random.default_rng(0)
x, target = rng.standard_normal((8, 10, 3)), rng.standard_normal((8, 2))

net = nn.CNet(
    input_shape=(10, 3),
    layers=[
        nn.CNeuronConvOCL(window=6, step=3, window_out=4, activation="GELU"),
        nn.CNeuronDenseOCL(neurons=2),
    ],
    batch=8,
    optimizer=nn.Adam(lr=0.01),
).build(nn.find_device(), seed=0)

net.feedForward(x)
loss = net.calcGradients(target)  # loss and gradients, no update
for layer in net.layers:
    print(type(layer).__name__)
    print(f"  output   {list(layer.output.shape)}  mean {layer.output.read().mean():+.4f}")
    print(f"  gradient {list(layer.gradient.shape)}  norm {np.linalg.norm(layer.gradient.read()):.4f}")
    for p in layer.parameters:
        print(f"  {p.name:8} {list(p.shape)}  |dL/d{p.name}| {np.linalg.norm(p.gradient.read()):.4f}")

for _ in range(100):
    net.feedForward(x)
    last = net.backProp(target)  # the same, then one step of Adam
print(f"loss {loss:.4f} -> {last:.4f} in 100 steps")
