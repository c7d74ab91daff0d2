// mask_attention_complex.cl: attention between the channels of a row under a mask, with complex vectors.
//
//   s[i,j] = Re <q[i], k[j]>            l[i,j] = scale s[i,j] m[i,j] + (m[i,j] == 0 ? closed : 0)
//   A[i,:] = softmax of l[i,:]          out[i] = sum_j A[i,j] v[j]
//
// for each head h, with the keys and values of h % heads_kv. Re <q, k> of ``dimension`` complex numbers is
// the dot product of their 2 * dimension floats: A is real and blind to a common turn of all phases.
// m[i,i] is 1 whatever the mask says. ``closed`` is -infinity (A is 0 there) or scale times the logarithm of
// 1e-10, as in CATCH's own code (A is not). A is not kept: lse[i] = log(sum_j exp(l[i,j])) gives it back.
//
// Used by   ops/mask_attention_complex.py      Checked against   reference/mask_attention_complex.py
// Source    Wu et al., CATCH, arXiv:2410.12261. NeuroNet MaskAttentionComplex, MaskAttentionGradientsComplex;
//           errata A1-A3, A6, C1-C16.
// Overwrites out, lse, dmask and, of dq and dkv, the columns of the queries and of the keys and values, which
//           may lie in one array: a row of kv has keys from k_column on, then values. scratch is the CPU's.

// --- any device: a work-group has a head of a row, or a row ---------------------------------------------

#define QUERIES 8       // of a block
#define KEYS 32

static float product(__global const float *a, __global const float *b, const int width)
{
    float sum = 0.0f;
    for (int w = 0; w < width; ++w)
        sum += a[w] * b[w];
    return sum;
}

// What a score is multiplied with, and what is added
static float open(const float m, const bool self, const float scale) { return self ? scale : scale * m; }
static float shut(const float m, const bool self, const float closed)
{
    return m == 0.0f && !self ? closed : 0.0f;
}

// group: 64, 1, 1
// grid: 64, heads, rows
__kernel void MaskAttentionComplex(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *mask,     // [rows, units, units]
    __global float *scratch,        // [items, space]
    __global float *lse,            // [rows, units, heads]
    __global float *out,            // [rows, units, heads, dimension, 2]
    const int units, const int heads, const int dimension, const int q_width, const int kv_width,
    const int heads_kv, const int k_column, const float scale, const float closed)
{
    __local float tile[QUERIES][KEYS + 1], top[QUERIES], sum[QUERIES], fade[QUERIES];
    const int lane = get_local_id(0), h = get_global_id(1), r = get_global_id(2), width = 2 * dimension;
    q += r * units * q_width + h * width;
    kv += r * units * kv_width + k_column + h % heads_kv * width;
    mask += r * units * units;
    lse += r * units * heads + h;
    out += (r * units * heads + h) * width;
    for (int i0 = 0; i0 < units; i0 += QUERIES) {
        if (lane < QUERIES) {
            top[lane] = -INFINITY;
            sum[lane] = 0.0f;
        }
        for (int j0 = 0; j0 < units; j0 += KEYS) {
            const int keys = min(KEYS, units - j0);
            for (int e = lane; e < QUERIES * KEYS; e += 64) {
                const int i = i0 + e / KEYS, j = j0 + e % KEYS;
                float l = -INFINITY;
                if (i < units && j < units) {
                    const float s = product(q + i * q_width, kv + j * kv_width, width);
                    const float m = mask[i * units + j];
                    l = s * open(m, i == j, scale) + shut(m, i == j, closed);
                }
                tile[e / KEYS][e % KEYS] = l;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            if (lane < QUERIES) {
                float high = top[lane], all = 0.0f;
                for (int c = 0; c < keys; ++c)
                    high = fmax(high, tile[lane][c]);
                const float shift = high == -INFINITY ? 0.0f : high;    // no key of this block may be open
                fade[lane] = exp(top[lane] - shift);
                for (int c = 0; c < keys; ++c) {
                    tile[lane][c] = exp(tile[lane][c] - shift);
                    all += tile[lane][c];
                }
                sum[lane] = sum[lane] * fade[lane] + all;
                top[lane] = high;
                if (j0 + KEYS >= units && i0 + lane < units) lse[(i0 + lane) * heads] = high + log(sum[lane]);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int e = lane; e < QUERIES * width; e += 64) {
                const int a = e / width, w = e % width;
                if (i0 + a >= units) continue;
                __global const float *v = kv + j0 * kv_width + heads_kv * width + w;
                float value = j0 > 0 ? out[(i0 + a) * heads * width + w] * fade[a] : 0.0f;
                for (int c = 0; c < keys; ++c)
                    value += tile[a][c] * v[c * kv_width];
                out[(i0 + a) * heads * width + w] = j0 + KEYS < units ? value : value / sum[a];
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
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
    const float s = product(q + at * q_width + h * width, k, width), m = mask[at * units + j];
    const float l = s * open(m, i == j, scale) + shut(m, i == j, closed);
    scores[(at * heads + h) * units + j] = exp(l - lse[at * heads + h]);
}

// With dA[i,j] = Re <dout[i], v[j]>, dl = A (dA - Re <dout[i], out[i]>) and ds = scale m dl:
//   dq[i] = sum_j ds[i,j] k[j]     dk[j] = sum_i ds[i,j] q[i]     dv[j] = sum_i A[i,j] dout[i]
//   dmask[i,j] = scale times the sum of dl[i,j] s[i,j] over the heads, 0 for i = j
// One work-group has a row: heads that share keys follow each other, so that a sum has one writer.
// group: 128, 1
// grid: 128, rows
__kernel void MaskAttentionGradientsComplex(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *mask,     // [rows, units, units]
    __global const float *lse,      // [rows, units, heads]
    __global const float *out,      // [rows, units, heads, dimension, 2]
    __global const float *dout,     // [rows, units, heads, dimension, 2]
    __global float *scratch,        // [items, space]
    __global float *dq,             // [rows, units, q_width]
    __global float *dkv,            // [rows, units, kv_width]
    __global float *dmask,          // [rows, units, units]
    const int units, const int heads, const int dimension, const int q_width, const int kv_width,
    const int heads_kv, const int k_column, const float scale, const float closed)
{
    __local float ds[QUERIES][KEYS + 1], p[QUERIES][KEYS + 1];
    const int lane = get_local_id(0), r = get_global_id(1), width = 2 * dimension, wide = heads * width;
    const int to_v = heads_kv * width;
    mask += r * units * units;
    dmask += r * units * units;
    for (int n = 0; n < heads; ++n) {
        // heads in the order 0, heads_kv, 2 heads_kv .. 1, heads_kv + 1 ..
        const int full = heads / heads_kv, left = heads % heads_kv, bent = left * (full + 1);
        const int g = n < bent ? n / (full + 1) : left + (n - bent) / full;
        const int turn = n < bent ? n % (full + 1) : (n - bent) % full, h = g + turn * heads_kv;
        __global const float *qh = q + r * units * q_width + h * width;
        __global const float *k = kv + r * units * kv_width + k_column + g * width;
        __global const float *o = out + r * units * wide + h * width;
        __global const float *go = dout + r * units * wide + h * width;
        __global float *gq = dq + r * units * q_width + h * width;
        __global float *gk = dkv + r * units * kv_width + k_column + g * width;
        for (int i0 = 0; i0 < units; i0 += QUERIES) {
            for (int j0 = 0; j0 < units; j0 += KEYS) {
                const int keys = min(KEYS, units - j0), queries = min(QUERIES, units - i0);
                for (int e = lane; e < QUERIES * KEYS; e += 128) {
                    const int i = i0 + e / KEYS, j = j0 + e % KEYS;
                    if (i >= units || j >= units) continue;
                    __global const float *gi = go + i * wide, *oi = o + i * wide;
                    __global const float *vj = k + j * kv_width + to_v;
                    float lead = 0.0f;                                      // dA - Re <dout, out>
                    for (int w = 0; w < width; ++w)
                        lead += gi[w] * (vj[w] - oi[w]);
                    const float s = product(qh + i * q_width, k + j * kv_width, width);
                    const float m = mask[i * units + j], factor = open(m, i == j, scale);
                    const float l = s * factor + shut(m, i == j, closed);
                    const float a = exp(l - lse[(r * units + i) * heads + h]), dl = a * lead;
                    p[e / KEYS][e % KEYS] = a;
                    ds[e / KEYS][e % KEYS] = dl * factor;
                    const float before = n > 0 ? dmask[i * units + j] : 0.0f;
                    dmask[i * units + j] = i == j ? 0.0f : before + scale * dl * s;
                }
                barrier(CLK_LOCAL_MEM_FENCE);
                for (int e = lane; e < queries * width; e += 128) {
                    const int a = e / width, w = e % width;
                    __global float *to = gq + (i0 + a) * q_width + w;
                    float sum = j0 > 0 ? *to : 0.0f;
                    for (int c = 0; c < keys; ++c)
                        sum += ds[a][c] * k[(j0 + c) * kv_width + w];
                    *to = sum;
                }
                for (int e = lane; e < keys * width; e += 128) {
                    const int c = e / width, w = e % width;
                    __global float *to = gk + (j0 + c) * kv_width + w;
                    const bool more = turn > 0 || i0 > 0;
                    float dk = more ? to[0] : 0.0f, dv = more ? to[to_v] : 0.0f;
                    for (int a = 0; a < queries; ++a) {
                        dk += ds[a][c] * qh[(i0 + a) * q_width + w];
                        dv += p[a][c] * go[(i0 + a) * wide + w];
                    }
                    to[0] = dk;
                    to[to_v] = dv;
                }
                barrier(CLK_LOCAL_MEM_FENCE);
            }
        }
    }
}

// --- CPU: 8 keys, or 8 floats of a vector, in the lanes; a work-item has rows, one after the other ------
// Each has a stretch of scratch: tiles [units, UP8(units)] in front, transposed vectors behind.

// factors and biases: what scores are multiplied with and what is added, -infinity behind the last key
static void unpack_mask(__global const float *mask, const int units, const int columns, const float scale,
                        const float closed, __global float *factors, __global float *biases)
{
    for (int i = 0; i < units; ++i)
        for (int j = 0; j < columns; ++j) {
            const float m = j < units ? mask[i * units + j] : 0.0f;
            factors[i * columns + j] = j < units ? open(m, i == j, scale) : 0.0f;
            biases[i * columns + j] = j < units ? shut(m, i == j, closed) : -INFINITY;
        }
}

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
    __global float *lse,            // [rows, units, heads]
    __global float *out,            // [rows, units, heads, dimension, 2]
    const int rows, const int units, const int heads, const int dimension, const int q_width,
    const int kv_width, const int items, const int space, const int heads_kv, const int k_column,
    const float scale, const float closed)
{
    const int width = 2 * dimension, wide = heads * width, columns = UP8(units), tile = units * columns;
    const int pitch = UP8(width);
    __global float *factors = scratch + get_global_id(0) * space, *biases = factors + tile;
    __global float *p = biases + tile, *kt = p + tile, *qs = kt + width * columns, *v = qs + units * pitch;
    for (int r = get_global_id(0); r < rows; r += items) {
        unpack_mask(mask + r * units * units, units, columns, scale, closed, factors, biases);
        for (int g = 0; g < heads_kv; ++g) {
            __global const float *k = kv + r * units * kv_width + k_column + g * width;
            transposed8(k, kv_width, units, width, kt);
            packed8(k + heads_kv * width, kv_width, units, width, v);
            for (int h = g; h < heads; h += heads_kv) {
                packed8(q + r * units * q_width + h * width, q_width, units, width, qs);
                dots8(qs, pitch, units, kt, columns, width, p);
                for (int i = 0; i < units; ++i) {
                    __global float *line = p + i * columns;
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
    }
}

// group: 1
// grid: items
__kernel BY8 void MaskAttentionGradientsComplexCPU(
    __global const float *q,        // [rows, units, q_width]
    __global const float *kv,       // [rows, units, kv_width]
    __global const float *mask,     // [rows, units, units]
    __global const float *lse,      // [rows, units, heads]
    __global const float *out,      // [rows, units, heads, dimension, 2]
    __global const float *dout,     // [rows, units, heads, dimension, 2]
    __global float *scratch,        // [items, space]
    __global float *dq,             // [rows, units, q_width]
    __global float *dkv,            // [rows, units, kv_width]
    __global float *dmask,          // [rows, units, units]
    const int rows, const int units, const int heads, const int dimension, const int q_width,
    const int kv_width, const int items, const int space, const int heads_kv, const int k_column,
    const float scale, const float closed)
{
    const int width = 2 * dimension, wide = heads * width, columns = UP8(units), tile = units * columns;
    const int pitch = UP8(width);
    __global float *factors = scratch + get_global_id(0) * space, *biases = factors + tile;
    __global float *ds = biases + tile, *p = ds + tile, *dm = p + tile, *kt = dm + tile;
    __global float *vt = kt + width * columns, *k = vt + width * columns, *qs = k + units * pitch;
    __global float *go = qs + units * pitch;
    for (int r = get_global_id(0); r < rows; r += items) {
        unpack_mask(mask + r * units * units, units, columns, scale, closed, factors, biases);
        for (int i = 0; i < tile; i += 8)
            store8(0.0f, dm + i, 8);
        for (int g = 0; g < heads_kv; ++g) {
            __global const float *key = kv + r * units * kv_width + k_column + g * width;
            __global float *dk = dkv + r * units * kv_width + k_column + g * width;
            packed8(key, kv_width, units, width, k);
            transposed8(k, pitch, units, width, kt);
            transposed8(key + heads_kv * width, kv_width, units, width, vt);
            for (int h = g; h < heads; h += heads_kv) {
                __global const float *o = out + r * units * wide + h * width;
                packed8(q + r * units * q_width + h * width, q_width, units, width, qs);
                packed8(dout + r * units * wide + h * width, wide, units, width, go);
                dots8(qs, pitch, units, kt, columns, width, ds);
                dots8(go, pitch, units, vt, columns, width, p);
                for (int i = 0; i < units; ++i) {
                    const float sums = lse[(r * units + i) * heads + h];
                    float8 along = 0.0f;
                    for (int w = 0; w < width; w += 8)
                        along += LOAD8(go + i * pitch + w) * load8(o + i * wide + w, width - w);
                    const float mean = sum8(along);
                    for (int j = i * columns; j < (i + 1) * columns; j += 8) {
                        const float8 s = LOAD8(ds + j), factor = LOAD8(factors + j);
                        const float8 a = exp(s * factor + LOAD8(biases + j) - sums);
                        const float8 dl = a * (LOAD8(p + j) - mean);
                        store8(a, p + j, 8);
                        store8(dl * factor, ds + j, 8);
                        store8(LOAD8(dm + j) + scale * dl * s, dm + j, 8);
                    }
                }
                blended8(ds, columns, 1, k, pitch, units, width, 0, dq + r * units * q_width + h * width,
                         q_width, units);
                blended8(ds, 1, columns, qs, pitch, units, width, h > g, dk, kv_width, units);
                blended8(p, 1, columns, go, pitch, units, width, h > g, dk + heads_kv * width, kv_width,
                         units);
            }
        }
        for (int i = 0; i < units; ++i)
            for (int j = 0; j < units; ++j)
                dmask[(r * units + i) * units + j] = i == j ? 0.0f : dm[i * columns + j];
    }
}
