// flash_stca.cl: attention of a few questions to a long history, whose rows are keys and values at once.
//
//   s[q,h,t] = scale u[q,h]·x[t] - slope[h] (age[t] - age of the newest row that q sees)
//   out[q,h] = sum_t p[q,h,t] x[t], p = softmax of s over first[q] <= t < last[q]
//   lse[q,h] = log sum_t exp(s)
//
// u are questions with the keys' weights taken in (q W_Q W_K'), so that all heads share one pass over x. A
// question that sees nothing has out = 0 and lse = inf, so that exp(s - lse) is 0. The history that any
// question sees is cut into ``splits`` stretches; each leaves its top, the largest s, total, the sum of
// e = exp(s - top), and sums, those of e x. flash_stca_combine.cl puts them together.
//
// Used by   ops/flash_stca.py      Checked against   reference/flash_stca.py
// Source    arXiv:2511.06077 (STCA); Dao, arXiv:2307.08691. NeuroNet MHFlashSTCA; errata S1-S11.
// Overwrites top, total and sums.

#include "attention.clh"
#include "history.clh"

// --- any device -------------------------------------------------------------------------------

// grid: queries*heads, splits, batch
__kernel void MHFlashSTCA(
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
    const int row = get_global_id(0), part = get_global_id(1), n = get_global_id(2), d = dimension;
    const int q = row / heads, at = (n * splits + part) * queries * heads + row;
    limits += marks > 1 ? 2 * n * queries : 0;
    const int2 own = stretch(seen(limits, queries, length), splits, part);
    const int from = max(limits[2 * q], 0), until = min(limits[2 * q + 1], length);
    const int first = max(from, own.x), last = min(until, own.y);
    u += (n * queries * heads + row) * d;
    x += (size_t)n * length * d;
    ages += (size_t)n * days;
    sums += (size_t)at * d;
    const float steep = recency ? slope[row % heads] : 0.0f, now = recency ? newest(ages, from, until) : 0.0f;
    float most = -INFINITY, whole = 0.0f;
    for (int j = 0; j < d; ++j) sums[j] = 0.0f;
    for (int pass = 0; pass < 2; ++pass)
        for (int t = first; t < last; ++t) {
            __global const float *key = x + (size_t)t * d;
            float s = 0.0f;
            for (int j = 0; j < d; ++j) s += u[j] * key[j];
            s = scale * s - (recency ? steep * (ages[t] - now) : 0.0f);
            if (pass == 0) {
                most = fmax(most, s);
            } else if (s != -INFINITY) {
                const float e = exp(s - most);
                whole += e;
                for (int j = 0; j < d; ++j) sums[j] += e * key[j];
            }
        }
    top[at] = most;
    total[at] = whole;
}

// --- CPU: a work-item has a stretch; 8 rows of u in the lanes for scores, 8 numbers of x for sums ---

#define KEYS 64         // rows of x at a time, fewer where they are long
#define DEPTH 256       // numbers of u that are turned at a time

// group: 1, 1
// grid: splits, batch
__kernel void MHFlashSTCACPU(
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
    const int n = get_global_id(1), d = dimension, rows = queries * heads;
    const int at = (n * splits + get_global_id(0)) * rows, keys = clamp(8192 / d & ~7, 8, KEYS);
    limits += marks > 1 ? 2 * n * queries : 0;
    const int2 own = stretch(seen(limits, queries, length), splits, get_global_id(0));
    u += n * rows * d;
    x += (size_t)n * length * d;
    ages += (size_t)n * days;
    top += at;
    total += at;
    sums += (size_t)at * d;
    float8 turned[DEPTH], s[KEYS], none = 0.0f;
    bool ready = false;                                 // turned holds the only rows there are
    for (int i = 0; i < rows; i += 8) {
        store8((float8)-INFINITY, top + i, rows - i);
        store8(none, total + i, rows - i);
    }
    for (int i = 0; i < rows * d; i += 8) store8(none, sums + i, rows * d - i);
    for (int b = own.x; b < own.y; b += keys) {
        const int stop = min(keys, own.y - b), next = min(keys, own.y - b - keys);
        if (next > 0) prefetch(x + (size_t)(b + keys) * d, (size_t)next * d);
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
            begin = max(begin, 0);
            end = min(end, stop);
            if (begin >= end) continue;                 // seen by none of these questions
            __global const float *keys_of = x + (size_t)(b + begin) * d;
            const int seen_here = end - begin;
            for (int j0 = 0; j0 < d; j0 += DEPTH) {
                const int depth = min(DEPTH, d - j0);
                if (!ready)
                    for (int j = 0; j < depth; ++j) turned[j] = gather8(u + r0 * d + j0 + j, d, count);
                scores8(turned, keys_of + j0, d, seen_here, depth, j0 > 0, s);
            }
            ready = rows <= 8 && d <= DEPTH;
            float8 old = load8(top + r0, count), most = old, steep = 0.0f, now = 0.0f;
            if (recency) {
                float a[8], c[8];
                for (int r = 0; r < 8; ++r) {
                    a[r] = slope[(r0 + min(r, count - 1)) % heads];
                    c[r] = newest(ages, first[r] + b, last[r] + b);
                }
                steep = vload8(0, a);
                now = vload8(0, c);
            }
            const bool whole = begin >= same_begin && end <= same_end;
            const int8 from = vload8(0, first), until = vload8(0, last);
            for (int t = 0; t < seen_here; ++t) {
                s[t] = scale * s[t];
                if (recency) s[t] -= steep * (ages[b + begin + t] - now);
                if (!whole) s[t] = begin + t >= from && begin + t < until ? s[t] : (float8)-INFINITY;
                most = fmax(most, s[t]);
            }
            const float8 base = most == -INFINITY ? none : most, factor = exp(old - base);
            float8 sum = factor * load8(total + r0, count);
            for (int t = 0; t < seen_here; ++t) {
                s[t] = exp(s[t] - base);
                sum += s[t];
            }
            store8(most, top + r0, count);
            store8(sum, total + r0, count);
            weigh8(s, factor, keys_of, d, seen_here, d, count, sums + (size_t)r0 * d, d);
        }
    }
}

// --- GPU: a work-group has a stretch and 8 rows of u, and loads tiles of x into local memory ---
// Scores: a work-item has 2 keys and 2 rows. Sums: 4 numbers of x and every slices-th 4 keys, for all rows.

#define GROUP 128
#define ROWS 8
#define TILE 1088       // float4 of x at a time
#define CHUNK 256       // float4 of u at a time

// group: 128, 1, 1
// grid: 128*splits, queries*heads/8, batch
__kernel void MHFlashSTCAGPU(
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
    __local float4 tile[TILE], asked[CHUNK], weight[ROWS * KEYS / 4];
    __local float part[GROUP], factor[ROWS], steep[ROWS], now[ROWS];
    __local int first[ROWS], last[ROWS];
    __local float *p = (__local float *)weight;         // [row, key]
    const int id = get_local_id(0), n = get_global_id(2), d = dimension, rows = queries * heads;
    const int lanes = (d + 3) / 4, pitch = lanes | 1;   // an odd pitch: neighbours in different banks
    const int chunk = min(ROWS, CHUNK / lanes), keys = min(KEYS, TILE / pitch & ~3);
    const int lane = id % lanes, slice = id / lanes, slices = GROUP / lanes;
    const bool whole4 = d % 4 == 0;
    const int at = (n * splits + get_group_id(0)) * rows, row = id / 16;
    limits += marks > 1 ? 2 * n * queries : 0;
    const int2 own = stretch(seen(limits, queries, length), splits, get_group_id(0));
    u += n * rows * d;
    x += (size_t)n * length * d;
    ages += (size_t)n * days;
    for (int r0 = chunk * get_group_id(1); r0 < rows; r0 += chunk * get_num_groups(1)) {
        const int count = min(chunk, rows - r0);
        if (id < ROWS) {
            const int at_row = r0 + min(id, count - 1), q = at_row / heads;
            const int from = max(limits[2 * q], 0), until = min(limits[2 * q + 1], length);
            first[id] = id < count ? from : 0;
            last[id] = id < count ? until : 0;
            steep[id] = recency ? slope[at_row % heads] : 0.0f;
            now[id] = recency ? newest(ages, from, until) : 0.0f;
        }
        for (int i = id; i < chunk * lanes; i += GROUP)
            asked[i] = i < count * lanes ? load4(u + (r0 + i / lanes) * d, i % lanes, d, whole4) : (float4)0.0f;
        float4 sum[ROWS];
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) sum[r] = 0.0f;
        float most = -INFINITY, whole = 0.0f;           // of ``row``, whole for its keys of this work-item
        for (int b = own.x; b < own.y; b += keys) {
            const int stop = min(keys, own.y - b);
            if (slice < slices)
                for (int t = slice; t < keys; t += slices)
                    tile[t * pitch + lane] =
                        t < stop ? load4(x + (size_t)(b + t) * d, lane, d, whole4) : (float4)0.0f;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (id < 2 * keys) {
                const int pairs = keys / 2, t0 = id % pairs, t1 = t0 + pairs, r1 = id / pairs * 2;
                float s0[2] = {0.0f}, s1[2] = {0.0f};
                #pragma unroll 4
                for (int i = 0; i < lanes; ++i) {
                    const float4 a = tile[t0 * pitch + i], c = tile[t1 * pitch + i];
                    #pragma unroll
                    for (int r = 0; r < 2; ++r) {
                        const float4 v = asked[min(r1 + r, chunk - 1) * lanes + i];
                        s0[r] += dot4(v, a);
                        s1[r] += dot4(v, c);
                    }
                }
                const float age0 = recency && t0 < stop ? ages[b + t0] : 0.0f;
                const float age1 = recency && t1 < stop ? ages[b + t1] : 0.0f;
                #pragma unroll
                for (int r = 0; r < 2; ++r) {
                    const int from = first[r1 + r], until = min(last[r1 + r], b + stop);
                    const float a = scale * s0[r] - (recency ? steep[r1 + r] * (age0 - now[r1 + r]) : 0.0f);
                    const float c = scale * s1[r] - (recency ? steep[r1 + r] * (age1 - now[r1 + r]) : 0.0f);
                    p[(r1 + r) * KEYS + t0] = b + t0 >= from && b + t0 < until ? a : -INFINITY;
                    p[(r1 + r) * KEYS + t1] = b + t1 >= from && b + t1 < until ? c : -INFINITY;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            float high = most;
            for (int t = id % 16; t < keys; t += 16) high = fmax(high, p[row * KEYS + t]);
            part[id] = high;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int i = 0; i < 16; ++i) high = fmax(high, part[16 * row + i]);
            const float base = high == -INFINITY ? 0.0f : high, f = exp(most - base);
            whole *= f;
            for (int t = id % 16; t < keys; t += 16) {
                const float e = exp(p[row * KEYS + t] - base);
                p[row * KEYS + t] = e;
                whole += e;
            }
            if (id % 16 == 0) factor[row] = f;
            most = high;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (slice < slices) {
                #pragma unroll
                for (int r = 0; r < ROWS; ++r) sum[r] *= factor[r];
                for (int t = 4 * slice; t < keys; t += 4 * slices) {
                    __local const float4 *key = tile + t * pitch + lane;
                    const float4 a = key[0], c = key[pitch], e = key[2 * pitch], g = key[3 * pitch];
                    #pragma unroll
                    for (int r = 0; r < ROWS; ++r) {    // those behind the last weigh nothing
                        const float4 w = weight[(r * KEYS + t) / 4];
                        sum[r] += w.s0 * a + w.s1 * c + w.s2 * e + w.s3 * g;
                    }
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        part[id] = whole;
        if (slice < slices)
            #pragma unroll
            for (int r = 0; r < ROWS; ++r)      // unrolled, so that sum stays in registers
                if (r < count) tile[(slice * chunk + r) * lanes + lane] = sum[r];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id % 16 == 0 && row < count) {
            for (int i = 1; i < 16; ++i) whole += part[id + i];
            top[at + r0 + row] = most;
            total[at + r0 + row] = whole;
        }
        for (int i = id; i < count * lanes; i += GROUP) {
            float4 all = tile[i];
            for (int k = 1; k < slices; ++k) all += tile[k * chunk * lanes + i];
            const float number[4] = {all.s0, all.s1, all.s2, all.s3};
            __global float *to = sums + (size_t)(at + r0 + i / lanes) * d + i % lanes * 4;
            for (int j = 0; j < min(4, d - i % lanes * 4); ++j) to[j] = number[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
