// flash_stca_gradient.cl: gradients of the attention of a few questions to a long history (flash_stca.cl).
//
//   p = exp(s - lse)     dp = dout[q,h]·x[t]     ds = p (dp - dout[q,h]·out[q,h])     where q sees t, else 0
//   dx[t] = beta dx[t] + sum_qh (p dout[q,h] + scale ds u[q,h])   as value and as key; one writer a row
//   parts[s,q,h] = scale sum_t ds x[t], slopes[s,q,h] = -sum_t ds (age[t] - age of the newest) over stretch s
//
// du is the sum of parts (flash_stca_combine.cl), dslope that of slopes. dx is not read for beta 0.
//
// Used by   ops/flash_stca_gradient.py      Checked against   reference/flash_stca_gradient.py
// Source    Dao, arXiv:2307.08691, with keys = values. NeuroNet publishes no backward pass for MHFlashSTCA.
// Overwrites parts and slopes, and dx.

#include "attention.clh"
#include "history.clh"

// --- any device -------------------------------------------------------------------------------

// A work-item has a stretch, and row after row of u
// grid: splits, batch
__kernel void MHFlashSTCAGradient(
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
    const int part = get_global_id(0), n = get_global_id(1), d = dimension, rows = queries * heads;
    limits += marks > 1 ? 2 * n * queries : 0;
    const int2 all = seen(limits, queries, length), own = stretch(all, splits, part);
    x += (size_t)n * length * d;
    dx += (size_t)n * length * d;
    ages += (size_t)n * days;
    fade_unseen(dx, all, length, part, splits, d, 0, 1, beta);
    for (size_t i = (size_t)own.x * d; i < (size_t)own.y * d; ++i)
        dx[i] = beta == 0.0f ? 0.0f : beta * dx[i];
    for (int row = 0; row < rows; ++row) {
        const int q = row / heads, at = n * rows + row, from = max(limits[2 * q], 0);
        const int until = min(limits[2 * q + 1], length);
        __global const float *ask = u + at * d, *back = dout + at * d;
        __global float *sum = parts + ((size_t)(n * splits + part) * rows + row) * d;
        const float now = recency ? newest(ages, from, until) : 0.0f, whole = along(back, out + at * d, d);
        const float steep = recency ? slope[row % heads] : 0.0f;
        float dslope = 0.0f;
        for (int j = 0; j < d; ++j) sum[j] = 0.0f;
        for (int t = max(from, own.x); t < min(until, own.y); ++t) {
            __global const float *key = x + (size_t)t * d;
            const float age = recency ? ages[t] - now : 0.0f;
            const float p = exp(scale * along(ask, key, d) - steep * age - lse[at]);
            const float ds = p * (along(back, key, d) - whole);
            for (int j = 0; j < d; ++j) {
                dx[(size_t)t * d + j] += p * back[j] + scale * ds * ask[j];
                sum[j] += scale * ds * key[j];
            }
            dslope -= ds * age;
        }
        slopes[(n * splits + part) * rows + row] = dslope;
    }
}

// --- CPU: a work-item has a stretch; 8 rows of u in the lanes for scores, 8 numbers of x for sums ---

#define KEYS 64         // rows of x at a time, fewer where they are long
#define DEPTH 128       // numbers of u and dout that are turned at a time

// dx[t] = beta dx[t] + sum over ``count`` <= 8 rows of p[t][r] dout[r] + g[t][r] u[r], for n rows of dx
static void spread8(const float8 *p, const float8 *g, __global const float *u, __global const float *dout,
                    const int n, const int d, const int count, const float beta, __global float *dx)
{
    const float *value = (const float *)p, *key = (const float *)g;
    for (int t = 0; t < n; t += 4)
        for (int j = 0; j < d; j += 16) {
            const int left = d - j;
            __global float *to[4];
            float8 lo[4], hi[4];
            #pragma unroll
            for (int k = 0; k < 4; ++k) {
                to[k] = dx + (t + k < n ? t + k : t) * d + j;
                lo[k] = beta == 0.0f ? (float8)0.0f : beta * load8(to[k], left);
                hi[k] = beta == 0.0f ? (float8)0.0f : beta * load8(to[k] + 8, left - 8);
            }
            for (int r = 0; r < count; ++r) {
                const float8 a = load8(dout + r * d + j, left), b = load8(dout + r * d + j + 8, left - 8);
                const float8 c = load8(u + r * d + j, left), e = load8(u + r * d + j + 8, left - 8);
                #pragma unroll
                for (int k = 0; k < 4; ++k) {
                    lo[k] += value[8 * (t + k) + r] * a + key[8 * (t + k) + r] * c;
                    hi[k] += value[8 * (t + k) + r] * b + key[8 * (t + k) + r] * e;
                }
            }
            for (int k = 0; k < min(4, n - t); ++k) {
                store8(lo[k], to[k], left);
                store8(hi[k], to[k] + 8, left - 8);
            }
        }
}

// dx[i] = beta dx[i] for n numbers
static void fade8(__global float *dx, const int n, const float beta)
{
    for (int i = 0; i < n; i += 8)
        store8(beta == 0.0f ? (float8)0.0f : beta * load8(dx + i, n - i), dx + i, n - i);
}

// group: 1, 1
// grid: splits, batch
__kernel void MHFlashSTCAGradientCPU(
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
    const int part = get_global_id(0), n = get_global_id(1), d = dimension, rows = queries * heads;
    const int at = (n * splits + part) * rows, keys = clamp(8192 / d & ~7, 8, KEYS);
    limits += marks > 1 ? 2 * n * queries : 0;
    const int2 all = seen(limits, queries, length), own = stretch(all, splits, part);
    x += (size_t)n * length * d;
    dx += (size_t)n * length * d;
    ages += (size_t)n * days;
    u += n * rows * d;
    dout += n * rows * d;
    out += n * rows * d;
    lse += n * rows;
    parts += (size_t)at * d;
    slopes += at;
    float8 asked[DEPTH], back[DEPTH], p[KEYS], g[KEYS], whole = 0.0f, none = 0.0f;
    bool ready = false;                                 // both hold the only rows there are
    for (int i = 0; i < rows; i += 8) store8(none, slopes + i, rows - i);
    for (int i = 0; i < rows * d; i += 8) store8(none, parts + i, rows * d - i);
    for (int m = part; m < all.x + length - all.y; m += splits)
        fade8(dx + (size_t)unseen(all, m) * d, d, beta);
    for (int b = own.x; b < own.y; b += keys) {
        const int stop = min(keys, own.y - b), next = min(keys, own.y - b - keys);
        if (next > 0) prefetch(x + (size_t)(b + keys) * d, (size_t)next * d);
        __global const float *key = x + (size_t)b * d;
        __global float *dkey = dx + (size_t)b * d;
        bool begun = false;                             // these rows of dx are
        for (int r0 = 0; r0 < rows; r0 += 8) {
            const int count = min(8, rows - r0);
            int first[8], last[8], begin = length, end = 0, same_begin = 0, same_end = length;
            for (int r = 0; r < 8; ++r) {               // rows behind the last repeat it
                const int q = (r0 + min(r, count - 1)) / heads;
                first[r] = max(limits[2 * q], 0) - b;
                last[r] = min(limits[2 * q + 1], length) - b;
                begin = min(begin, first[r]);
                end = max(end, last[r]);
                same_begin = max(same_begin, first[r]);
                same_end = min(same_end, last[r]);
            }
            if (begin >= stop || end <= 0) continue;    // seen by none of these questions
            for (int j0 = 0; j0 < d; j0 += DEPTH) {
                const int depth = min(DEPTH, d - j0);
                if (!ready) {
                    if (j0 == 0) whole = none;
                    for (int j = 0; j < depth; ++j) {
                        asked[j] = gather8(u + r0 * d + j0 + j, d, count);
                        back[j] = gather8(dout + r0 * d + j0 + j, d, count);
                        whole += back[j] * gather8(out + r0 * d + j0 + j, d, count);
                    }
                }
                paired8(asked, back, key + j0, d, key + j0, d, stop, depth, j0 > 0, p, g);
            }
            ready = rows <= 8 && d <= DEPTH;
            float8 steep = none, now = none, dslope = none;
            if (recency) {
                float a[8], c[8];
                for (int r = 0; r < 8; ++r) {
                    a[r] = slope[(r0 + min(r, count - 1)) % heads];
                    c[r] = newest(ages, first[r] + b, last[r] + b);
                }
                steep = vload8(0, a);
                now = vload8(0, c);
            }
            const bool same = same_begin <= 0 && same_end >= stop;
            const int8 from = vload8(0, first), until = vload8(0, last);
            const float8 whole_lse = load8(lse + r0, count);
            for (int t = 0; t < stop; ++t) {
                float8 s = scale * p[t] - whole_lse;
                const float8 age = recency ? ages[b + t] - now : none;
                if (recency) s -= steep * age;
                if (!same) s = t >= from && t < until ? s : (float8)-INFINITY;
                p[t] = exp(s);
                g[t] = p[t] * (g[t] - whole);
                dslope -= g[t] * age;
                g[t] *= scale;
            }
            if (recency) store8(load8(slopes + r0, count) + dslope, slopes + r0, count);
            spread8(p, g, u + r0 * d, dout + r0 * d, stop, d, count, begun ? 1.0f : beta, dkey);
            weigh8(g, 1.0f, key, d, stop, d, count, parts + (size_t)r0 * d, d);
            begun = true;
        }
        if (!begun) fade8(dkey, stop * d, beta);
    }
}

// --- GPU: 8 rows of u after the other; a work-group has a stretch --------------------------------
// Scores: a work-item has 2 keys and 2 rows. Sums: 4 numbers of x and every slices-th 4 keys, for all rows.

#define GROUP 128
#define ROWS 8
#define TILE 1088       // float4 of x at a time
#define CHUNK 256       // float4 of u and of dout at a time

// row = beta row + v there; what stood there is not read where beta is 0
static void add4(__global float *row, const int lane, const int d, const float4 v, const float beta)
{
    if (d % 4 == 0) {
        __global float4 *to = (__global float4 *)row + lane;
        *to = beta == 0.0f ? v : v + beta * *to;
        return;
    }
    const float number[4] = {v.s0, v.s1, v.s2, v.s3};
    for (int j = 0; j < min(4, d - 4 * lane); ++j) {
        __global float *to = row + 4 * lane + j;
        *to = beta == 0.0f ? number[j] : number[j] + beta * *to;
    }
}

// group: 128, 1
// grid: 128*splits, batch
__kernel void MHFlashSTCAGradientGPU(
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
    __local float4 tile[TILE], asked[CHUNK], back[CHUNK], weight[ROWS * KEYS / 4], slant[ROWS * KEYS / 4];
    __local float share[GROUP], level[ROWS], whole[ROWS], steep[ROWS], now[ROWS];
    __local int first[ROWS], last[ROWS];
    __local float *p = (__local float *)weight, *g = (__local float *)slant;        // [row, key]
    const int id = get_local_id(0), part = get_group_id(0), n = get_global_id(1), d = dimension;
    const int rows = queries * heads, at = (n * splits + part) * rows;
    const int lanes = (d + 3) / 4, pitch = lanes | 1;   // an odd pitch: neighbours in different banks
    const int chunk = min(ROWS, CHUNK / lanes), keys = min(KEYS, TILE / pitch & ~3), pairs = keys / 2;
    const int lane = id % lanes, slice = id / lanes, slices = GROUP / lanes;
    const bool whole4 = d % 4 == 0;
    const int t0 = id % pairs, t1 = t0 + pairs, r1 = id / pairs * 2;
    limits += marks > 1 ? 2 * n * queries : 0;
    const int2 all = seen(limits, queries, length), own = stretch(all, splits, part);
    x += (size_t)n * length * d;
    dx += (size_t)n * length * d;
    ages += (size_t)n * days;
    fade_unseen(dx, all, length, part, splits, d, id, GROUP, beta);
    for (int r0 = 0; r0 < rows; r0 += chunk) {
        const int count = min(chunk, rows - r0), row = n * rows + r0;
        float sum_along = 0.0f;
        if (id / 16 < count)
            for (int j = id % 16; j < d; j += 16)
                sum_along += out[(row + id / 16) * d + j] * dout[(row + id / 16) * d + j];
        share[id] = sum_along;
        for (int i = id; i < chunk * lanes; i += GROUP) {
            const int from = (row + i / lanes) * d;
            asked[i] = i < count * lanes ? load4(u + from, i % lanes, d, whole4) : (float4)0.0f;
            back[i] = i < count * lanes ? load4(dout + from, i % lanes, d, whole4) : (float4)0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < ROWS) {
            const int own_row = r0 + min(id, count - 1), q = own_row / heads;
            const int from = max(limits[2 * q], 0), until = min(limits[2 * q + 1], length);
            first[id] = id < count ? from : 0;
            last[id] = id < count ? until : 0;
            level[id] = lse[n * rows + own_row];
            steep[id] = recency ? slope[own_row % heads] : 0.0f;
            now[id] = recency ? newest(ages, from, until) : 0.0f;
            float sum = 0.0f;
            for (int i = 0; i < 16; ++i) sum += share[16 * id + i];
            whole[id] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        float4 sum[ROWS];
        float dslope[2] = {0.0f};
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) sum[r] = 0.0f;
        for (int b = own.x; b < own.y; b += keys) {
            const int stop = min(keys, own.y - b);
            if (slice < slices)
                for (int t = slice; t < keys; t += slices)
                    tile[t * pitch + lane] =
                        t < stop ? load4(x + (size_t)(b + t) * d, lane, d, whole4) : (float4)0.0f;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (id < 2 * keys) {
                float s[2][2] = {{0.0f}}, dp[2][2] = {{0.0f}};
                #pragma unroll 4
                for (int i = 0; i < lanes; ++i) {
                    const float4 a = tile[t0 * pitch + i], c = tile[t1 * pitch + i];
                    #pragma unroll
                    for (int r = 0; r < 2; ++r) {
                        const int at_row = min(r1 + r, chunk - 1) * lanes + i;
                        const float4 v = asked[at_row], w = back[at_row];
                        s[0][r] += dot4(v, a);
                        s[1][r] += dot4(v, c);
                        dp[0][r] += dot4(w, a);
                        dp[1][r] += dot4(w, c);
                    }
                }
                #pragma unroll
                for (int k = 0; k < 2; ++k)
                    #pragma unroll
                    for (int r = 0; r < 2; ++r) {
                        const int t = t0 + k * pairs, i = r1 + r;
                        const bool sees = t < stop && b + t >= first[i] && b + t < last[i];
                        const float age = recency && sees ? ages[b + t] - now[i] : 0.0f;
                        const float e = sees ? exp(scale * s[k][r] - steep[i] * age - level[i]) : 0.0f;
                        const float ds = e * (dp[k][r] - whole[i]);
                        dslope[r] -= ds * age;
                        p[i * KEYS + t] = e;
                        g[i * KEYS + t] = scale * ds;
                    }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (slice < slices)
                for (int t = 4 * slice; t < keys; t += 4 * slices) {
                    float4 key[4], to[4];
                    #pragma unroll
                    for (int k = 0; k < 4; ++k) {
                        key[k] = tile[(t + k) * pitch + lane];
                        to[k] = 0.0f;
                    }
                    #pragma unroll
                    for (int r = 0; r < ROWS; ++r) {    // those behind the last weigh nothing
                        const float4 e = weight[(r * KEYS + t) / 4], f = slant[(r * KEYS + t) / 4];
                        const int at_row = min(r, chunk - 1) * lanes + lane;
                        const float4 v = asked[at_row], w = back[at_row];
                        to[0] += e.s0 * w + f.s0 * v;
                        to[1] += e.s1 * w + f.s1 * v;
                        to[2] += e.s2 * w + f.s2 * v;
                        to[3] += e.s3 * w + f.s3 * v;
                        sum[r] += f.s0 * key[0] + f.s1 * key[1] + f.s2 * key[2] + f.s3 * key[3];
                    }
                    #pragma unroll
                    for (int k = 0; k < 4; ++k)
                        if (t + k < stop)
                            add4(dx + (size_t)(b + t + k) * d, lane, d, to[k], r0 ? 1.0f : beta);
                }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (slice < slices)
            #pragma unroll
            for (int r = 0; r < ROWS; ++r)      // unrolled, so that sum stays in registers
                if (r < count) tile[(slice * chunk + r) * lanes + lane] = sum[r];
        if (id < 2 * keys)
            #pragma unroll
            for (int r = 0; r < 2; ++r) p[(r1 + r) * KEYS + t0] = dslope[r];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < count) {
            float all_keys = 0.0f;
            for (int t = 0; t < pairs; ++t) all_keys += p[id * KEYS + t];
            slopes[at + r0 + id] = all_keys;
        }
        for (int i = id; i < count * lanes; i += GROUP) {
            float4 all_slices = tile[i];
            for (int k = 1; k < slices; ++k) all_slices += tile[k * chunk * lanes + i];
            add4(parts + (size_t)(at + r0 + i / lanes) * d, i % lanes, d, all_slices, 0.0f);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
