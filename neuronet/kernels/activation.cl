// activation.cl: element-wise activations and their derivatives, formulas in common.cl.
//
// Used by   ops/activation.py    Checked against   reference/activation.py
// NeuroNet  DeActivation, without its clamps and with exact derivatives (errata E11)

// grid: n
__kernel void Activate(
    __global const float *z,    // [n]
    __global float *y,          // [n]
    const int activation)
{
    const int i = get_global_id(0);
    y[i] = activate(z[i], activation);
}

// grid: n
__kernel void DeActivation(
    __global const float *s,    // [n]  output, or pre-activation for GELU and SILU
    __global const float *dy,   // [n]
    __global float *dz,         // [n]
    const int activation)
{
    const int i = get_global_id(0);
    dz[i] = dy[i] * activation_gradient(s[i], activation);
}
