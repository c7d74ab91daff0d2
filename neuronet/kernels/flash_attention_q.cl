// flash_attention_q.cl: gradients of the questions of attention (flash_attention.cl).
//
//   p = exp(s - lse)                     delta[i,h] = dout[i,h]·out[i,h]
//   ds = p (dout[i,h]·V[t,g] - delta)    dQ[i,h] = scale sum_t ds K[t,g]      over the keys that i sees
//
// Used by   ops/flash_attention_q.py      Checked against   reference/flash_attention_q.py
// Source    Dao, arXiv:2307.08691, whose sums for dQ are atomic; here dQ has a pass of its own.
// Overwrites delta and the heads' columns of dq.

#include "attention.clh"

// --- any device -------------------------------------------------------------------------------

// grid: heads, queries, batch
__kernel void MHFlashAttentionGradientQ(
    __global const float *q,        // [batch, queries, q_width]
    __global const float *k,        // [batch, keys, k_width]
    __global const float *v,        // [batch, keys, v_width]
    __global const int *limits,     // [marks, queries, 2]
    __global const float *out,      // [batch, queries, heads, dimension]
    __global const float *lse,      // [batch, queries, heads]
    __global const float *dout,     // [batch, queries, heads, dimension]
    __global float *delta,          // [batch, queries, heads]
    __global float *dq,             // [batch, queries, q_width]
    const int queries, const int keys, const int q_width, const int k_width, const int v_width,
    const int marks, const int heads, const int dimension, const int heads_kv, const int q_column,
    const int k_column, const int v_column, const float scale)
{
    const int h = get_global_id(0), i = get_global_id(1), n = get_global_id(2), d = dimension;
    const int at = (n * queries + i) * heads + h, g = h / (heads / heads_kv);
    limits += 2 * ((marks > 1 ? n * queries : 0) + i);
    q += (size_t)(n * queries + i) * q_width + q_column + h * d;
    dq += (size_t)(n * queries + i) * q_width + q_column + h * d;
    k += (size_t)n * keys * k_width + k_column + g * d;
    v += (size_t)n * keys * v_width + v_column + g * d;
    dout += (size_t)at * d;
    delta[at] = along(dout, out + (size_t)at * d, d);
    for (int j = 0; j < d; ++j) dq[j] = 0.0f;
    for (int t = max(limits[0], 0); t < min(limits[1], keys); ++t) {
        __global const float *key = k + (size_t)t * k_width;
        const float p = exp(scale * along(q, key, d) - lse[at]);
        const float ds = scale * p * (along(dout, v + (size_t)t * v_width, d) - delta[at]);
        for (int j = 0; j < d; ++j) dq[j] += ds * key[j];
    }
}

// --- CPU: a work-item has a head of 8 questions: they are in the lanes for scores, numbers of K for sums ---

#define BLOCK 64        // rows on the other side at a time, fewer where they are long
#define DEPTH 128       // numbers of 8 rows that are turned at a time

// group: 1, 1, 1
// grid: queries/8, heads, batch
__kernel void MHFlashAttentionGradientQCPU(
    __global const float *q,        // [batch, queries, q_width]
    __global const float *k,        // [batch, keys, k_width]
    __global const float *v,        // [batch, keys, v_width]
    __global const int *limits,     // [marks, queries, 2]
    __global const float *out,      // [batch, queries, heads, dimension]
    __global const float *lse,      // [batch, queries, heads]
    __global const float *dout,     // [batch, queries, heads, dimension]
    __global float *delta,          // [batch, queries, heads]
    __global float *dq,             // [batch, queries, q_width]
    const int queries, const int keys, const int q_width, const int k_width, const int v_width,
    const int marks, const int heads, const int dimension, const int heads_kv, const int q_column,
    const int k_column, const int v_column, const float scale)
{
    const int h = get_global_id(1), n = get_global_id(2), i0 = 8 * get_global_id(0), d = dimension;
    const int count = min(8, queries - i0), g = h / (heads / heads_kv), pitch = heads * d;
    const int tile = clamp(4096 / d & ~7, 8, BLOCK), at = (n * queries + i0) * heads + h;
    limits += 2 * ((marks > 1 ? n * queries : 0) + i0);
    q += (size_t)(n * queries + i0) * q_width + q_column + h * d;
    dq += (size_t)(n * queries + i0) * q_width + q_column + h * d;
    k += (size_t)n * keys * k_width + k_column + g * d;
    v += (size_t)n * keys * v_width + v_column + g * d;
    out += (size_t)at * d;
    dout += (size_t)at * d;
    float8 asked[DEPTH], back[DEPTH], p[BLOCK], ds[BLOCK], whole = 0.0f, none = 0.0f;
    const float8 level = gather8(lse + at, heads, count);
    int first[8], last[8], begin = keys, end = 0;
    for (int r = 0; r < 8; ++r) {                       // questions behind the last see nothing
        first[r] = r < count ? max(limits[2 * r], 0) : 0;
        last[r] = r < count ? min(limits[2 * r + 1], keys) : 0;
        if (first[r] >= last[r]) continue;
        begin = min(begin, first[r]);
        end = max(end, last[r]);
    }
    const int8 from = vload8(0, first), until = vload8(0, last);
    for (int j = 0; j < d; ++j) whole += gather8(dout + j, pitch, count) * gather8(out + j, pitch, count);
    float wholes[8];
    vstore8(whole, 0, wholes);
    for (int r = 0; r < count; ++r) {
        delta[at + r * heads] = wholes[r];
        for (int j = 0; j < d; j += 8) store8(none, dq + r * q_width + j, d - j);
    }
    for (int b = begin; b < end; b += tile) {
        const int stop = min(tile, end - b);
        for (int j0 = 0; j0 < d; j0 += DEPTH) {
            const int depth = min(DEPTH, d - j0);
            if (b == begin || d > DEPTH)
                for (int j = 0; j < depth; ++j) {
                    asked[j] = gather8(q + j0 + j, q_width, count);
                    back[j] = gather8(dout + j0 + j, pitch, count);
                }
            paired8(asked, back, k + (size_t)b * k_width + j0, k_width, v + (size_t)b * v_width + j0, v_width,
                    stop, depth, j0 > 0, p, ds);
        }
        for (int t = 0; t < stop; ++t) {
            const float8 s = scale * p[t] - level;
            p[t] = exp(b + t >= from && b + t < until ? s : (float8)-INFINITY);
            ds[t] = scale * p[t] * (ds[t] - whole);
        }
        weigh8(ds, 1.0f, k + (size_t)b * k_width, k_width, stop, d, count, dq, q_width);
    }
}

// --- GPU: a work-group has a head of 8 questions, and loads tiles of K and V into local memory ---
// Scores: a work-item has a key and 2 questions. Sums: 4 numbers of K and every slices-th 4 keys, for all 8.

#define GROUP 128
#define ROWS 8
#define TURN 32         // rows of the tiles at most
#define TILE 544        // float4 of each tile
#define CHUNK 256       // float4 of 8 rows

// group: 128, 1, 1
// grid: queries/8*128, heads, batch
__kernel void MHFlashAttentionGradientQGPU(
    __global const float *q,        // [batch, queries, q_width]
    __global const float *k,        // [batch, keys, k_width]
    __global const float *v,        // [batch, keys, v_width]
    __global const int *limits,     // [marks, queries, 2]
    __global const float *out,      // [batch, queries, heads, dimension]
    __global const float *lse,      // [batch, queries, heads]
    __global const float *dout,     // [batch, queries, heads, dimension]
    __global float *delta,          // [batch, queries, heads]
    __global float *dq,             // [batch, queries, q_width]
    const int queries, const int keys, const int q_width, const int k_width, const int v_width,
    const int marks, const int heads, const int dimension, const int heads_kv, const int q_column,
    const int k_column, const int v_column, const float scale)
{
    __local float4 tile[2 * TILE], asked[CHUNK], back[CHUNK], slant[ROWS * TURN / 4];
    __local float share[GROUP], level[ROWS], whole[ROWS];
    __local int first[ROWS], last[ROWS];
    __local float *ds = (__local float *)slant;         // [question, key]
    const int id = get_local_id(0), h = get_global_id(1), n = get_global_id(2), d = dimension;
    const int lanes = (d + 3) / 4, pitch = lanes | 1;   // an odd pitch: neighbours in different banks
    const int chunk = min(ROWS, CHUNK / lanes), block = min(TURN, TILE / pitch & ~3);
    const int lane = id % lanes, slice = id / lanes, slices = GROUP / lanes, g = h / (heads / heads_kv);
    const int end_row = min(ROWS * (int)get_group_id(0) + ROWS, queries);
    const int t1 = id % block, r1 = id / block * 2;
    const bool q4 = (q_width | q_column | d) % 4 == 0, k4 = (k_width | k_column | d) % 4 == 0;
    const bool v4 = (v_width | v_column | d) % 4 == 0, d4 = d % 4 == 0;
    limits += marks > 1 ? 2 * n * queries : 0;
    q += (size_t)n * queries * q_width + q_column + h * d;
    dq += (size_t)n * queries * q_width + q_column + h * d;
    k += (size_t)n * keys * k_width + k_column + g * d;
    v += (size_t)n * keys * v_width + v_column + g * d;
    for (int r0 = ROWS * get_group_id(0); r0 < end_row; r0 += chunk) {
        const int count = min(chunk, end_row - r0), at = (n * queries + r0) * heads + h;
        int begin = keys, end = 0;
        for (int r = 0; r < count; ++r) {
            const int from = max(limits[2 * (r0 + r)], 0), until = min(limits[2 * (r0 + r) + 1], keys);
            if (from < until) {
                begin = min(begin, from);
                end = max(end, until);
            }
        }
        const size_t one = (size_t)(at + id / 16 * heads) * d;
        float part = 0.0f;
        if (id / 16 < count)
            for (int j = id % 16; j < d; j += 16) part += out[one + j] * dout[one + j];
        share[id] = part;
        for (int i = id; i < chunk * lanes; i += GROUP) {
            const int r = i / lanes;
            asked[i] = r < count ? load4(q + (size_t)(r0 + r) * q_width, i % lanes, d, q4) : (float4)0.0f;
            back[i] = r < count ? load4(dout + (size_t)(at + r * heads) * d, i % lanes, d, d4) : (float4)0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (id < ROWS) {
            float sum = 0.0f;
            for (int i = 0; i < 16; ++i) sum += share[16 * id + i];
            whole[id] = sum;
            if (id < count) delta[at + id * heads] = sum;
            level[id] = id < count ? lse[at + id * heads] : 0.0f;
            first[id] = id < count ? max(limits[2 * (r0 + id)], 0) : 0;
            last[id] = id < count ? min(limits[2 * (r0 + id) + 1], keys) : 0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        float4 sum[ROWS];
        for (int r = 0; r < ROWS; ++r) sum[r] = 0.0f;
        for (int b = begin; b < end; b += block) {
            const int stop = min(block, end - b);
            if (slice < slices)
                for (int t = slice; t < block; t += slices) {
                    const size_t row = b + min(t, stop - 1);
                    const float4 key = load4(k + row * k_width, lane, d, k4);
                    const float4 value = load4(v + row * v_width, lane, d, v4);
                    tile[t * pitch + lane] = t < stop ? key : (float4)0.0f;
                    tile[TILE + t * pitch + lane] = t < stop ? value : (float4)0.0f;
                }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (id < 4 * block) {
                float s[2] = {0.0f, 0.0f}, dp[2] = {0.0f, 0.0f};
                for (int i = 0; i < lanes; ++i) {
                    const float4 a = tile[t1 * pitch + i], c = tile[TILE + t1 * pitch + i];
                    #pragma unroll
                    for (int r = 0; r < 2; ++r) {
                        const int at_row = min(r1 + r, chunk - 1) * lanes + i;
                        s[r] += dot4(asked[at_row], a);
                        dp[r] += dot4(back[at_row], c);
                    }
                }
                for (int r = r1; r < r1 + 2; ++r) {
                    const bool sees = t1 < stop && b + t1 >= first[r] && b + t1 < last[r];
                    const float p = sees ? exp(scale * s[r - r1] - level[r]) : 0.0f;
                    ds[r * TURN + t1] = scale * p * (dp[r - r1] - whole[r]);
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (slice < slices)
                for (int t = 4 * slice; t < block; t += 4 * slices) {
                    __local const float4 *key = tile + t * pitch + lane;
                    const float4 a = key[0], c = key[pitch], e = key[2 * pitch], f = key[3 * pitch];
                    #pragma unroll
                    for (int r = 0; r < ROWS; ++r) {    // those behind the last weigh nothing
                        const float4 w = slant[(r * TURN + t) / 4];
                        sum[r] += w.s0 * a + w.s1 * c + w.s2 * e + w.s3 * f;
                    }
                }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (slice < slices)
            #pragma unroll
            for (int r = 0; r < ROWS; ++r)      // unrolled, so that sum stays in registers
                if (r < count) tile[(slice * chunk + r) * lanes + lane] = sum[r];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = id; i < count * lanes; i += GROUP) {
            float4 all = tile[i];
            for (int s = 1; s < slices; ++s) all += tile[s * chunk * lanes + i];
            const float number[4] = {all.s0, all.s1, all.s2, all.s3};
            const int j0 = i % lanes * 4;
            __global float *to = dq + (size_t)(r0 + i / lanes) * q_width + j0;
            for (int j = 0; j < min(4, d - j0); ++j) to[j] = number[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
