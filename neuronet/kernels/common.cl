// common.cl: helpers that every kernel file may use; compiled in front of it.
//
// What works on one value has a partner for 8, with an 8 behind its name. Their formula is written once, as
// the body of both functions: T is float or float8.

// --- 8 neighbours ------------------------------------------------------------------------
// Of which only the first `count` exist, at the end of a row. CPUs compute 8 at the price of one.

// Says of a kernel that its work-items hold 8 values: Intel's compiler would pack 16 of them into one.
#define BY8 __attribute__((vec_type_hint(float8)))

typedef float8 __attribute__((aligned(4))) float8_any;   // at any float; vload8 is slow in PoCL 3.0

#define LOAD8(p) (*(const __global float8_any *)(p))

float8 load8(const __global float *p, int count)            // zeros behind the count-th
{
    if (count >= 8) return LOAD8(p);
    float8 v = 0.0f;
    if (count > 0) v.s0 = p[0];
    if (count > 1) v.s1 = p[1];
    if (count > 2) v.s2 = p[2];
    if (count > 3) v.s3 = p[3];
    if (count > 4) v.s4 = p[4];
    if (count > 5) v.s5 = p[5];
    if (count > 6) v.s6 = p[6];
    return v;
}

float8 gather8(const __global float *p, int stride, int count)
{
    float8 v = 0.0f;
    if (count > 0) v.s0 = p[0];
    if (count > 1) v.s1 = p[stride];
    if (count > 2) v.s2 = p[2 * stride];
    if (count > 3) v.s3 = p[3 * stride];
    if (count > 4) v.s4 = p[4 * stride];
    if (count > 5) v.s5 = p[5 * stride];
    if (count > 6) v.s6 = p[6 * stride];
    if (count > 7) v.s7 = p[7 * stride];
    return v;
}

void store8(float8 v, __global float *p, int count)
{
    if (count >= 8) { *(__global float8_any *)p = v; return; }
    if (count > 0) p[0] = v.s0;
    if (count > 1) p[1] = v.s1;
    if (count > 2) p[2] = v.s2;
    if (count > 3) p[3] = v.s3;
    if (count > 4) p[4] = v.s4;
    if (count > 5) p[5] = v.s5;
    if (count > 6) p[6] = v.s6;
}

float sum8(float8 v)
{
    const float4 two = v.lo + v.hi;
    return (two.s0 + two.s2) + (two.s1 + two.s3);
}

// --- 4 neighbours, which a GPU reads and writes at once ------------------------------------------
// The first `count` of them are there. `whole`: all or none, p being an array's start + a multiple of 4.

float4 line4(const __global float *p, int count, int whole)    // zeros behind the count-th
{
    if (whole) return count > 0 ? *(const __global float4 *)p : (float4)0.0f;
    return (float4)(count > 0 ? p[0] : 0.0f, count > 1 ? p[1] : 0.0f, count > 2 ? p[2] : 0.0f, count > 3 ? p[3] : 0.0f);
}

void put_line4(float4 v, __global float *p, int count, int whole)
{
    if (whole) {
        if (count > 0) *(__global float4 *)p = v;
        return;
    }
    if (count > 0) p[0] = v.s0;
    if (count > 1) p[1] = v.s1;
    if (count > 2) p[2] = v.s2;
    if (count > 3) p[3] = v.s3;
}

#define MOST_TOUCHED (1 << 16)  // floats that stay in a second-level cache

// Reads a line after the other what is read, and written, in pieces far apart later: CPUs fetch lines ahead
void touch(const __global float *x, int count, __global float *sink)
{
    if (count > MOST_TOUCHED) return;
    float8 sum = 0.0f;
    for (int i = 0; i + 16 <= count; i += 16)
        sum += LOAD8(x + i);
    store8(sum, sink, 8);                       // so that no compiler leaves it out
}

// --- activations, numbered as in neuronet/activations.py ---------------------------------
#define ACT_NONE     -1
#define ACT_TANH      0
#define ACT_SIGMOID   1
#define ACT_LRELU     2
#define ACT_SOFTPLUS  3
#define ACT_GELU      4
#define ACT_SILU      5
#define ACT_RELU      6

#define GELU_SCALE 0.7978845608028654f   // sqrt(2/pi); Hendrycks & Gimpel, arXiv:1606.08415, eq. 2
#define GELU_CUBIC 0.044715f

#define SIGMOID_BODY(T)                                                                      \
    const T e = exp(-fabs(z));              /* never overflows */                            \
    return (z >= 0.0f ? (T)1.0f : e) / (1.0f + e);

#define ACTIVATE_BODY(T, sigmoid)                                                            \
    switch (activation) {                                                                    \
        case ACT_TANH:     return tanh(z);                                                   \
        case ACT_SIGMOID:  return sigmoid(z);                                                \
        case ACT_LRELU:    return z < 0.0f ? 0.01f * z : z;                                  \
        case ACT_SOFTPLUS: return fmax(z, 0.0f) + log1p(exp(-fabs(z)));                      \
        case ACT_GELU:     return z * sigmoid(2.0f * GELU_SCALE * (z + GELU_CUBIC * z * z * z)); \
        case ACT_SILU:     return z * sigmoid(z);                                            \
        case ACT_RELU:     return z < 0.0f ? (T)0.0f : z;                                    \
        default:           return z;                                                         \
    }

#define ACTIVATION_GRADIENT_BODY(T, sigmoid)                                                 \
    switch (activation) {                                                                    \
        case ACT_TANH:     return 1.0f - s * s;                                              \
        case ACT_SIGMOID:  return s * (1.0f - s);                                            \
        case ACT_LRELU:    return s < 0.0f ? (T)0.01f : (T)1.0f;                             \
        case ACT_SOFTPLUS: return -expm1(-s);                                                \
        case ACT_GELU: {                    /* 1 - tanh^2 would cancel */                    \
            const T v = 2.0f * GELU_SCALE * (s + GELU_CUBIC * s * s * s);                    \
            const T inner = 2.0f * GELU_SCALE * (1.0f + 3.0f * GELU_CUBIC * s * s);          \
            return sigmoid(v) * (1.0f + s * sigmoid(-v) * inner);                            \
        }                                                                                    \
        case ACT_SILU: {                                                                     \
            const T e = sigmoid(s);                                                          \
            return e * (1.0f + s * (1.0f - e));                                              \
        }                                                                                    \
        case ACT_RELU:     return s > 0.0f ? (T)1.0f : (T)0.0f;                              \
        default:           return 1.0f;                                                      \
    }

float sigmoid(float z)    { SIGMOID_BODY(float) }
float8 sigmoid8(float8 z) { SIGMOID_BODY(float8) }

float activate(float z, int activation)    { ACTIVATE_BODY(float, sigmoid) }
float8 activate8(float8 z, int activation) { ACTIVATE_BODY(float8, sigmoid8) }

// Derivative of the activation. s is the output, or the pre-activation for GELU and SILU,
// whose output does not tell it.
float activation_gradient(float s, int activation)    { ACTIVATION_GRADIENT_BODY(float, sigmoid) }
float8 activation_gradient8(float8 s, int activation) { ACTIVATION_GRADIENT_BODY(float8, sigmoid8) }

// --- Adam --------------------------------------------------------------------------------
// hyper: what an update needs at this step, written by NextStep (kernels/step.cl, optim/).
#define HYPER_LR     0
#define HYPER_BETA1  1
#define HYPER_BETA2  2
#define HYPER_EPS    3
#define HYPER_C1     4   // 1 / (1 - beta1^t)
#define HYPER_C2     5   // 1 / (1 - beta2^t)
#define HYPER_L2     6   // decoupled weight decay
#define HYPER_L1     7   // NeuroNet's sign(w) decay
#define HYPER_GO     8   // 0 once a loss was not finite: weights then stay as they were

// New w, m and v for gradient g, the only Adam in the code: Kingma & Ba, arXiv:1412.6980.
#define ADAM(T, w, m, v, g)                                                                  \
    m = hyper[HYPER_BETA1] * m + (1.0f - hyper[HYPER_BETA1]) * g;                            \
    v = hyper[HYPER_BETA2] * v + (1.0f - hyper[HYPER_BETA2]) * g * g;                        \
    const T decay = hyper[HYPER_L2] * w + hyper[HYPER_L1] * sign(w);                         \
    const T scale = sqrt(v * hyper[HYPER_C2]) + hyper[HYPER_EPS];                            \
    w = w - hyper[HYPER_LR] * (m * hyper[HYPER_C1] / scale + decay);

// One Adam step for one weight. Contraction is off so that fused and split updates give the same bits.
void adam(__global float *w, __global float *m, __global float *v, float g, __global const float *hyper)
{
#pragma OPENCL FP_CONTRACT OFF
    if (hyper[HYPER_GO] == 0.0f) return;
    float wi = *w, mi = *m, vi = *v;
    ADAM(float, wi, mi, vi, g)
    *w = wi;
    *m = mi;
    *v = vi;
}

// The same for the first `count` of 8 neighbours
void adam8(__global float *w, __global float *m, __global float *v, float8 g, int count,
           __global const float *hyper)
{
#pragma OPENCL FP_CONTRACT OFF
    if (hyper[HYPER_GO] == 0.0f) return;
    float8 wi = load8(w, count), mi = load8(m, count), vi = load8(v, count);
    ADAM(float8, wi, mi, vi, g)
    store8(wi, w, count);
    store8(mi, m, count);
    store8(vi, v, count);
}

// --- random numbers ----------------------------------------------------------------------

// Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
uint4 philox(uint x0, uint x1, uint x2, uint x3, uint k0, uint k1)
{
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const ulong p0 = 0xD2511F53ul * x0, p1 = 0xCD9E8D57ul * x2;
        x0 = (uint)(p1 >> 32) ^ x1 ^ k0;
        x2 = (uint)(p0 >> 32) ^ x3 ^ k1;
        x1 = (uint)p1;
        x3 = (uint)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (uint4)(x0, x1, x2, x3);
}

// --- products of small matrices, 8 columns in the lanes ------------------------------------
// Of rows of ``width`` values, ``pitch`` apart. Tiles have rows of ``columns`` values, a multiple of 8.

#define UP8(n) (((n) + 7) & ~7)

// Of single values: Oclgrind crashes on (float8)(a.lo, b.lo).
#define LOW8(a, b)   (float8)(a.s0, b.s0, a.s1, b.s1, a.s4, b.s4, a.s5, b.s5)
#define HIGH8(a, b)  (float8)(a.s2, b.s2, a.s3, b.s3, a.s6, b.s6, a.s7, b.s7)
#define FRONT8(a, b) (float8)(a.s0, a.s1, b.s0, b.s1, a.s4, a.s5, b.s4, b.s5)
#define BACK8(a, b)  (float8)(a.s2, a.s3, b.s2, b.s3, a.s6, a.s7, b.s6, b.s7)
#define LEFT8(a, b)  (float8)(a.s0, a.s1, a.s2, a.s3, b.s0, b.s1, b.s2, b.s3)
#define RIGHT8(a, b) (float8)(a.s4, a.s5, a.s6, a.s7, b.s4, b.s5, b.s6, b.s7)

// p[i] = v[i], or p[i] += v[i] where ``more``
void put8(float8 v, int more, __global float *p, int count)
{
    store8(more ? load8(p, count) + v : v, p, count);
}

// to [rows, UP8(width)] = the rows side by side: rows far apart get into each other's way in a cache
void packed8(const __global float *from, int pitch, int rows, int width, __global float *to)
{
    for (int r = 0; r < rows; ++r, from += pitch)
        for (int w = 0; w < width; w += 8, to += 8)
            store8(load8(from + w, width - w), to, 8);
}

// to[w][c] = row c of ``count``, zeros behind them: to [width, UP8(count)]
void transposed8(const __global float *from, int pitch, int count, int width, __global float *to)
{
    const int columns = UP8(count);
    for (int c = 0; c < count; c += 8, from += 8 * pitch)
        for (int w = 0; w < width; w += 8) {
            const int n = width - w;
            const __global float *p = from + w;
            const float8 none = 0.0f;
            const float8 r0 = load8(p, n);
            const float8 r1 = c + 1 < count ? load8(p + pitch, n) : none;
            const float8 r2 = c + 2 < count ? load8(p + 2 * pitch, n) : none;
            const float8 r3 = c + 3 < count ? load8(p + 3 * pitch, n) : none;
            const float8 r4 = c + 4 < count ? load8(p + 4 * pitch, n) : none;
            const float8 r5 = c + 5 < count ? load8(p + 5 * pitch, n) : none;
            const float8 r6 = c + 6 < count ? load8(p + 6 * pitch, n) : none;
            const float8 r7 = c + 7 < count ? load8(p + 7 * pitch, n) : none;
            const float8 a0 = LOW8(r0, r1), a1 = HIGH8(r0, r1), a2 = LOW8(r2, r3), a3 = HIGH8(r2, r3);
            const float8 a4 = LOW8(r4, r5), a5 = HIGH8(r4, r5), a6 = LOW8(r6, r7), a7 = HIGH8(r6, r7);
            const float8 b0 = FRONT8(a0, a2), b1 = BACK8(a0, a2), b2 = FRONT8(a1, a3), b3 = BACK8(a1, a3);
            const float8 b4 = FRONT8(a4, a6), b5 = BACK8(a4, a6), b6 = FRONT8(a5, a7), b7 = BACK8(a5, a7);
            __global float *t = to + w * columns + c;
            store8(LEFT8(b0, b4), t, 8);
            if (n > 1) store8(LEFT8(b1, b5), t + columns, 8);
            if (n > 2) store8(LEFT8(b2, b6), t + 2 * columns, 8);
            if (n > 3) store8(LEFT8(b3, b7), t + 3 * columns, 8);
            if (n > 4) store8(RIGHT8(b0, b4), t + 4 * columns, 8);
            if (n > 5) store8(RIGHT8(b1, b5), t + 5 * columns, 8);
            if (n > 6) store8(RIGHT8(b2, b6), t + 6 * columns, 8);
            if (n > 7) store8(RIGHT8(b3, b7), t + 7 * columns, 8);
        }
}

// tile[r][c] = row r of a · column c of bt [width, columns], for ``rows`` rows
void dots8(const __global float *a, int pitch, int rows, const __global float *bt, int columns, int width,
           __global float *tile)
{
    for (int r = 0; r < rows; r += 4) {
        const __global float *a0 = a + r * pitch, *a1 = a + min(r + 1, rows - 1) * pitch;
        const __global float *a2 = a + min(r + 2, rows - 1) * pitch, *a3 = a + min(r + 3, rows - 1) * pitch;
        __global float *t = tile + r * columns;
        int c = 0;
        for (; c + 8 < columns && c + 24 != columns; c += 16) {
            float8 s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f, t0 = 0.0f, t1 = 0.0f, t2 = 0.0f, t3 = 0.0f;
            for (int w = 0; w < width; ++w) {
                const float8 x = LOAD8(bt + w * columns + c), y = LOAD8(bt + w * columns + c + 8);
                s0 += a0[w] * x; t0 += a0[w] * y;
                s1 += a1[w] * x; t1 += a1[w] * y;
                s2 += a2[w] * x; t2 += a2[w] * y;
                s3 += a3[w] * x; t3 += a3[w] * y;
            }
            store8(s0, t + c, 8);
            store8(t0, t + c + 8, 8);
            if (r + 1 < rows) { store8(s1, t + columns + c, 8); store8(t1, t + columns + c + 8, 8); }
            if (r + 2 < rows) { store8(s2, t + 2 * columns + c, 8); store8(t2, t + 2 * columns + c + 8, 8); }
            if (r + 3 < rows) { store8(s3, t + 3 * columns + c, 8); store8(t3, t + 3 * columns + c + 8, 8); }
        }
        if (c + 24 == columns) {                        // three at once, not two and one
            float8 s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f, t0 = 0.0f, t1 = 0.0f, t2 = 0.0f, t3 = 0.0f;
            float8 u0 = 0.0f, u1 = 0.0f, u2 = 0.0f, u3 = 0.0f;
            for (int w = 0; w < width; ++w) {
                const __global float *p = bt + w * columns + c;
                const float8 x = LOAD8(p), y = LOAD8(p + 8), z = LOAD8(p + 16);
                s0 += a0[w] * x; t0 += a0[w] * y; u0 += a0[w] * z;
                s1 += a1[w] * x; t1 += a1[w] * y; u1 += a1[w] * z;
                s2 += a2[w] * x; t2 += a2[w] * y; u2 += a2[w] * z;
                s3 += a3[w] * x; t3 += a3[w] * y; u3 += a3[w] * z;
            }
            t += c;
            store8(s0, t, 8); store8(t0, t + 8, 8); store8(u0, t + 16, 8);
            t += columns;
            if (r + 1 < rows) { store8(s1, t, 8); store8(t1, t + 8, 8); store8(u1, t + 16, 8); }
            t += columns;
            if (r + 2 < rows) { store8(s2, t, 8); store8(t2, t + 8, 8); store8(u2, t + 16, 8); }
            t += columns;
            if (r + 3 < rows) { store8(s3, t, 8); store8(t3, t + 8, 8); store8(u3, t + 16, 8); }
        } else if (c < columns) {
            float8 s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
            for (int w = 0; w < width; ++w) {
                const float8 x = LOAD8(bt + w * columns + c);
                s0 += a0[w] * x;
                s1 += a1[w] * x;
                s2 += a2[w] * x;
                s3 += a3[w] * x;
            }
            store8(s0, t + c, 8);
            if (r + 1 < rows) store8(s1, t + columns + c, 8);
            if (r + 2 < rows) store8(s2, t + 2 * columns + c, 8);
            if (r + 3 < rows) store8(s3, t + 3 * columns + c, 8);
        }
    }
}

// Row r of out = sum over c < count of t[r * across + c * along] times row c of b, added where ``more``
void blended8(const __global float *t, int across, int along, const __global float *b, int pitch, int count,
              int width, int more, __global float *out, int out_pitch, int rows)
{
    for (int r = 0; r < rows; r += 4) {
        const __global float *t0 = t + r * across, *t1 = t + min(r + 1, rows - 1) * across;
        const __global float *t2 = t + min(r + 2, rows - 1) * across;
        const __global float *t3 = t + min(r + 3, rows - 1) * across;
        __global float *o = out + r * out_pitch;
        int w = 0;
        for (; w + 16 <= width; w += 16) {
            float8 s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f, u0 = 0.0f, u1 = 0.0f, u2 = 0.0f, u3 = 0.0f;
            const __global float *p = b + w;
            for (int c = 0, i = 0; c < count; ++c, p += pitch, i += along) {
                const float8 x = LOAD8(p), y = LOAD8(p + 8);
                s0 += t0[i] * x; u0 += t0[i] * y;
                s1 += t1[i] * x; u1 += t1[i] * y;
                s2 += t2[i] * x; u2 += t2[i] * y;
                s3 += t3[i] * x; u3 += t3[i] * y;
            }
            put8(s0, more, o + w, 8);
            put8(u0, more, o + w + 8, 8);
            if (r + 1 < rows) {
                put8(s1, more, o + out_pitch + w, 8);
                put8(u1, more, o + out_pitch + w + 8, 8);
            }
            if (r + 2 < rows) {
                put8(s2, more, o + 2 * out_pitch + w, 8);
                put8(u2, more, o + 2 * out_pitch + w + 8, 8);
            }
            if (r + 3 < rows) {
                put8(s3, more, o + 3 * out_pitch + w, 8);
                put8(u3, more, o + 3 * out_pitch + w + 8, 8);
            }
        }
        for (; w < width; w += 8) {
            const int n = width - w;
            float8 s0 = 0.0f, s1 = 0.0f, s2 = 0.0f, s3 = 0.0f;
            const __global float *p = b + w;
            for (int c = 0, i = 0; c < count; ++c, p += pitch, i += along) {
                const float8 x = load8(p, n);
                s0 += t0[i] * x;
                s1 += t1[i] * x;
                s2 += t2[i] * x;
                s3 += t3[i] * x;
            }
            put8(s0, more, o + w, n);
            if (r + 1 < rows) put8(s1, more, o + out_pitch + w, n);
            if (r + 2 < rows) put8(s2, more, o + 2 * out_pitch + w, n);
            if (r + 3 < rows) put8(s3, more, o + 3 * out_pitch + w, n);
        }
    }
}
