// sgd.cl: gradient descent with momentum over any flat piece of the parameter pool.
//
//   m = momentum * m + g       w = w - lr * (m + l2 * w + l1 * sign(w))
//
// Used by   ops/sgd.py           Checked against   reference/sgd.py
// NeuroNet  UpdateWeightsMomentum (errata E12: a NaN does not freeze a weight for ever)

// grid: n
__kernel void SgdStep(
    __global float *w,              // [n]
    __global float *g,              // [n]  set to zero after use
    __global float *m,              // [n]
    __global const float *hyper)    // [hyper]  [HYPER_BETA1] is the momentum
{
    const int i = get_global_id(0);
    if (hyper[HYPER_GO] != 0.0f) {
        const float mi = hyper[HYPER_BETA1] * m[i] + g[i];
        m[i] = mi;
        w[i] -= hyper[HYPER_LR] * (mi + hyper[HYPER_L2] * w[i] + hyper[HYPER_L1] * sign(w[i]));
    }
    g[i] = 0.0f;
}
