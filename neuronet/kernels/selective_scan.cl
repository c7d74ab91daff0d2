// selective_scan.cl: outputs of Mamba-2's recurrence over time, all chunks of 64 steps at once.
//
//   h[t] = decay[t] h[t-1] + delta[t] B[t] x[t]'         y[t] = C[t]' h[t] + d x[t]
//   delta = softplus(...)                                decay = exp(delta a), a = -exp(a_log)
//
// for each head of head_dim channels, h [state, head_dim]. B and C serve all heads. A row of xbc is
// x (heads * head_dim) | B (state) | C (state); the step sizes come from the end of a wider row.
// Each chunk begins with its state from scan_states.cl.
//
// Used by   ops/selective_scan.py     Checked against   reference/selective_scan.py
// Source    Dao & Gu, arXiv:2405.21060. NeuroNet's CNeuronSSMOCL has no scan (errata F19, F20).
// Overwrites delta, decay and y; ScanStepsGradient multiplies in place.

#define CHUNK 64
#define TINY 1e-30f     // a decay below it is 0: subnormal numbers make a CPU 4 times slower

// --- any device ----------------------------------------------------------------------------

// grid: heads, length, batch
__kernel void ScanSteps(
    __global const float *rows,     // [batch, length, width]
    __global const float *a_log,    // [heads]
    __global float *delta,          // [batch, length, heads]
    __global float *decay,          // [batch, length, heads]
    const int length, const int width, const int heads)
{
    const int head = get_global_id(0), row = get_global_id(2) * length + get_global_id(1);
    const float step = activate(rows[(row + 1) * width - heads + head], ACT_SOFTPLUS);
    delta[row * heads + head] = step;
    const float kept = exp(-exp(a_log[head]) * step);
    decay[row * heads + head] = kept < TINY ? 0.0f : kept;
}

// From dL/d(delta) at the end of each row to the gradient in front of softplus. A kernel of its own, because
// Intel's CPU compiler (2026.22) takes exp() from the wrong lane in work-groups of 64.
// grid: heads, length, batch
__kernel void ScanStepsGradient(
    __global const float *delta,    // [batch, length, heads]
    __global float *drows,          // [batch, length, width]
    const int length, const int width, const int heads)
{
    const int head = get_global_id(0), row = get_global_id(2) * length + get_global_id(1);
    drows[(row + 1) * width - heads + head] *= activation_gradient(delta[row * heads + head], ACT_SOFTPLUS);
}

// grid: head_dim, (boundaries - 1)*heads, batch
__kernel void ScanOutputs(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *delta,    // [batch, length, heads]
    __global const float *decay,    // [batch, length, heads]
    __global const float *d,        // [heads]
    __global const float *states,   // [batch, boundaries, heads, state, head_dim]
    __global float *y,              // [batch, length, heads, head_dim]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim)
{
    const int p = get_global_id(0), chunk = get_global_id(1) / heads, head = get_global_id(1) % heads;
    const int n = get_global_id(2), first = chunk * CHUNK, last = min(first + CHUNK, length) - 1;
    xbc += n * length * channels;
    y += (n * length * heads + head) * head_dim + p;
    for (int t = first; t <= last; ++t)
        y[t * heads * head_dim] = d[head] * xbc[t * channels + head * head_dim + p];
    for (int i = 0; i < state; ++i) {
        float h = states[(((n * boundaries + chunk) * heads + head) * state + i) * head_dim + p];
        for (int t = first; t <= last; ++t) {
            const int at = (n * length + t) * heads + head;
            __global const float *x = xbc + t * channels, *b = x + heads * head_dim + i;
            h = decay[at] * h + delta[at] * x[head * head_dim + p] * b[0];
            y[t * heads * head_dim] += b[state] * h;
        }
    }
}

// --- CPU: 8 channels in the lanes, 8 x 8 values in registers ----------------------------------------

// group: 1, 1, 1
// grid: head_dim/8, (boundaries - 1)*heads, batch
__kernel void ScanOutputsCPU(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *delta,    // [batch, length, heads]
    __global const float *decay,    // [batch, length, heads]
    __global const float *d,        // [heads]
    __global const float *states,   // [batch, boundaries, heads, state, head_dim]
    __global float *y,              // [batch, length, heads, head_dim]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim)
{
    const int p = 8 * get_global_id(0), chunk = get_global_id(1) / heads, head = get_global_id(1) % heads;
    const int n = get_global_id(2), first = chunk * CHUNK, steps = min(CHUNK, length - first);
    const int columns = head_dim - p;
    float8 u[CHUNK], sum[CHUNK];
    float a[CHUNK];
    xbc += (n * length + first) * channels;
    for (int t = 0; t < steps; ++t) {
        const int at = (n * length + first + t) * heads + head;
        const float8 x = load8(xbc + t * channels + head * head_dim + p, columns);
        a[t] = decay[at];
        u[t] = delta[at] * x;
        sum[t] = d[head] * x;
    }
    states += ((n * boundaries + chunk) * heads + head) * state * head_dim + p;
    for (int i0 = 0; i0 < state; i0 += 8) {
        const int count = min(8, state - i0);
        float8 h[8], b[CHUNK], c[CHUNK];
        for (int t = 0; t < steps; ++t) {
            b[t] = load8(xbc + t * channels + heads * head_dim + i0, count);
            c[t] = load8(xbc + t * channels + heads * head_dim + state + i0, count);
        }
        #pragma unroll
        for (int i = 0; i < 8; ++i)
            h[i] = load8(states + (i0 + i) * head_dim, i < count ? columns : 0);
        for (int t = 0; t < steps; ++t) {
            const float *bt = (const float *)&b[t], *ct = (const float *)&c[t];
            float8 even = 0.0f, odd = 0.0f;
            #pragma unroll
            for (int i = 0; i < 8; i += 2) {
                h[i] = a[t] * h[i] + bt[i] * u[t];
                h[i + 1] = a[t] * h[i + 1] + bt[i + 1] * u[t];
                even += ct[i] * h[i];
                odd += ct[i + 1] * h[i + 1];
            }
            sum[t] += even + odd;
        }
    }
    y += ((n * length + first) * heads + head) * head_dim + p;
    for (int t = 0; t < steps; ++t)
        store8(sum[t], y + t * heads * head_dim, columns);
}

// --- GPU: a chunk as products of matrices -------------------------------------------------------------

#define ITEMS 128
#include "tile.clh"
#include "scan_chunk.clh"

// group: 128, 1, 1
// grid: head_dim/64*128, (boundaries - 1)*heads, batch
__kernel void ScanOutputsGPU(
    __global const float *xbc,      // [batch, length, channels]
    __global const float *delta,    // [batch, length, heads]
    __global const float *decay,    // [batch, length, heads]
    __global const float *d,        // [heads]
    __global const float *states,   // [batch, boundaries, heads, state, head_dim]
    __global float *y,              // [batch, length, heads, head_dim]
    const int length, const int channels, const int heads, const int boundaries, const int state,
    const int head_dim)
{
    __local float4 weight[MATRIX], tiles[2 * TILE];
    __local float kept[CHUNK], scale[CHUNK], rest[CHUNK];
    const int id = get_local_id(0), p0 = CHUNK * get_group_id(0), columns = min(CHUNK, head_dim - p0);
    const int chunk = get_global_id(1) / heads, head = get_global_id(1) % heads, n = get_global_id(2);
    const int row = n * length + chunk * CHUNK, steps = min(CHUNK, length - chunk * CHUNK);
    if (id < CHUNK) {
        kept[id] = id < steps ? decay[(row + id) * heads + head] : 1.0f;
        scale[id] = id < steps ? delta[(row + id) * heads + head] : 0.0f;
    }
    xbc += row * channels;
    states += ((n * boundaries + chunk) * heads + head) * state * head_dim + p0;
    __global const float *b = xbc + heads * head_dim, *x = xbc + head * head_dim + p0;
    const int aligned = (head_dim | state) % 4 == 0;
    float4 sum[8];
    scan_chunk(b + state, channels, b, channels, x, channels, states, head_dim, 0, steps, state, columns,
               aligned, d[head], kept, scale, rest, weight, tiles, sum);
    store_rows(sum, 0, y + (row * heads + head) * head_dim + p0, heads * head_dim, steps, columns, aligned);
}
