// flash_attention.cl: attention of questions to keys and values, which several heads may share.
//
//   s[i,h,t] = scale Q[i,h]·K[t,g]      p = softmax of s over first[i] <= t < last[i]
//   out[i,h] = sum_t p[i,h,t] V[t,g]
//   lse = log sum_t exp(s)              g = h heads_kv / heads
//
// Heads are ``dimension`` columns of wider rows, from q_column, k_column and v_column on; the three arrays
// may be one. Memory is linear in the units: scores live for a tile of keys only. A question that sees nothing
// has out = 0 and lse = inf.
//
// Used by   ops/flash_attention.py      Checked against   reference/flash_attention.py
// Source    Dao, arXiv:2307.08691 (FlashAttention-2). NeuroNet MHFlashAttention; errata S2, S3, S5.
// Overwrites out and lse.

#include "attention.clh"

// --- any device -------------------------------------------------------------------------------

// grid: heads, queries, batch
__kernel void MHFlashAttention(
    __global const float *q,        // [batch, queries, q_width]
    __global const float *k,        // [batch, keys, k_width]
    __global const float *v,        // [batch, keys, v_width]
    __global const int *limits,     // [marks, queries, 2]
    __global float *out,            // [batch, queries, heads, dimension]
    __global float *lse,            // [batch, queries, heads]
    const int queries, const int keys, const int q_width, const int k_width, const int v_width,
    const int marks, const int heads, const int dimension, const int heads_kv, const int q_column,
    const int k_column, const int v_column, const float scale)
{
    const int h = get_global_id(0), i = get_global_id(1), n = get_global_id(2), d = dimension;
    const int at = (n * queries + i) * heads + h, g = h / (heads / heads_kv);
    limits += 2 * ((marks > 1 ? n * queries : 0) + i);
    const int first = max(limits[0], 0), last = min(limits[1], keys);
    q += (size_t)(n * queries + i) * q_width + q_column + h * d;
    k += (size_t)n * keys * k_width + k_column + g * d;
    v += (size_t)n * keys * v_width + v_column + g * d;
    out += (size_t)at * d;
    float most = -INFINITY, whole = 0.0f;
    for (int j = 0; j < d; ++j) out[j] = 0.0f;
    for (int pass = 0; pass < 2; ++pass)
        for (int t = first; t < last; ++t) {
            float s = 0.0f;
            for (int j = 0; j < d; ++j) s += q[j] * k[(size_t)t * k_width + j];
            s *= scale;
            if (pass == 0) {
                most = fmax(most, s);
            } else if (s != -INFINITY) {
                const float e = exp(s - most);
                whole += e;
                for (int j = 0; j < d; ++j) out[j] += e * v[(size_t)t * v_width + j];
            }
        }
    for (int j = 0; j < d; ++j) out[j] = whole == 0.0f ? 0.0f : out[j] / whole;
    lse[at] = whole == 0.0f ? INFINITY : most + log(whole);
}

// --- CPU: a work-item has a head of 8 questions: they are in the lanes for scores, numbers of V for sums ---

#define KEYS 64         // rows of k and v at a time, fewer where they are long
#define DEPTH 256       // numbers of q that are turned at a time

// group: 1, 1, 1
// grid: queries/8, heads, batch
__kernel void MHFlashAttentionCPU(
    __global const float *q,        // [batch, queries, q_width]
    __global const float *k,        // [batch, keys, k_width]
    __global const float *v,        // [batch, keys, v_width]
    __global const int *limits,     // [marks, queries, 2]
    __global float *out,            // [batch, queries, heads, dimension]
    __global float *lse,            // [batch, queries, heads]
    const int queries, const int keys, const int q_width, const int k_width, const int v_width,
    const int marks, const int heads, const int dimension, const int heads_kv, const int q_column,
    const int k_column, const int v_column, const float scale)
{
    const int h = get_global_id(1), n = get_global_id(2), i0 = 8 * get_global_id(0), d = dimension;
    const int count = min(8, queries - i0), g = h / (heads / heads_kv), pitch = heads * d;
    const int tile = clamp(4096 / d & ~7, 8, KEYS);
    limits += 2 * ((marks > 1 ? n * queries : 0) + i0);
    q += (size_t)(n * queries + i0) * q_width + q_column + h * d;
    k += (size_t)n * keys * k_width + k_column + g * d;
    v += (size_t)n * keys * v_width + v_column + g * d;
    out += (size_t)(n * queries + i0) * pitch + h * d;
    lse += (n * queries + i0) * heads + h;
    float8 turned[DEPTH], s[KEYS], none = 0.0f, top = -INFINITY, total = 0.0f;
    int first[8], last[8], begin = keys, end = 0, same_begin = 0, same_end = keys;
    for (int r = 0; r < 8; ++r) {                       // questions behind the last see nothing
        first[r] = r < count ? max(limits[2 * r], 0) : 0;
        last[r] = r < count ? min(limits[2 * r + 1], keys) : 0;
        if (first[r] < last[r]) {
            begin = min(begin, first[r]);
            end = max(end, last[r]);
        }
        if (r < count) {
            same_begin = max(same_begin, first[r]);
            same_end = min(same_end, last[r]);
        }
    }
    const int8 from = vload8(0, first), until = vload8(0, last);
    for (int r = 0; r < count; ++r)
        for (int j = 0; j < d; j += 8) store8(none, out + r * pitch + j, d - j);
    for (int j = 0; j < min(DEPTH, d); ++j) turned[j] = gather8(q + j, q_width, count);
    for (int b = begin; b < end; b += tile) {
        const int stop = min(tile, end - b);
        for (int j0 = 0; j0 < d; j0 += DEPTH) {
            const int depth = min(DEPTH, d - j0);
            if (d > DEPTH)
                for (int j = 0; j < depth; ++j) turned[j] = gather8(q + j0 + j, q_width, count);
            scores8(turned, k + (size_t)b * k_width + j0, k_width, stop, depth, j0 > 0, s);
        }
        const bool same = b >= same_begin && b + stop <= same_end;
        float8 most = top;
        for (int t = 0; t < stop; ++t) {
            s[t] = scale * s[t];
            if (!same) s[t] = b + t >= from && b + t < until ? s[t] : (float8)-INFINITY;
            most = fmax(most, s[t]);
        }
        const float8 base = most == -INFINITY ? none : most, factor = exp(top - base);
        total *= factor;
        for (int t = 0; t < stop; ++t) {
            s[t] = exp(s[t] - base);
            total += s[t];
        }
        top = most;
        weigh8(s, factor, v + (size_t)b * v_width, v_width, stop, d, count, out, pitch);
    }
    const float8 share = total == 0.0f ? none : 1.0f / total;
    float shares[8], levels[8];
    vstore8(share, 0, shares);
    vstore8(total == 0.0f ? (float8)INFINITY : top + log(total), 0, levels);
    for (int r = 0; r < count; ++r) {
        lse[r * heads] = levels[r];
        for (int j = 0; j < d; j += 8)
            store8(shares[r] * load8(out + r * pitch + j, d - j), out + r * pitch + j, d - j);
    }
}

// --- GPU: a work-group has a head of 8 questions, and loads tiles of K, then of V into local memory ---
// Scores: a work-item has 2 keys and 4 questions. Sums: 4 numbers of V and every slices-th 4 keys, for all 8.

#define GROUP 128
#define ROWS 8
#define TILE 1088       // float4 of k or v at a time
#define CHUNK 256       // float4 of q at a time

// group: 128, 1, 1
// grid: queries/8*128, heads, batch
__kernel void MHFlashAttentionGPU(
    __global const float *q,        // [batch, queries, q_width]
    __global const float *k,        // [batch, keys, k_width]
    __global const float *v,        // [batch, keys, v_width]
    __global const int *limits,     // [marks, queries, 2]
    __global float *out,            // [batch, queries, heads, dimension]
    __global float *lse,            // [batch, queries, heads]
    const int queries, const int keys, const int q_width, const int k_width, const int v_width,
    const int marks, const int heads, const int dimension, const int heads_kv, const int q_column,
    const int k_column, const int v_column, const float scale)
{
    __local float4 tile[TILE], asked[CHUNK], weight[ROWS * KEYS / 4];
    __local float part[GROUP], factor[ROWS];
    __local int first[ROWS], last[ROWS];
    __local float *p = (__local float *)weight;         // [question, key]
    const int id = get_local_id(0), h = get_global_id(1), n = get_global_id(2), d = dimension, row = id / 16;
    const int lanes = (d + 3) / 4, pitch = lanes | 1;   // an odd pitch: neighbours in different banks
    const int chunk = min(ROWS, CHUNK / lanes), block = min(KEYS, TILE / pitch & ~3), pairs = block / 2;
    const int lane = id % lanes, slice = id / lanes, slices = GROUP / lanes, g = h / (heads / heads_kv);
    const bool q4 = (q_width | q_column | d) % 4 == 0, k4 = (k_width | k_column | d) % 4 == 0;
    const bool v4 = (v_width | v_column | d) % 4 == 0;
    const int end_row = min(ROWS * (int)get_group_id(0) + ROWS, queries);
    const int t0 = id % pairs, r1 = id / pairs * 4;
    limits += marks > 1 ? 2 * n * queries : 0;
    q += (size_t)n * queries * q_width + q_column + h * d;
    k += (size_t)n * keys * k_width + k_column + g * d;
    v += (size_t)n * keys * v_width + v_column + g * d;
    for (int r0 = ROWS * get_group_id(0); r0 < end_row; r0 += chunk) {
        const int count = min(chunk, end_row - r0);
        int begin = keys, end = 0;
        for (int r = 0; r < count; ++r) {
            const int from = max(limits[2 * (r0 + r)], 0), until = min(limits[2 * (r0 + r) + 1], keys);
            if (from < until) {
                begin = min(begin, from);
                end = max(end, until);
            }
        }
        if (id < ROWS) {
            first[id] = id < count ? max(limits[2 * (r0 + id)], 0) : 0;
            last[id] = id < count ? min(limits[2 * (r0 + id) + 1], keys) : 0;
        }
        for (int i = id; i < chunk * lanes; i += GROUP)
            asked[i] = i < count * lanes ? load4(q + (size_t)(r0 + i / lanes) * q_width, i % lanes, d, q4)
                                         : (float4)0.0f;
        float4 sum[ROWS];
        for (int r = 0; r < ROWS; ++r) sum[r] = 0.0f;
        float most = -INFINITY, whole = 0.0f;           // of question ``row``, whole for own keys
        for (int b = begin; b < end; b += block) {
            const int stop = min(block, end - b);
            if (slice < slices)
                for (int t = slice; t < block; t += slices)
                    tile[t * pitch + lane] =
                        t < stop ? load4(k + (size_t)(b + t) * k_width, lane, d, k4) : (float4)0.0f;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (id < block) {
                float s[2][4] = {{0.0f}};
                for (int i = 0; i < lanes; ++i) {
                    const float4 a = tile[t0 * pitch + i], c = tile[(t0 + pairs) * pitch + i];
                    #pragma unroll
                    for (int r = 0; r < 4; ++r) {
                        const float4 one = asked[min(r1 + r, chunk - 1) * lanes + i];
                        s[0][r] += dot4(one, a);
                        s[1][r] += dot4(one, c);
                    }
                }
                for (int k2 = 0; k2 < 2; ++k2)
                    for (int r = 0; r < 4; ++r) {
                        const int t = t0 + k2 * pairs;
                        const bool sees = t < stop && b + t >= first[r1 + r] && b + t < last[r1 + r];
                        p[(r1 + r) * KEYS + t] = sees ? scale * s[k2][r] : -INFINITY;
                    }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (slice < slices)
                for (int t = slice; t < block; t += slices)
                    tile[t * pitch + lane] =
                        t < stop ? load4(v + (size_t)(b + t) * v_width, lane, d, v4) : (float4)0.0f;
            float high = most;
            for (int t = id % 16; t < block; t += 16) high = fmax(high, p[row * KEYS + t]);
            part[id] = high;
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int i = 0; i < 16; ++i) high = fmax(high, part[16 * row + i]);
            const float base = high == -INFINITY ? 0.0f : high, f = exp(most - base);
            whole *= f;
            for (int t = id % 16; t < block; t += 16) {
                const float e = exp(p[row * KEYS + t] - base);
                p[row * KEYS + t] = e;
                whole += e;
            }
            if (id % 16 == 0) factor[row] = f;
            most = high;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (slice < slices) {
                for (int r = 0; r < ROWS; ++r) sum[r] *= factor[r];
                for (int t = 4 * slice; t < block; t += 4 * slices) {
                    __local const float4 *to = tile + t * pitch + lane;
                    const float4 a = to[0], c = to[pitch], e = to[2 * pitch], f = to[3 * pitch];
                    #pragma unroll
                    for (int r = 0; r < ROWS; ++r) {    // those behind the last weigh nothing
                        const float4 w = weight[(r * KEYS + t) / 4];
                        sum[r] += w.s0 * a + w.s1 * c + w.s2 * e + w.s3 * f;
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
            factor[row] = whole == 0.0f ? 0.0f : 1.0f / whole;
            lse[(n * queries + r0 + row) * heads + h] = whole == 0.0f ? INFINITY : most + log(whole);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = id; i < count * lanes; i += GROUP) {
            float4 all = tile[i];
            for (int s = 1; s < slices; ++s) all += tile[s * chunk * lanes + i];
            all *= factor[i / lanes];
            const float number[4] = {all.s0, all.s1, all.s2, all.s3};
            const int j0 = i % lanes * 4;
            __global float *to = out + ((size_t)(n * queries + r0 + i / lanes) * heads + h) * d + j0;
            for (int j = 0; j < min(4, d - j0); ++j) to[j] = number[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
