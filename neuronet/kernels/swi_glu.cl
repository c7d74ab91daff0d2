// swi_glu.cl: the gate inside a SwiGLU feed-forward part, on rows of u | v as one linear layer makes them.
//
//   z = u v sigmoid(v)
//   du = dz v sigmoid(v)        dv = dz u sigmoid(v) (1 + v (1 - sigmoid(v)))
//
// Used by   ops/swi_glu.py       Checked against   reference/swi_glu.py

// grid: hidden/8, rows
__kernel BY8 void SwiGLU(
    __global const float *uv,       // [rows, wide]     wide = 2 hidden
    __global float *z,              // [rows, hidden]
    const int wide, const int hidden)
{
    const int i = 8 * get_global_id(0), row = get_global_id(1), count = hidden - i;
    __global const float *u = uv + row * wide + i;
    const float8 v = load8(u + hidden, count);
    store8(load8(u, count) * v / (1.0f + exp(-v)), z + row * hidden + i, count);
}

// grid: hidden/8, rows
__kernel BY8 void SwiGLUGradient(
    __global const float *uv,       // [rows, wide]
    __global const float *dz,       // [rows, hidden]
    __global float *duv,            // [rows, wide]
    const int wide, const int hidden)
{
    const int i = 8 * get_global_id(0), row = get_global_id(1), count = hidden - i;
    __global const float *u = uv + row * wide + i;
    __global float *du = duv + row * wide + i;
    const float8 v = load8(u + hidden, count), s = 1.0f / (1.0f + exp(-v));
    const float8 slope = load8(dz + row * hidden + i, count);
    store8(slope * v * s, du, count);
    store8(slope * load8(u, count) * s * (1.0f + v * (1.0f - s)), du + hidden, count);
}
