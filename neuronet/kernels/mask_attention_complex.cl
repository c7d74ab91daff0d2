// mask_attention_complex.cl: attention between the channels of a row under a mask, with complex vectors.
//
//   s[i,j] = Re <q[i], k[j]>            l[i,j] = scale s[i,j] m[i,j] + (m[i,j] == 0 ? closed : 0)
//   A[i,:] = softmax of l[i,:]          out[i] = sum_j A[i,j] v[j]
//   c[i,j] = the mean over heads of s[i,j] / (|q[i]| |k[j]|), where ``alike``
//
// for each head h, with the keys and values of h % heads_kv. Re <q, k> of ``dimension`` complex numbers is
// the dot product of their 2 * dimension floats: A is real and blind to a common turn of all phases.
// m[i,i] is 1 whatever the mask says. ``closed`` is -infinity (A is 0 there) or scale times the logarithm of
// 1e-10, as in CATCH's own code (A is not). A is not kept: lse[i] = log(sum_j exp(l[i,j])) gives it back.
// A vector shorter than eps has no direction: its cosines are 0.
//
// Used by   ops/mask_attention_complex.py      Checked against   reference/mask_attention_complex.py
// Source    Wu et al., CATCH, arXiv:2410.12261. NeuroNet MaskAttentionComplex; errata A1-A3, A6, C1-C4, C13,
//           C16, C20.
// Overwrites out, lse and the cosines. A row of kv, which may be that of q, has keys from k_column on, then
//           values.

#include "mask_attention.clh"

// --- any device: a work-group has some heads of a row, and tiles of 32 x 32 -----------------------------
// Work-item ``lane`` has column lane % 32 of a tile, and 8 rows, 4 apart. scratch is the CPU's.

// sums are those of the cosines over a work-group's heads
// group: 128, 1, 1
// grid: 128, parts, rows
__kernel void MaskAttentionComplex(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *mask,     // [rows, units, units]
    __global float *scratch,        // [items, space]
    __global float *sums,           // [rows, parts, units, units]
    __global float *lse,            // [rows, units, heads]
    __global float *out,            // [rows, units, heads, dimension, 2]
    const int parts, const int units, const int heads, const int dimension, const int q_width,
    const int kv_width, const int heads_kv, const int k_column, const int alike, const float scale,
    const float closed, const float eps)
{
    __local float a[TILE * PITCH], b[TILE * PITCH], tile[TILE * PITCH], some[LANES];
    __local float top[TILE], sum[TILE], fade[TILE], shift[TILE], turn[2 * TILE];
    const int lane = get_local_id(0), column = lane % TILE, row = lane / TILE, part = get_global_id(1);
    const int r = get_global_id(2), width = 2 * dimension, wide = heads * width;
    mask += r * units * units;
    sums += (r * parts + part) * units * units;
    for (int g = part; g < heads_kv; g += parts)
        for (int h = g; h < heads; h += heads_kv) {
            __global const float *k = kv + r * units * kv_width + k_column + g * width;
            __global const float *qh = q + r * units * q_width + h * width;
            for (int i0 = 0; i0 < units; i0 += TILE) {
                if (lane < TILE) {
                    top[lane] = -INFINITY;
                    sum[lane] = 0.0f;
                }
                for (int j0 = 0; j0 < units; j0 += TILE) {
                    const int keys = units - j0, queries = units - i0;
                    float s[EACH], square = 0.0f;
                    #pragma unroll
                    for (int t = 0; t < EACH; ++t)
                        s[t] = 0.0f;
                    for (int w = 0; w < width; w += TILE) {
                        fetch(qh + i0 * q_width + w, q_width, queries, width - w, a);
                        fetch(k + j0 * kv_width + w, kv_width, keys, width - w, b);
                        barrier(CLK_LOCAL_MEM_FENCE);
                        add_dots(a, b, width - w, s);
                        if (alike) square += square_of(a, b, width - w);
                        barrier(CLK_LOCAL_MEM_FENCE);
                    }
                    if (alike) {
                        if (lane < 2 * TILE) turn[lane] = direction(square, eps);
                        barrier(CLK_LOCAL_MEM_FENCE);
                    }
                    #pragma unroll
                    for (int t = 0; t < EACH; ++t) {
                        const int e = row + t * LANES / TILE, i = i0 + e, j = j0 + column;
                        float l = -INFINITY;
                        if (i < units && j < units) {
                            const float m = mask[i * units + j];
                            l = s[t] * open(m, i == j, scale) + shut(m, i == j, closed);
                            if (alike) {
                                const float before = h == part ? 0.0f : sums[i * units + j];
                                sums[i * units + j] = before + s[t] * (turn[e] * turn[TILE + column]);
                            }
                        }
                        s[t] = l;
                        tile[e * PITCH + column] = l;
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    __local float *eight = tile + lane / 4 * PITCH + lane % 4 * EACH;
                    float most = eight[0];
                    for (int c = 1; c < EACH; ++c)
                        most = fmax(most, eight[c]);
                    some[lane] = most;
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (lane < TILE) {
                        float high = top[lane];
                        for (int c = 0; c < 4; ++c)
                            high = fmax(high, some[4 * lane + c]);
                        const float from = high == -INFINITY ? 0.0f : high; // no key of this tile may be open
                        fade[lane] = exp(top[lane] - from);
                        shift[lane] = from;
                        top[lane] = high;
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    #pragma unroll
                    for (int t = 0; t < EACH; ++t) {
                        const int e = row + t * LANES / TILE;
                        tile[e * PITCH + column] = exp(s[t] - shift[e]);
                    }
                    barrier(CLK_LOCAL_MEM_FENCE);
                    float all = 0.0f;
                    for (int c = 0; c < EACH; ++c)
                        all += eight[c];
                    some[lane] = all;
                    barrier(CLK_LOCAL_MEM_FENCE);
                    if (lane < TILE) {
                        __local float *four = some + 4 * lane;
                        sum[lane] = sum[lane] * fade[lane] + ((four[0] + four[1]) + (four[2] + four[3]));
                        if (keys <= TILE && lane < queries)
                            lse[(r * units + i0 + lane) * heads + h] = top[lane] + log(sum[lane]);
                    }
                    for (int w = 0; w < width; w += TILE) {
                        fetch(k + j0 * kv_width + heads_kv * width + w, kv_width, keys, width - w, b);
                        barrier(CLK_LOCAL_MEM_FENCE);
                        blend(tile, PITCH, 1, b, keys, s);
                        #pragma unroll
                        for (int t = 0; t < EACH; ++t) {
                            const int e = row + t * LANES / TILE, at = w + column;
                            if (e >= queries || at >= width) continue;
                            __global float *to = out + (r * units + i0 + e) * wide + h * width + at;
                            const float value = j0 > 0 ? *to * fade[e] + s[t] : s[t];
                            *to = keys > TILE ? value : value / sum[e];
                        }
                        barrier(CLK_LOCAL_MEM_FENCE);
                    }
                }
            }
        }
}

// c from the sums of MaskAttentionComplex
// grid: units, units, rows
__kernel void MaskAttentionCosines(
    __global const float *sums,     // [rows, parts, units, units]
    __global float *cosines,        // [rows, units, units]
    const int parts, const int units, const int heads)
{
    const int cell = get_global_id(1) * units + get_global_id(0), cells = units * units, r = get_global_id(2);
    float sum = 0.0f;
    for (int part = 0; part < parts; ++part)
        sum += sums[(r * parts + part) * cells + cell];
    cosines[r * cells + cell] = sum / heads;
}

// A for those who want to see it
// grid: units, units*heads, rows
__kernel void MaskAttentionScoresComplex(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *mask,     // [rows, units, units]
    __global const float *lse,      // [rows, units, heads]
    __global float *scores,         // [rows, units, heads, units]
    const int units, const int heads, const int q_width, const int kv_width, const int dimension,
    const int heads_kv, const int k_column, const float scale, const float closed)
{
    const int j = get_global_id(0), h = (int)get_global_id(1) % heads, i = (int)get_global_id(1) / heads;
    const int at = get_global_id(2) * units + i, width = 2 * dimension;
    __global const float *k = kv + (at - i + j) * kv_width + k_column + h % heads_kv * width;
    const float m = mask[at * units + j];
    float s = 0.0f;
    for (int w = 0; w < width; ++w)
        s += q[at * q_width + h * width + w] * k[w];
    const float l = s * open(m, i == j, scale) + shut(m, i == j, closed);
    scores[(at * heads + h) * units + j] = exp(l - lse[at * heads + h]);
}

// --- CPU: 8 keys, or 8 floats of a vector, in the lanes; a work-item has rows, one after the other ------
// Each has a stretch of scratch: tiles [units, UP8(units)] in front, transposed vectors behind.

static float max8(const float8 v)
{
    const float4 two = fmax(v.lo, v.hi);
    return fmax(fmax(two.s0, two.s1), fmax(two.s2, two.s3));
}

// group: 1
// grid: items
__kernel BY8 void MaskAttentionComplexCPU(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *mask,     // [rows, units, units]
    __global float *scratch,        // [items, space]
    __global float *sums,           // [rows, parts, units, units]  one part: the cosines
    __global float *lse,            // [rows, units, heads]
    __global float *out,            // [rows, units, heads, dimension, 2]
    const int rows, const int units, const int heads, const int dimension, const int q_width,
    const int kv_width, const int items, const int space, const int heads_kv, const int k_column,
    const int alike, const float scale, const float closed, const float eps)
{
    const int width = 2 * dimension, wide = heads * width, columns = UP8(units), tile = units * columns;
    const int pitch = UP8(width);
    const float share = 1.0f / heads;
    __global float *factors = scratch + get_global_id(0) * space, *biases = factors + tile;
    __global float *p = biases + tile, *cs = p + tile, *kt = cs + tile, *qs = kt + width * columns;
    __global float *v = qs + units * pitch, *turns = v + units * pitch;
    for (int r = get_global_id(0); r < rows; r += items) {
        touch(q + r * units * q_width, units * q_width, factors);
        if (k_column == 0) touch(kv + r * units * kv_width, units * kv_width, factors);     // no part of q
        unpack_mask(mask + r * units * units, units, columns, scale, closed, factors, biases);
        for (int i = 0; i < tile; i += 8)
            store8(0.0f, cs + i, 8);
        for (int g = 0; g < heads_kv; ++g) {
            __global const float *k = kv + r * units * kv_width + k_column + g * width;
            transposed8(k, kv_width, units, width, kt);
            packed8(k + heads_kv * width, kv_width, units, width, v);
            if (alike) directions8(kt, columns, width, eps, turns);
            for (int h = g; h < heads; h += heads_kv) {
                packed8(q + r * units * q_width + h * width, q_width, units, width, qs);
                dots8(qs, pitch, units, kt, columns, width, p);
                for (int i = 0; i < units; ++i) {
                    __global float *line = p + i * columns;
                    if (alike) {
                        const float turn = share * direction8(qs + i * pitch, width, eps);
                        for (int j = 0; j < columns; j += 8)
                            put8(LOAD8(line + j) * (turn * LOAD8(turns + j)), 1, cs + i * columns + j, 8);
                    }
                    float8 high = -INFINITY, all = 0.0f;
                    for (int j = 0; j < columns; j += 8) {
                        const int at = i * columns + j;
                        const float8 l = LOAD8(line + j) * LOAD8(factors + at) + LOAD8(biases + at);
                        high = fmax(high, l);
                        store8(l, line + j, 8);
                    }
                    const float top = max8(high);
                    for (int j = 0; j < columns; j += 8) {
                        const float8 e = exp(LOAD8(line + j) - top);
                        all += e;
                        store8(e, line + j, 8);
                    }
                    const float sum = sum8(all), part = 1.0f / sum;
                    lse[(r * units + i) * heads + h] = top + log(sum);
                    for (int j = 0; j < columns; j += 8)
                        store8(LOAD8(line + j) * part, line + j, 8);
                }
                __global float *to = out + r * units * wide + h * width;
                blended8(p, columns, 1, v, pitch, units, width, 0, to, wide, units);
            }
        }
        for (int i = 0; alike && i < units; ++i)
            for (int j = 0; j < units; j += 8)
                store8(LOAD8(cs + i * columns + j), sums + (r * units + i) * units + j, units - j);
    }
}
