// adam.cl: Adam over any flat piece of the parameter pool; the maths is adam() in common.cl.
//
// Used by   ops/adam.py          Checked against   reference/adam.py

// grid: n
__kernel void AdamStep(
    __global float *w,              // [n]
    __global float *g,              // [n]  set to zero after use
    __global float *m,              // [n]
    __global float *v,              // [n]
    __global const float *hyper)    // [hyper]
{
    const int i = get_global_id(0);
    adam(w + i, m + i, v + i, g[i], hyper);
    g[i] = 0.0f;
}
