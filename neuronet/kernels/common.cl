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
