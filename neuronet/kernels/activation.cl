// activation.cl: element-wise activations and their derivatives, formulas in common.cl.
//
// Used by   ops/activation.py    Checked against   reference/activation.py
// NeuroNet  DeActivation, without its clamps and with exact derivatives (errata E11)

// grid: n/8
__kernel BY8 void Activate(
    __global const float *z,    // [n]
    __global float *y,          // [n]
    const int n, const int activation)
{
    const int i = 8 * get_global_id(0);
    store8(activate8(load8(z + i, n - i), activation), y + i, n - i);
}

// grid: n/8
__kernel BY8 void DeActivation(
    __global const float *s,    // [n]  output, or pre-activation for GELU and SILU
    __global const float *dy,   // [n]
    __global float *dz,         // [n]
    const int n, const int activation)
{
    const int i = 8 * get_global_id(0);
    store8(load8(dy + i, n - i) * activation_gradient8(load8(s + i, n - i), activation), dz + i, n - i);
}

// --- GPU ------------------------------------------------------------------------------------

// grid: n/4
__kernel void ActivateGPU(
    __global const float *z,    // [n]
    __global float *y,          // [n]
    const int n, const int activation)
{
    const int i = 4 * get_global_id(0), count = n - i, whole = count >= 4;
    const float4 v = line4(z + i, count, whole);
    const float4 a = (float4)(activate(v.s0, activation), activate(v.s1, activation),
                              activate(v.s2, activation), activate(v.s3, activation));
    put_line4(a, y + i, count, whole);
}

// grid: n/4
__kernel void DeActivationGPU(
    __global const float *s,    // [n]  output, or pre-activation for GELU and SILU
    __global const float *dy,   // [n]
    __global float *dz,         // [n]
    const int n, const int activation)
{
    const int i = 4 * get_global_id(0), count = n - i, whole = count >= 4;
    const float4 v = line4(s + i, count, whole);
    const float4 slope = (float4)(activation_gradient(v.s0, activation), activation_gradient(v.s1, activation),
                                  activation_gradient(v.s2, activation), activation_gradient(v.s3, activation));
    put_line4(line4(dy + i, count, whole) * slope, dz + i, count, whole);
}
