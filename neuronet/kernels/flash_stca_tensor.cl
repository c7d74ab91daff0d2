// flash_stca_tensor.cl: the attention of flash_stca.cl and its gradients on tensor cores, for rows of up to 64
// numbers, a multiple of four.
//
// A work-group has a stretch of the history and 8 rows of u (for gradients all, 8 after 8). Each of its four warps
// has every fourth 16 keys: it copies them into local memory, one step ahead of its sums, and waits for no other warp.
// All products have float32's accuracy (tensor.clh). Lane 4*g + t has the scores of keys h and h + 8, where h is g / 2,
// or 4 more for odd g, with rows 2*t and 2*t + 1; so the 16 bytes that lanes read together come from all banks.
//
// Used by   ops/flash_stca.py, ops/flash_stca_gradient.py      Forms of the kernels of files of these names
// Source    as flash_stca.cl
// Overwrites top, total and sums; dx, parts and slopes.

#include "tensor.clh"
#include "history.clh"

#define GROUP 128
#define ROWS 8
#define KEYS 16                 // of a warp at a time
#define STEP 64                 // of all warps
#define PITCH 17                // float4 of a key in local memory
#define TILE (KEYS * PITCH)
#define WEIGHTS 20              // floats of a row's weights there

// Starts copying the warp's keys from row b on, a batch; zeros behind `stop` and behind the ends of rows
static void start_keys(__global const float *x, const int b, const int stop, const int d, __local float4 *tile)
{
    const int lane = get_local_id(0) % 32;
    UNROLL
    for (int n = 0; n < 8; ++n) {
        const int key = (32 * n + lane) / 16, quad = lane % 16;
        start_copy(tile + key * PITCH + quad, x + (size_t)(b + key) * d + 4 * quad, b + key < stop && 4 * quad < d);
    }
    end_batch();
}

// All numbers of row g of m, in steps of four from 4*t on, as add_scores takes them; zeros behind `count` rows
static void numbers_of(__global const float *m, const int g, const int count, const int t, const int d, Pair (*to)[2])
{
    UNROLL
    for (int c = 0; c < 8; ++c) {
        const int j = 16 * (c / 2) + 4 * t + 2 * (c % 2), there = g < count && j < d;
        to[c / 2][c % 2] = pair_of(there ? m[g * d + j] : 0.0f, there ? m[g * d + j + 1] : 0.0f);
    }
}

// score[2*k + i] += m[2*t + i]·key[h + 8*k]; m are all numbers of row g, in steps of four
static void add_scores(float *score, Pair (*m)[2], __local const float4 *tile, const int h, const int t,
                       __local uint *exchange)
{
    UNROLL
    for (int c = 0; c < 4; ++c) {
        const float4 x = tile[h * PITCH + 4 * c + t], y = tile[(h + 8) * PITCH + 4 * c + t];
        float part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        multiply_add3(part, (float4)(x.s0, y.s0, x.s1, y.s1), m[c][0], exchange);
        multiply_add3(part, (float4)(x.s2, y.s2, x.s3, y.s3), m[c][1], exchange);
        UNROLL
        for (int i = 0; i < 4; ++i)
            score[i] += part[i];
    }
}

// sum[n][p][2*j + i] = factor[i] of itself + sum_key weight[2*t + i, key] x[key, 32*n + 4*h + 2*p + j]
static void add_keys(float (*sum)[2][4], const float *factor, __local const float *weight, __local const float4 *tile,
                     const int g, const int h, const int t, __local uint *exchange)
{
    Pair w[2];
    UNROLL
    for (int s = 0; s < 2; ++s)
        w[s] = pair_of(weight[g * WEIGHTS + t + 8 * s], weight[g * WEIGHTS + t + 8 * s + 4]);
    UNROLL
    for (int n = 0; n < 2; ++n) {
        float4 x[4];
        UNROLL
        for (int q = 0; q < 4; ++q)
            x[q] = tile[(t + 4 * q) * PITCH + 8 * n + h];
        UNROLL
        for (int p = 0; p < 2; ++p) {
            float part[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            UNROLL
            for (int s = 0; s < 2; ++s) {
                const float4 a = x[2 * s], b = x[2 * s + 1];
                const float4 both = p ? (float4)(a.s2, a.s3, b.s2, b.s3) : (float4)(a.s0, a.s1, b.s0, b.s1);
                multiply_add3(part, both, w[s], exchange);
            }
            UNROLL
            for (int i = 0; i < 4; ++i)
                sum[n][p][i] = factor[i % 2] * sum[n][p][i] + part[i];
        }
    }
}

// Leaves what add_keys has summed as [warp, row, 64]
static void leave(float (*sum)[2][4], __local float *all, const int h, const int t)
{
    const int warp = get_local_id(0) / 32;
    UNROLL
    for (int n = 0; n < 16; ++n) {
        const int i = n % 4, j = 32 * (n / 8) + 4 * h + n / 4 % 2 * 2 + i / 2;
        all[(warp * ROWS + 2 * t + i % 2) * 64 + j] = sum[n / 8][n / 4 % 2][i];
    }
}

// The largest of all g, and their sum
static float most_of(float x, __local uint *exchange)
{
    UNROLL
    for (int mask = 4; mask < 32; mask *= 2)
        x = fmax(x, shuffle_xor(x, mask, exchange));
    return x;
}

static float sum_of(float x, __local uint *exchange)
{
    UNROLL
    for (int mask = 4; mask < 32; mask *= 2)
        x += shuffle_xor(x, mask, exchange);
    return x;
}

// The lane's pair in local memory
static void keep(__local uint4 *pairs, const float x, const float y)
{
    const Pair p = pair_of(x, y);
    pairs[get_local_id(0) % 32] = (uint4)(p.large.x, p.large.y, p.small.x, p.small.y);
}

static Pair kept(__local const uint4 *pairs)
{
    const uint4 both = pairs[get_local_id(0) % 32];
    Pair p;
    p.large = both.lo;
    p.small = both.hi;
    return p;
}

// What a lane knows of its row 2*t + i
typedef struct { int first, last; float steep, now; } Row;

static Row row_of(__global const int *limits, __global const float *ages, __global const float *slope, const int row,
                  const int there, const int heads, const int length, const int recency)
{
    Row r = {0, 0, 0.0f, 0.0f};
    if (!there) return r;
    r.first = max(limits[row / heads * 2], 0);
    r.last = min(limits[row / heads * 2 + 1], length);
    if (recency) {
        r.steep = slope[row % heads];
        r.now = newest(ages, r.first, r.last);
    }
    return r;
}

// group: 128, 1, 1
// grid: 128*splits, queries*heads/8, batch
__kernel void MHFlashSTCATensor(
    __global const float *u,        // [batch, queries, heads, dimension]
    __global const float *x,        // [batch, length, dimension]
    __global const int *limits,     // [marks, queries, 2]
    __global const float *ages,     // [dated, days]
    __global const float *slope,    // [slopes]
    __global float *top,            // [batch, splits, queries, heads]
    __global float *total,          // [batch, splits, queries, heads]
    __global float *sums,           // [batch, splits, queries, heads, dimension]
    const int queries, const int heads, const int dimension, const int length, const int splits,
    const int marks, const int days, const float scale, const int recency)
{
    __local float4 tiles[4 * 2 * TILE];
    __local float weights[4 * ROWS * WEIGHTS], tops[4 * ROWS], totals[4 * ROWS];
    EXCHANGE(exchange, GROUP);
    const int id = get_local_id(0), warp = id / 32, g = id / 4 % 8, t = id % 4, h = g / 2 + g % 2 * 4;
    const int n = get_global_id(2), d = dimension, rows = queries * heads;
    const int at = (n * splits + get_group_id(0)) * rows;
    __local float4 *tile = tiles + warp * 2 * TILE;
    __local float *weight = weights + warp * ROWS * WEIGHTS;
    limits += marks > 1 ? 2 * n * queries : 0;
    const int2 own = stretch(seen(limits, queries, length), splits, get_group_id(0));
    u += n * rows * d;
    x += (size_t)n * length * d;
    ages += (size_t)n * days;
    const int r0 = ROWS * get_group_id(1), count = min(ROWS, rows - r0);
    Pair asked[4][2];
    numbers_of(u + r0 * d, g, count, t, d, asked);
    Row row[2];
    float most[2] = {-INFINITY, -INFINITY}, whole[2] = {0.0f, 0.0f}, sum[2][2][4];
    UNROLL
    for (int i = 0; i < 2; ++i)
        row[i] = row_of(limits, ages, slope, r0 + 2 * t + i, 2 * t + i < count, heads, length, recency);
    UNROLL
    for (int i = 0; i < 16; ++i)
        sum[i / 8][i / 4 % 2][i % 4] = 0.0f;
    start_keys(x, own.x + KEYS * warp, own.y, d, tile);
    for (int b = own.x + KEYS * warp, now = 0; b - KEYS * warp < own.y; b += STEP, now = TILE - now) {
        wait_for_batches(0);
        warp_barrier();
        start_keys(x, b + STEP, own.y, d, tile + TILE - now);
        float score[4] = {0.0f, 0.0f, 0.0f, 0.0f}, factor[2];
        add_scores(score, asked, tile + now, h, t, exchange);
        UNROLL
        for (int i = 0; i < 2; ++i) {
            float s[2];
            UNROLL
            for (int k = 0; k < 2; ++k) {
                const int key = b + h + 8 * k;
                const bool sees = key >= row[i].first && key < min(row[i].last, own.y);
                const float lag = recency && sees ? row[i].steep * (ages[key] - row[i].now) : 0.0f;
                s[k] = sees ? scale * score[2 * k + i] - lag : -INFINITY;
            }
            const float high = most_of(fmax(most[i], fmax(s[0], s[1])), exchange);
            const float base = high == -INFINITY ? 0.0f : high;
            const float e0 = exp(s[0] - base), e1 = exp(s[1] - base);
            factor[i] = exp(most[i] - base);
            whole[i] = factor[i] * whole[i] + e0 + e1;
            most[i] = high;
            weight[(2 * t + i) * WEIGHTS + h] = e0;
            weight[(2 * t + i) * WEIGHTS + h + 8] = e1;
        }
        warp_barrier();
        add_keys(sum, factor, weight, tile + now, g, h, t, exchange);
    }
    wait_for_batches(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    leave(sum, (__local float *)tiles, h, t);
    UNROLL
    for (int i = 0; i < 2; ++i) {
        const float all = sum_of(whole[i], exchange);
        if (g > 0) continue;
        tops[warp * ROWS + 2 * t + i] = most[i];
        totals[warp * ROWS + 2 * t + i] = all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int r = id / 16, quad = id % 16;
    if (r < count) {
        float high = -INFINITY, all = 0.0f;
        float4 numbers = 0.0f;
        for (int w = 0; w < 4; ++w)
            high = fmax(high, tops[w * ROWS + r]);
        for (int w = 0; w < 4; ++w) {
            const float factor = high == -INFINITY ? 0.0f : exp(tops[w * ROWS + r] - high);
            all += factor * totals[w * ROWS + r];
            numbers += factor * tiles[(w * ROWS + r) * 16 + quad];
        }
        if (4 * quad < d) *(__global float4 *)(sums + (size_t)(at + r0 + r) * d + 4 * quad) = numbers;
        if (quad == 0) {
            top[at + r0 + r] = high;
            total[at + r0 + r] = all;
        }
    }
}

// group: 128, 1
// grid: 128*splits, batch
__kernel void MHFlashSTCAGradientTensor(
    __global const float *u,        // [batch, queries, heads, dimension]
    __global const float *x,        // [batch, length, dimension]
    __global const int *limits,     // [marks, queries, 2]
    __global const float *ages,     // [dated, days]
    __global const float *slope,    // [slopes]
    __global const float *out,      // [batch, queries, heads, dimension]
    __global const float *lse,      // [batch, queries, heads]
    __global const float *dout,     // [batch, queries, heads, dimension]
    __global float *dx,             // [batch, length, dimension]
    __global float *parts,          // [batch, splits, queries, heads, dimension]
    __global float *slopes,         // [batch, splits, queries, heads]
    const int queries, const int heads, const int dimension, const int length, const int splits,
    const int marks, const int days, const float scale, const int recency, const float beta)
{
    __local float4 tiles[4 * 2 * TILE];
    __local uint4 to_key[8 * 32], to_value[8 * 32];     // what all warps have alike, [number / 8, lane]
    __local float weights[4 * ROWS * WEIGHTS], shares[4 * ROWS];
    EXCHANGE(exchange, GROUP);
    const int id = get_local_id(0), warp = id / 32, g = id / 4 % 8, t = id % 4, h = g / 2 + g % 2 * 4;
    const int part = get_group_id(0), n = get_global_id(1), d = dimension, rows = queries * heads;
    const int at = (n * splits + part) * rows;
    __local float4 *tile = tiles + warp * 2 * TILE;
    __local float *weight = weights + warp * ROWS * WEIGHTS;
    limits += marks > 1 ? 2 * n * queries : 0;
    const int2 all = seen(limits, queries, length), own = stretch(all, splits, part);
    x += (size_t)n * length * d;
    dx += (size_t)n * length * d;
    ages += (size_t)n * days;
    fade_unseen(dx, all, length, part, splits, d, id, GROUP, beta);
    for (int r0 = 0; r0 < rows; r0 += ROWS) {
        const int count = min(ROWS, rows - r0);
        __global const float *ask = u + (n * rows + r0) * d, *back = dout + (n * rows + r0) * d;
        Pair asked[4][2], turned[4][2];
        numbers_of(ask, g, count, t, d, asked);
        numbers_of(back, g, count, t, d, turned);
        for (int c = 2 * warp; c < 2 * warp + 2; ++c) {
            const int k = 32 * (c / 4) + 4 * h + c % 4, first = 2 * t < count && k < d;
            const int second = 2 * t + 1 < count && k < d;
            keep(to_key + 32 * c, first ? ask[2 * t * d + k] : 0.0f, second ? ask[(2 * t + 1) * d + k] : 0.0f);
            keep(to_value + 32 * c, first ? back[2 * t * d + k] : 0.0f, second ? back[(2 * t + 1) * d + k] : 0.0f);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        Row row[2];
        float level[2], whole[2], dslope[2] = {0.0f, 0.0f}, sum[2][2][4];
        const float same[2] = {1.0f, 1.0f};     // a factor that add_keys asks for
        UNROLL
        for (int i = 0; i < 2; ++i) {
            const int r = 2 * t + i;
            row[i] = row_of(limits, ages, slope, r0 + r, r < count, heads, length, recency);
            level[i] = r < count ? lse[n * rows + r0 + r] : INFINITY;
            float along = 0.0f;
            for (int j = g; r < count && j < d; j += 8)
                along += out[(n * rows + r0 + r) * d + j] * back[r * d + j];
            whole[i] = sum_of(along, exchange);
        }
        UNROLL
        for (int i = 0; i < 16; ++i)
            sum[i / 8][i / 4 % 2][i % 4] = 0.0f;
        start_keys(x, own.x + KEYS * warp, own.y, d, tile);
        for (int b = own.x + KEYS * warp, now = 0; b - KEYS * warp < own.y; b += STEP, now = TILE - now) {
            wait_for_batches(0);
            warp_barrier();
            start_keys(x, b + STEP, own.y, d, tile + TILE - now);
            float s[4] = {0.0f, 0.0f, 0.0f, 0.0f}, dp[4] = {0.0f, 0.0f, 0.0f, 0.0f}, p[4], ds[4];
            add_scores(s, asked, tile + now, h, t, exchange);
            add_scores(dp, turned, tile + now, h, t, exchange);
            UNROLL
            for (int i = 0; i < 4; ++i) {
                const int key = b + h + i / 2 * 8, r = i % 2;
                const bool sees = key >= row[r].first && key < min(row[r].last, own.y);
                const float age = recency && sees ? ages[key] - row[r].now : 0.0f;
                p[i] = sees ? exp(scale * s[i] - row[r].steep * age - level[r]) : 0.0f;
                ds[i] = p[i] * (dp[i] - whole[r]);
                dslope[r] -= ds[i] * age;
                ds[i] *= scale;
                weight[(2 * t + r) * WEIGHTS + h + i / 2 * 8] = ds[i];
            }
            const float4 value = (float4)(p[0], p[2], p[1], p[3]), key = (float4)(ds[0], ds[2], ds[1], ds[3]);
            UNROLL
            for (int m = 0; m < 2; ++m) {
                float to[4][4];     // [number][key h: 4*t or 16 behind, key h + 8]
                UNROLL
                for (int j = 0; j < 4; ++j) {
                    to[j][0] = to[j][1] = to[j][2] = to[j][3] = 0.0f;
                    multiply_add3(to[j], value, kept(to_value + 32 * (4 * m + j)), exchange);
                    multiply_add3(to[j], key, kept(to_key + 32 * (4 * m + j)), exchange);
                }
                UNROLL
                for (int i = 0; i < 4; ++i) {
                    const int k = b + h + i / 2 * 8, j = 32 * m + 4 * t + i % 2 * 16;
                    const float4 v = (float4)(to[0][i], to[1][i], to[2][i], to[3][i]);
                    __global float4 *there = (__global float4 *)(dx + (size_t)k * d + j);
                    if (k >= own.y || j >= d) continue;
                    if (r0 > 0) *there += v;
                    else if (beta != 0.0f) *there = beta * *there + v;
                    else *there = v;
                }
            }
            warp_barrier();
            add_keys(sum, same, weight, tile + now, g, h, t, exchange);
        }
        wait_for_batches(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        leave(sum, (__local float *)tiles, h, t);
        UNROLL
        for (int i = 0; i < 2; ++i) {
            const float share = sum_of(dslope[i], exchange);
            if (g == 0) shares[warp * ROWS + 2 * t + i] = share;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const int r = id / 16, quad = id % 16;
        if (r < count) {
            float4 numbers = 0.0f;
            float share = 0.0f;
            for (int w = 0; w < 4; ++w) {
                numbers += tiles[(w * ROWS + r) * 16 + quad];
                share += shares[w * ROWS + r];
            }
            if (4 * quad < d) *(__global float4 *)(parts + (size_t)(at + r0 + r) * d + 4 * quad) = numbers;
            if (quad == 0) slopes[at + r0 + r] = share;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
