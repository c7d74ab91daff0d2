// split_weights.cl: gradients of weights that are sums over many rows, such as those of a linear layer that every
// unit of a batch goes through.
//
//   dw[f,k] += sum_r dz[r,f] x[r,k]        db[f] += sum_r dz[r,f]
//
// The rows are split into parts, and a second launch adds the parts in their order: so even 32 x 32 weights
// keep all of a device busy, two runs agree, and a CPU reads each row once.
//
// Used by   ops/split_weights.py        Checked against   reference/split_weights.py

#include "tile.clh"

// --- a work-group of 8 x 8 sums a part for 32 x 32 weights; on a GPU, where they are many, for 64 x 64 ------------

#define DEPTH 16    // rows that it takes at a time

// For 32 * blocks weights down and across, where `blocks` is a constant
static void sum_part(__global const float *x, __global const float *dz, __global float *parts, const int rows,
                     const int window, const int window_out, const int columns, const int some,
                     __local float4 *x_tile, __local float4 *dz_tile, const int blocks, const int whole)
{
    const int lx = get_local_id(0), ly = get_local_id(1), id = 8 * ly + lx, side = 32 * blocks;
    const int part = get_group_id(2), k0 = side * get_group_id(0), f0 = side * get_group_id(1);
    const int begin = part * some, last = min(rows, begin + some);
    float4 sum[2][8], bias = 0.0f, next_x[4], next_dz[4];   // next: on their way while the rows before are summed
    #pragma unroll
    for (int i = 0; i < 8; ++i)
        sum[0][i] = sum[1][i] = 0.0f;
    fetch(x, window, 0, k0, window, begin, last, id, side, DEPTH, whole, next_x);
    fetch(dz, window_out, 0, f0, window_out, begin, last, id, side, DEPTH, whole, next_dz);
    for (int first = begin; first < last; first += DEPTH) {
        put(x_tile, 0, id, side, DEPTH, next_x);
        put(dz_tile, 0, id, side, DEPTH, next_dz);
        #pragma unroll
        for (int n = 0; n < side * DEPTH / ITEMS / 4; ++n)
            bias += next_dz[n];                             // of outputs that all n have in common
        barrier(CLK_LOCAL_MEM_FENCE);
        fetch(x, window, 0, k0, window, first + DEPTH, last, id, side, DEPTH, whole, next_x);
        fetch(dz, window_out, 0, f0, window_out, first + DEPTH, last, id, side, DEPTH, whole, next_dz);
        #pragma unroll
        for (int r = 0; r < DEPTH; ++r) {
            #pragma unroll
            for (int u = 0; u < blocks; ++u) {
                const float4 q = x_tile[r * PITCH(side) + lx + 8 * u];
                #pragma unroll
                for (int d = 0; d < blocks; ++d)
                    add_rows(sum[u] + 4 * d, dz_tile[r * PITCH(side) + ly + 8 * d], q);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    parts += part * window_out * columns;
    #pragma unroll
    for (int i = 0; i < 4 * blocks; ++i) {
        const int f = f0 + 4 * ly + (i < 4 ? i : 28 + i);
        #pragma unroll
        for (int u = 0; u < blocks; ++u) {
            const int k = k0 + 4 * lx + 32 * u;
            if (f < window_out && k < window) *(__global float4 *)(parts + f * columns + k) = sum[u][i];
        }
    }
    if (k0 > 0) return;
    dz_tile[id] = bias;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (id >= side / 4) return;
    for (int i = id + side / 4; i < ITEMS; i += side / 4)
        bias += dz_tile[i];
    float biases[4];
    vstore4(bias, 0, biases);
    for (int j = 0; j < 4; ++j)
        if (f0 + 4 * id + j < window_out) parts[(f0 + 4 * id + j + 1) * columns - 4] = biases[j];
}

// group: 8, 8, 1
// grid: window/32*8, window_out/32*8, splits
__kernel void SplitWeightsGradient(
    __global const float *x,        // [rows, window]
    __global const float *dz,       // [rows, window_out]
    __global float *parts,          // [splits, window_out, columns]    columns: see the op
    const int rows, const int window, const int window_out, const int columns, const int some)
{
    __local float4 x_tile[DEPTH * PITCH(32)], dz_tile[DEPTH * PITCH(32)];
    sum_part(x, dz, parts, rows, window, window_out, columns, some, x_tile, dz_tile, 1, 0);
}

// group: 8, 8, 1
// grid: window/64*8, window_out/64*8, splits
__kernel void SplitWeightsGradientGPU(
    __global const float *x,        // [rows, window]
    __global const float *dz,       // [rows, window_out]
    __global float *parts,          // [splits, window_out, columns]
    const int rows, const int window, const int window_out, const int columns, const int some)
{
    __local float4 x_tile[DEPTH * PITCH(64)], dz_tile[DEPTH * PITCH(64)];
    sum_part(x, dz, parts, rows, window, window_out, columns, some, x_tile, dz_tile, 2, 1);
}

// --- any device: adding the parts -------------------------------------------------------------------------

static float all_parts(__global const float *parts, const int splits, const int size, const int at)
{
    float g = 0.0f;
    for (int i = 0; i < splits; ++i)
        g += parts[i * size + at];
    return g;
}

// grid: columns, window_out
__kernel void AddSplitWeights(
    __global const float *parts,    // [splits, window_out, columns]
    __global float *dw,             // [window_out, window]
    __global float *db,             // [window_out]
    const int splits, const int window_out, const int columns, const int window)
{
    const int k = get_global_id(0), f = get_global_id(1);
    if (k >= window && k != columns - 4) return;
    const float g = all_parts(parts, splits, window_out * columns, f * columns + k);
    if (k < window) dw[f * window + k] += g;
    else db[f] += g;
}

// grid: columns, window_out
__kernel void UpdateSplitWeightsAdam(
    __global const float *parts,    // [splits, window_out, columns]
    __global float *w,              // [window_out, window]
    __global float *b,              // [window_out]
    __global float *w_m,            // [window_out, window]
    __global float *w_v,            // [window_out, window]
    __global float *b_m,            // [window_out]
    __global float *b_v,            // [window_out]
    __global const float *hyper,    // [9]
    const int splits, const int window_out, const int columns, const int window)
{
    const int k = get_global_id(0), f = get_global_id(1), at = f * window + k;
    if (k >= window && k != columns - 4) return;
    const float g = all_parts(parts, splits, window_out * columns, f * columns + k);
    if (k < window) adam(w + at, w_m + at, w_v + at, g, hyper);
    else adam(b + f, b_m + f, b_v + f, g, hyper);
}

// --- GPU: 8 work-items add the parts of a weight ------------------------------------------------------------

#include "parts.clh"

// group: 32, 8
// grid: columns*window_out, 8
__kernel void AddSplitWeightsGPU(
    __global const float *parts,    // [splits, window_out, columns]
    __global float *dw,             // [window_out, window]
    __global float *db,             // [window_out]
    const int splits, const int window_out, const int columns, const int window)
{
    __local float all[ADDING * LANES];
    const int at = get_global_id(0), size = window_out * columns, k = at % columns, f = at / columns;
    const bool wanted = at < size && (k < window || k == columns - 4);
    const float g = parts_together(parts, splits, size, at, wanted, all);
    if (get_local_id(1) > 0 || !wanted) return;
    if (k < window) dw[f * window + k] += g;
    else db[f] += g;
}

// group: 32, 8
// grid: columns*window_out, 8
__kernel void UpdateSplitWeightsAdamGPU(
    __global const float *parts,    // [splits, window_out, columns]
    __global float *w,              // [window_out, window]
    __global float *b,              // [window_out]
    __global float *w_m,            // [window_out, window]
    __global float *w_v,            // [window_out, window]
    __global float *b_m,            // [window_out]
    __global float *b_v,            // [window_out]
    __global const float *hyper,    // [9]
    const int splits, const int window_out, const int columns, const int window)
{
    __local float all[ADDING * LANES];
    const int at = get_global_id(0), size = window_out * columns, k = at % columns, f = at / columns;
    const bool wanted = at < size && (k < window || k == columns - 4);
    const float g = parts_together(parts, splits, size, at, wanted, all);
    if (get_local_id(1) > 0 || !wanted) return;
    if (k < window) adam(w + f * window + k, w_m + f * window + k, w_v + f * window + k, g, hyper);
    else adam(b + f, b_m + f, b_v + f, g, hyper);
}

// --- CPU: sums of 6 x 16 weights at a time in registers, over rows that stay in the L1 cache --------------

#define SOME 64
#define TAPS 128            // of a work-item
#define FILTERS 64

// to[r, c] = sum over rows of dz[.., r] * x[.., c] for up to N filters and 16 taps; added where ``more``.
// For each N two functions, as OpenCL C 1.2 has no pointer that may be to either memory.
#define SUMS_OF(N, name, FLOAT, FLOAT8)                                                          \
static void name(__global const float *dz, const int window_out, FLOAT *x, const int pitch, const int rows, \
                 __global float *to, const int columns, const int filters, const int taps,       \
                 const int more)                                                                 \
{                                                                                                \
    float8 lo[N], hi[N];                                                                         \
    int at[N];                                                                                   \
    _Pragma("unroll")                                                                            \
    for (int r = 0; r < N; ++r) {                                                                \
        at[r] = min(r, filters - 1);                                                             \
        lo[r] = more ? load8(to + at[r] * columns, taps) : (float8)0.0f;                         \
        hi[r] = more ? load8(to + at[r] * columns + 8, taps - 8) : (float8)0.0f;                 \
    }                                                                                            \
    for (int i = 0; i < rows; ++i, x += pitch, dz += window_out) {                               \
        const float8 x_lo = ((FLOAT8 *)x)[0], x_hi = ((FLOAT8 *)x)[1];                           \
        _Pragma("unroll")                                                                        \
        for (int r = 0; r < N; ++r) {                                                            \
            lo[r] += dz[at[r]] * x_lo;                                                           \
            hi[r] += dz[at[r]] * x_hi;                                                           \
        }                                                                                        \
    }                                                                                            \
    _Pragma("unroll")                                                                            \
    for (int r = 0; r < N; ++r)                                                                  \
        if (r < filters) {                                                                       \
            store8(lo[r], to + r * columns, taps);                                               \
            store8(hi[r], to + r * columns + 8, taps - 8);                                       \
        }                                                                                        \
}

SUMS_OF(6, six_filters, __global const float, __global const float8_any)
SUMS_OF(4, four_filters, __global const float, __global const float8_any)
SUMS_OF(6, six_copied, const float, const float8)
SUMS_OF(4, four_copied, const float, const float8)

// group: 1, 1, 1
// grid: window/128, window_out/64, splits
__kernel void SplitWeightsGradientCPU(
    __global const float *x,        // [rows, window]
    __global const float *dz,       // [rows, window_out]
    __global float *parts,          // [splits, window_out, columns]
    const int rows, const int window, const int window_out, const int columns, const int some)
{
    const int k0 = TAPS * get_global_id(0), f0 = FILTERS * get_global_id(1), part = get_global_id(2);
    const int end = min(window, k0 + TAPS), filters = min(FILTERS, window_out - f0);
    const int begin = part * some, last = min(rows, begin + some);
    float8 ends[2 * SOME], bias[FILTERS / 8];
    for (int f = 0; f < filters; f += 8)
        bias[f / 8] = 0.0f;
    parts += (part * window_out + f0) * columns;
    for (int r = begin; r < last; r += SOME) {
        const int depth = min(SOME, last - r), more = r > begin;
        __global const float *ds = dz + r * window_out + f0;
        for (int k = k0; k < end; k += 16) {
            const int taps = window - k;
            __global const float *xs = x + r * window + k;
            for (int i = 0; taps < 16 && i < depth; ++i) {      // ends of rows, with zeros behind them
                ends[2 * i] = load8(xs + i * window, taps);
                ends[2 * i + 1] = load8(xs + i * window + 8, taps - 8);
            }
            for (int f = 0; f < filters;) {         // by 6 and at the end by 4, where that leaves fewer over
                const int left = filters - f, four = left <= 4 || left == 7 || left == 8;
                __global float *to = parts + f * columns + k;
                if (taps >= 16 && four)
                    four_filters(ds + f, window_out, xs, window, depth, to, columns, left, 16, more);
                else if (taps >= 16)
                    six_filters(ds + f, window_out, xs, window, depth, to, columns, left, 16, more);
                else if (four)
                    four_copied(ds + f, window_out, (float *)ends, 16, depth, to, columns, left, taps, more);
                else
                    six_copied(ds + f, window_out, (float *)ends, 16, depth, to, columns, left, taps, more);
                f += four ? 4 : 6;
            }
        }
        for (int f = 0; k0 == 0 && f < filters; f += 8)
            for (int i = 0; i < depth; ++i)
                bias[f / 8] += load8(ds + i * window_out + f, filters - f);
    }
    for (int f = 0; k0 == 0 && f < filters; f += 8) {
        float each[8];
        vstore8(bias[f / 8], 0, each);
        for (int j = 0; j < min(8, filters - f); ++j)
            parts[(f + j + 1) * columns - 4] = each[j];
    }
}
