// split_weights.cl: gradients of weights that are sums over many rows, such as those of a linear layer that every
// unit of a batch goes through.
//
//   dw[f,k] += sum_r dz[r,f] x[r,k]        db[f] += sum_r dz[r,f]
//
// The rows are split into parts, and a second launch adds the parts in their order: so even 32 x 32 weights
// keep all of a device busy, two runs agree, and a CPU reads each row once.
//
// Used by   ops/split_weights.py        Checked against   reference/split_weights.py

// --- GPU: a work-group of 8 x 8 sums a part for 32 x 32 weights, 4 x 4 per work-item ----------------------

#define SIDE 32
#define DEPTH 32            // rows per pass over a tile
#define PITCH (SIDE + 4)

// Of rows first ... first + 31 of m, columns from ``from`` on: every second row of one column; 0 outside
static void fetch(__global const float *m, const int columns, const int from, const int first, const int last,
                  float *some)
{
    const int id = get_local_id(1) * 8 + get_local_id(0), c = from + id % SIDE;
    #pragma unroll
    for (int n = 0; n < 16; ++n) {
        const int r = first + id / SIDE + 2 * n;
        some[n] = r < last && c < columns ? m[r * columns + c] : 0.0f;
    }
}

static void put(__local float *tile, const float *some)
{
    const int id = get_local_id(1) * 8 + get_local_id(0);
    #pragma unroll
    for (int n = 0; n < 16; ++n)
        tile[(id / SIDE + 2 * n) * PITCH + id % SIDE] = some[n];
}

// group: 8, 8, 1
// grid: window/32*8, window_out/32*8, splits
__kernel void SplitWeightsGradient(
    __global const float *x,        // [rows, window]
    __global const float *dz,       // [rows, window_out]
    __global float *parts,          // [splits, window_out, columns]    columns = window + 1: biases behind weights
    const int rows, const int window, const int window_out, const int columns, const int some)
{
    __local float x_tile[DEPTH * PITCH], dz_tile[DEPTH * PITCH];
    const int lx = get_local_id(0), ly = get_local_id(1), part = get_group_id(2);
    const int k0 = SIDE * get_group_id(0), f0 = SIDE * get_group_id(1), last = min(rows, (part + 1) * some);
    float4 sum[4] = {0.0f, 0.0f, 0.0f, 0.0f}, bias = 0.0f;
    float next_x[16], next_dz[16];                  // on their way while the rows before are summed
    fetch(x, window, k0, part * some, last, next_x);
    fetch(dz, window_out, f0, part * some, last, next_dz);
    for (int first = part * some; first < last; first += DEPTH) {
        put(x_tile, next_x);
        put(dz_tile, next_dz);
        barrier(CLK_LOCAL_MEM_FENCE);
        fetch(x, window, k0, first + DEPTH, last, next_x);
        fetch(dz, window_out, f0, first + DEPTH, last, next_dz);
        #pragma unroll
        for (int r = 0; r < DEPTH; ++r) {
            const float4 d = vload4(ly, dz_tile + r * PITCH), q = vload4(lx, x_tile + r * PITCH);
            sum[0] += d.s0 * q;
            sum[1] += d.s1 * q;
            sum[2] += d.s2 * q;
            sum[3] += d.s3 * q;
            bias += d;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float biases[4];
    vstore4(bias, 0, biases);
    for (int i = 0; i < 4; ++i) {
        const int f = f0 + 4 * ly + i;
        if (f >= window_out) break;
        __global float *to = parts + (part * window_out + f) * columns;
        float values[4];
        vstore4(sum[i], 0, values);
        for (int j = 0; j < 4; ++j)
            if (k0 + 4 * lx + j < window) to[k0 + 4 * lx + j] = values[j];
        if (k0 + lx == 0) to[window] = biases[i];
    }
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
    const float g = all_parts(parts, splits, window_out * columns, f * columns + k);
    if (k < window) adam(w + at, w_m + at, w_v + at, g, hyper);
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
            parts[(f + j) * columns + window] = each[j];
    }
}
