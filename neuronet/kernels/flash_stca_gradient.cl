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
// Overwrites parts and slopes, and dx. The GPU's form is in flash_stca_combine.cl, for which there is room.

// The rows that any question of a sample sees, from .x up to .y; both 0 if there is none
static int2 seen(__global const int *limits, const int queries, const int length)
{
    int2 all = (int2)(length, 0);
    for (int q = 0; q < queries; ++q) {
        const int first = max(limits[2 * q], 0), last = min(limits[2 * q + 1], length);
        if (first < last) all = (int2)(min(all.x, first), max(all.y, last));
    }
    return all.x < all.y ? all : (int2)(0, 0);
}

// Stretch s of those
static int2 stretch(const int2 all, const int splits, const int s)
{
    const int each = (all.y - all.x + splits - 1) / splits, begin = min(all.x + s * each, all.y);
    return (int2)(begin, min(begin + each, all.y));
}

// Age of the newest row that a question sees; 0 if it sees none
static float newest(__global const float *ages, const int first, const int last)
{
    return first < last ? fmin(ages[first], ages[last - 1]) : 0.0f;
}

// --- any device -------------------------------------------------------------------------------

static float along(__global const float *a, __global const float *b, const int d)
{
    float sum = 0.0f;
    for (int j = 0; j < d; ++j) sum += a[j] * b[j];
    return sum;
}

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
    for (int t = 0; t < length; ++t)
        if (t >= own.x && t < own.y || (t < all.x || t >= all.y) && t % splits == part)
            for (int j = 0; j < d; ++j)
                dx[(size_t)t * d + j] = beta == 0.0f ? 0.0f : beta * dx[(size_t)t * d + j];
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

// s[t] = u'x[t] and dp[t] = dout'x[t] for n <= 64 rows of x, lanes are rows of u; added where ``more``
static void scores8(const float8 *u, const float8 *dout, __global const float *x, const int pitch,
                    const int n, const int depth, const bool more, float8 *s, float8 *dp)
{
    for (int t = 0; t < n; t += 4) {
        __global const float *key[4];
        float8 sum[4], back[4];
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
            key[k] = x + (t + k < n ? t + k : t) * pitch;
            sum[k] = more ? s[t + k] : (float8)0.0f;
            back[k] = more ? dp[t + k] : (float8)0.0f;
        }
        for (int j = 0; j < depth; ++j) {
            const float8 v = u[j], w = dout[j];
            #pragma unroll
            for (int k = 0; k < 4; ++k) {
                sum[k] += key[k][j] * v;
                back[k] += key[k][j] * w;
            }
        }
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
            s[t + k] = sum[k];
            dp[t + k] = back[k];
        }
    }
}

// sums[r] += sum over n rows of p[t][r] x[t] for ``count`` <= 8 rows r
static void weigh8(const float8 *p, __global const float *x, const int pitch, const int n,
                   const int d, const int count, __global float *sums)
{
    const float *weight = (const float *)p;
    for (int r0 = 0; r0 < count; r0 += 4)
        for (int j = 0; j < d; j += 16) {
            const int left = d - j;
            __global float *to[4];
            float8 lo[4], hi[4];
            #pragma unroll
            for (int r = 0; r < 4; ++r) {
                to[r] = sums + (r0 + r < count ? r0 + r : r0) * d + j;
                lo[r] = load8(to[r], left);
                hi[r] = load8(to[r] + 8, left - 8);
            }
            for (int t = 0; t < n; ++t) {
                const float8 a = load8(x + t * pitch + j, left), b = load8(x + t * pitch + j + 8, left - 8);
                #pragma unroll
                for (int r = 0; r < 4; ++r) {
                    lo[r] += weight[8 * t + r0 + r] * a;
                    hi[r] += weight[8 * t + r0 + r] * b;
                }
            }
            for (int r = 0; r < min(4, count - r0); ++r) {
                store8(lo[r], to[r], left);
                store8(hi[r], to[r] + 8, left - 8);
            }
        }
}

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
    for (int t = part; t < length; t += splits)
        if (t < all.x || t >= all.y) fade8(dx + (size_t)t * d, d, beta);
    for (int b = own.x; b < own.y; b += keys) {
        const int stop = min(keys, own.y - b);
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
                scores8(asked, back, key + j0, d, stop, depth, j0 > 0, p, g);
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
            weigh8(g, key, d, stop, d, count, parts + (size_t)r0 * d);
            begun = true;
        }
        if (!begun) fade8(dkey, stop * d, beta);
    }
}
