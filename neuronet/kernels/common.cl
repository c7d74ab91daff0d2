// common.cl: helpers that every kernel file may use; compiled in front of it.

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

float sigmoid(float z)
{
    const float e = exp(-fabs(z));           // never overflows
    return (z >= 0.0f ? 1.0f : e) / (1.0f + e);
}

float activate(float z, int activation)
{
    switch (activation) {
        case ACT_TANH:     return tanh(z);
        case ACT_SIGMOID:  return sigmoid(z);
        case ACT_LRELU:    return z < 0.0f ? 0.01f * z : z;
        case ACT_SOFTPLUS: return fmax(z, 0.0f) + log1p(exp(-fabs(z)));
        case ACT_GELU:     return z * sigmoid(2.0f * GELU_SCALE * (z + GELU_CUBIC * z * z * z));
        case ACT_SILU:     return z * sigmoid(z);
        case ACT_RELU:     return z < 0.0f ? 0.0f : z;
        default:           return z;
    }
}

// Derivative of the activation. s is the output, or the pre-activation for GELU and SILU,
// whose output does not tell it.
float activation_gradient(float s, int activation)
{
    switch (activation) {
        case ACT_TANH:     return 1.0f - s * s;
        case ACT_SIGMOID:  return s * (1.0f - s);
        case ACT_LRELU:    return s < 0.0f ? 0.01f : 1.0f;
        case ACT_SOFTPLUS: return -expm1(-s);
        case ACT_GELU: {
            const float v = 2.0f * GELU_SCALE * (s + GELU_CUBIC * s * s * s);
            const float inner = 2.0f * GELU_SCALE * (1.0f + 3.0f * GELU_CUBIC * s * s);
            return sigmoid(v) * (1.0f + s * sigmoid(-v) * inner);   // 1 - tanh^2 would cancel
        }
        case ACT_SILU: {
            const float e = sigmoid(s);
            return e * (1.0f + s * (1.0f - e));
        }
        case ACT_RELU:     return s > 0.0f ? 1.0f : 0.0f;
        default:           return 1.0f;
    }
}

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

// One Adam step for one weight, the only one in the code: Kingma & Ba, arXiv:1412.6980.
// Contraction is off so that fused and split updates give the same bits.
void adam(__global float *w, __global float *m, __global float *v, float g, __global const float *hyper)
{
#pragma OPENCL FP_CONTRACT OFF
    if (hyper[HYPER_GO] == 0.0f) return;
    const float beta1 = hyper[HYPER_BETA1], beta2 = hyper[HYPER_BETA2];
    const float mi = beta1 * *m + (1.0f - beta1) * g;
    const float vi = beta2 * *v + (1.0f - beta2) * g * g;
    const float wi = *w;
    const float decay = hyper[HYPER_L2] * wi + hyper[HYPER_L1] * sign(wi);
    *m = mi;
    *v = vi;
    *w = wi - hyper[HYPER_LR] * (mi * hyper[HYPER_C1] / (sqrt(vi * hyper[HYPER_C2]) + hyper[HYPER_EPS]) + decay);
}
