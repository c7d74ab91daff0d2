// multi_windows_weights.cl: gradients of the weights of multi_windows_conv.cl, whose formula and layouts hold.
//
//   dw[k*dimension + d, f] += sum_nu dz[n,u,q,f] * x[n, u*step + starts[q] + k, d]      db[q,f] += sum_nu dz[n,u,q,f]
//
// Used by   ops/multi_windows_weights.py     Checked against   reference/multi_windows_weights.py
// NeuroNet  UpdateWeightsMultWinConvAdamWPad; errata D8-D11
// WeightGradient... adds to dw and db; UpdateWeights... takes an Adam step from the same sums instead.

// --- any device ----------------------------------------------------------------------------

// Gradient of tap k of filter f of window q, or of the filter's bias for k < 0
static float weight_gradient(
    __global const float *x, __global const float *dz, const int q, const int f, const int k, const int start,
    const int batch, const int inputs, const int dimension, const int windows, const int window_out,
    const int units, const int step)
{
    float sum = 0.0f;
    for (int n = 0; n < batch; ++n)
        for (int u = 0; u < units; ++u) {
            const float d = dz[((n * units + u) * windows + q) * window_out + f];
            const int at = (u * step + start) * dimension + k;
            if (k < 0) sum += d;
            else if (at >= 0 && at < inputs * dimension) sum += d * x[n * inputs * dimension + at];
        }
    return sum;
}

// Work-item t of taps + windows: the window of tap t, or of a bias; returns t in its window, -1 for a bias
static int tap_of(__global const int *windows_in, const int taps, const int dimension, int t, int *q)
{
    *q = t - taps;
    if (t >= taps) return -1;
    for (*q = 0; t >= windows_in[*q] * dimension; ++*q)
        t -= windows_in[*q] * dimension;
    return t;
}

// grid: window_out, taps + windows
__kernel void WeightGradientMultWinConvWPad(
    __global const float *x,            // [batch, inputs, dimension]
    __global const float *dz,           // [batch, units, windows, window_out]
    __global const int *windows_in,     // [windows]
    __global const int *starts,         // [windows]
    __global float *dw,                 // [taps, window_out]
    __global float *db,                 // [windows, window_out]
    const int batch, const int inputs, const int dimension, const int windows, const int window_out,
    const int units, const int taps, const int step)
{
    const int f = get_global_id(0), t = get_global_id(1);
    int q;
    const int k = tap_of(windows_in, taps, dimension, t, &q);
    const float g = weight_gradient(x, dz, q, f, k, starts[q], batch, inputs, dimension, windows, window_out,
                                    units, step);
    if (k < 0) db[q * window_out + f] += g;
    else dw[t * window_out + f] += g;
}

// grid: window_out, taps + windows
__kernel void UpdateWeightsMultWinConvAdamWPad(
    __global const float *x,            // [batch, inputs, dimension]
    __global const float *dz,           // [batch, units, windows, window_out]
    __global const int *windows_in,     // [windows]
    __global const int *starts,         // [windows]
    __global float *w,                  // [taps, window_out]
    __global float *b,                  // [windows, window_out]
    __global float *w_m,                // [taps, window_out]
    __global float *w_v,                // [taps, window_out]
    __global float *b_m,                // [windows, window_out]
    __global float *b_v,                // [windows, window_out]
    __global const float *hyper,        // [9]
    const int batch, const int inputs, const int dimension, const int windows, const int window_out,
    const int units, const int taps, const int step)
{
    const int f = get_global_id(0), t = get_global_id(1);
    int q;
    const int k = tap_of(windows_in, taps, dimension, t, &q);
    const float g = weight_gradient(x, dz, q, f, k, starts[q], batch, inputs, dimension, windows, window_out,
                                    units, step);
    const int at = (k < 0 ? q : t) * window_out + f;
    if (k < 0) adam(b + at, b_m + at, b_v + at, g, hyper);
    else adam(w + at, w_m + at, w_v + at, g, hyper);
}

// --- CPU: sums of 6 taps x 16 filters at a time in registers --------------------------------------------

// The first row of w that belongs to window q
static int first_tap(__global const int *windows_in, const int q, const int dimension)
{
    int before = 0;
    for (int p = 0; p < q; ++p)
        before += windows_in[p];
    return before * dimension;
}

#define TAPS 48     // per work-item of a weight gradient, beside 16 filters
#define ROWS 64     // units per pass over them, whose values stay in the L1 cache

// g[2*t], g[2*t + 1] += sum over samples and units of x[.., t] * dz[.., 16 filters] for 6 taps from k on
static void add_taps(__global const float *x, __global const float *dz, const int k, const int last_tap,
                     const int start, const int n0, const int n1, const int u0, const int u1, const int size,
                     const int dimension, const int row, const int units, const int step, const int columns,
                     float8 *g)
{
    float8 lo[6], hi[6];
    int tap[6];
    #pragma unroll
    for (int t = 0; t < 6; ++t) {
        tap[t] = min(k + t, last_tap);
        lo[t] = g[2 * t];
        hi[t] = g[2 * t + 1];
    }
    const int stride = step * dimension, origin = start * dimension, room = size - 1 - origin - tap[5];
    const int in0 = clamp((max(0, -origin - k) + stride - 1) / stride, u0, u1);     // units in0 ... in1 - 1 have
    const int in1 = clamp(room < 0 ? 0 : room / stride + 1, in0, u1);               // all taps inside
    for (int n = n0; n < n1; ++n)
        for (int u = in0; u < in1; ++u) {
            __global const float *xs = x + n * size + u * stride + origin, *ds = dz + (n * units + u) * row;
            const float8 d_lo = load8(ds, columns), d_hi = load8(ds + 8, columns - 8);
            #pragma unroll
            for (int t = 0; t < 6; ++t) {
                lo[t] += xs[tap[t]] * d_lo;
                hi[t] += xs[tap[t]] * d_hi;
            }
        }
    for (int n = n0; n < n1; ++n)
        for (int e = u0; e < u1 - (in1 - in0); ++e) {
            const int u = e < in0 ? e : e + in1 - in0, at = u * stride + origin;
            __global const float *xs = x + n * size + at, *ds = dz + (n * units + u) * row;
            const float8 d_lo = load8(ds, columns), d_hi = load8(ds + 8, columns - 8);
            #pragma unroll
            for (int t = 0; t < 6; ++t) {
                const float value = (uint)(at + tap[t]) < (uint)size ? xs[tap[t]] : 0.0f;
                lo[t] += value * d_lo;
                hi[t] += value * d_hi;
            }
        }
    #pragma unroll
    for (int t = 0; t < 6; ++t) {
        g[2 * t] = lo[t];
        g[2 * t + 1] = hi[t];
    }
}

// Block t of taps/48 + windows: its window q and its first tap in there, -1 for a block too many
static int block_of(__global const int *windows_in, const int windows, const int dimension, int t, int *q)
{
    for (*q = 0; *q < windows; ++*q) {
        const int blocks = (windows_in[*q] * dimension + TAPS - 1) / TAPS;
        if (t < blocks) return TAPS * t;
        t -= blocks;
    }
    return -1;
}

// Gradients of 48 taps x 16 filters from tap `first` of window q on, dz at its first filter
static void weight_sums(__global const float *x, __global const float *dz, const int first, const int last_tap,
                        const int start, const int batch, const int size, const int dimension, const int row,
                        const int units, const int step, const int columns, float8 *g)
{
    const int some = max(1, ROWS / units);
    for (int i = 0; i < 2 * TAPS; ++i)
        g[i] = 0.0f;
    for (int n = 0; n < batch; n += some)
        for (int u = 0; u < units; u += ROWS)
            for (int k = first; k <= min(first + TAPS - 1, last_tap); k += 6)
                add_taps(x, dz, k, last_tap, start, n, min(n + some, batch), u, min(u + ROWS, units), size,
                         dimension, row, units, step, columns, g + 2 * (k - first));
}

// Gradients of 8 biases
static float8 bias_sums(__global const float *dz, const int row, const int rows, const int columns)
{
    float8 sum = 0.0f;
    for (int r = 0; r < rows; ++r)
        sum += load8(dz + r * row, columns);
    return sum;
}

// group: 1, 1
// grid: taps/48 + windows, window_out/16
__kernel void WeightGradientMultWinConvWPadCPU(
    __global const float *x,            // [batch, inputs, dimension]
    __global const float *dz,           // [batch, units, windows, window_out]
    __global const int *windows_in,     // [windows]
    __global const int *starts,         // [windows]
    __global float *dw,                 // [taps, window_out]
    __global float *db,                 // [windows, window_out]
    const int batch, const int inputs, const int dimension, const int windows, const int window_out,
    const int units, const int step)
{
    const int f = 16 * get_global_id(1), columns = window_out - f, row = windows * window_out;
    int q;
    const int first = block_of(windows_in, windows, dimension, get_global_id(0), &q);
    if (first < 0) return;
    const int taps = windows_in[q] * dimension;
    float8 g[2 * TAPS];
    dz += q * window_out + f;
    dw += (first_tap(windows_in, q, dimension) + first) * window_out + f;
    db += q * window_out + f;
    weight_sums(x, dz, first, taps - 1, starts[q], batch, inputs * dimension, dimension, row, units, step,
                columns, g);
    for (int j = 0; j < min(16, columns); j += 8) {
        const int count = columns - j;
        for (int t = 0; t < min(TAPS, taps - first); ++t) {
            __global float *to = dw + t * window_out + j;
            store8(load8(to, count) + g[2 * t + j / 8], to, count);
        }
        if (first == 0)
            store8(load8(db + j, count) + bias_sums(dz + j, row, batch * units, count), db + j, count);
    }
}

// group: 1, 1
// grid: taps/48 + windows, window_out/16
__kernel void UpdateWeightsMultWinConvAdamWPadCPU(
    __global const float *x,            // [batch, inputs, dimension]
    __global const float *dz,           // [batch, units, windows, window_out]
    __global const int *windows_in,     // [windows]
    __global const int *starts,         // [windows]
    __global float *w,                  // [taps, window_out]
    __global float *b,                  // [windows, window_out]
    __global float *w_m,                // [taps, window_out]
    __global float *w_v,                // [taps, window_out]
    __global float *b_m,                // [windows, window_out]
    __global float *b_v,                // [windows, window_out]
    __global const float *hyper,        // [9]
    const int batch, const int inputs, const int dimension, const int windows, const int window_out,
    const int units, const int step)
{
    const int f = 16 * get_global_id(1), columns = window_out - f, row = windows * window_out;
    int q;
    const int first = block_of(windows_in, windows, dimension, get_global_id(0), &q);
    if (first < 0) return;
    const int taps = windows_in[q] * dimension;
    const int to_w = (first_tap(windows_in, q, dimension) + first) * window_out + f, to_b = q * window_out + f;
    float8 g[2 * TAPS];
    dz += to_b;
    weight_sums(x, dz, first, taps - 1, starts[q], batch, inputs * dimension, dimension, row, units, step,
                columns, g);
    for (int j = 0; j < min(16, columns); j += 8) {
        const int count = columns - j;
        for (int t = 0; t < min(TAPS, taps - first); ++t) {
            const int at = to_w + t * window_out + j;
            adam8(w + at, w_m + at, w_v + at, g[2 * t + j / 8], count, hyper);
        }
        if (first == 0) {
            const int at = to_b + j;
            adam8(b + at, b_m + at, b_v + at, bias_sums(dz + j, row, batch * units, count), count, hyper);
        }
    }
}

// --- GPU: rows are split among work-groups, and a second launch adds what they found -----------------------

#include "parts.clh"

// Sums of 16 taps x 16 filters in a work-group of 16 x 16, over ``some`` rows. Taps of all windows are numbered
// through; behind them come the biases, whose x is 1. Each of 16 lanes sums every 16th row, 4 x 4 weights per
// work-item; then the lanes are added in order.
// group: 16, 16, 1
// grid: window_out, weights, splits
__kernel void WeightPartsMultWinConvWPad(
    __global const float *x,            // [batch, inputs, dimension]
    __global const float *dz,           // [batch, units, windows, window_out]
    __global const int *windows_in,     // [windows]
    __global const int *starts,         // [windows]
    __global float *parts,              // [splits, weights, window_out]
    const int batch, const int inputs, const int dimension, const int windows, const int window_out,
    const int units, const int weights, const int step, const int some)
{
    __local float part[16 * 256];
    const int lx = get_local_id(0), lane = get_local_id(1), f0 = 16 * get_group_id(0), t0 = 16 * get_group_id(1);
    const int tap = 4 * (lx % 4), filter = 4 * (lx / 4), size = inputs * dimension;
    const int last = min(batch * units, (int)(get_group_id(2) + 1) * some);
    int q[4], at[4];
    bool bias[4];
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
        const int t = min(t0 + tap + j, weights - 1);
        const int k = tap_of(windows_in, weights - windows, dimension, t, &q[j]);
        bias[j] = k < 0;
        at[j] = starts[q[j]] * dimension + k;
    }
    float4 sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};       // of each tap, over filters
    for (int r = get_group_id(2) * some + lane; r < last; r += 16) {
        const int n = r / units, u = r % units;
        #pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int i = u * step * dimension + at[j];
            const float value = bias[j] ? 1.0f : i >= 0 && i < size ? x[n * size + i] : 0.0f;
            float ds[4];
            #pragma unroll
            for (int c = 0; c < 4; ++c)
                ds[c] = dz[(r * windows + q[j]) * window_out + min(f0 + filter + c, window_out - 1)];
            sum[j] += value * vload4(0, ds);
        }
    }
    #pragma unroll
    for (int j = 0; j < 4; ++j)
        vstore4(sum[j], 0, part + lane * 256 + (tap + j) * 16 + filter);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (f0 + lx >= window_out || t0 + lane >= weights) return;
    float g = 0.0f;
    for (int i = 0; i < 16; ++i)
        g += part[i * 256 + lane * 16 + lx];        // tap `lane`, filter `lx`
    parts[(get_group_id(2) * weights + t0 + lane) * window_out + f0 + lx] = g;
}

// group: 32, 8
// grid: weights*window_out, 8
__kernel void AddWeightPartsMultWinConvWPad(
    __global const float *parts,        // [splits, weights, window_out]
    __global float *dw,                 // [taps, window_out]
    __global float *db,                 // [windows, window_out]
    const int splits, const int weights, const int taps, const int window_out)
{
    __local float all[ADDING * LANES];
    const int at = get_global_id(0), size = weights * window_out, biases = taps * window_out;
    const float g = parts_together(parts, splits, size, at, at < size, all);
    if (get_local_id(1) > 0 || at >= size) return;
    if (at < biases) dw[at] += g;
    else db[at - biases] += g;
}

// group: 32, 8
// grid: weights*window_out, 8
__kernel void UpdateWeightPartsMultWinConvAdamWPad(
    __global const float *parts,        // [splits, weights, window_out]
    __global float *w,                  // [taps, window_out]
    __global float *b,                  // [windows, window_out]
    __global float *w_m,                // [taps, window_out]
    __global float *w_v,                // [taps, window_out]
    __global float *b_m,                // [windows, window_out]
    __global float *b_v,                // [windows, window_out]
    __global const float *hyper,        // [9]
    const int splits, const int weights, const int taps, const int window_out)
{
    __local float all[ADDING * LANES];
    const int at = get_global_id(0), size = weights * window_out, biases = taps * window_out;
    const float g = parts_together(parts, splits, size, at, at < size, all);
    if (get_local_id(1) > 0 || at >= size) return;
    if (at < biases) adam(w + at, w_m + at, w_v + at, g, hyper);
    else adam(b + at - biases, b_m + at - biases, b_v + at - biases, g, hyper);
}
